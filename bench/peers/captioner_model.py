"""The captioner in PyTorch: a ViT encoder and a GPT-2 decoder with cross-attention, from Hugging Face."""

from dataclasses import dataclass

import torch.nn.functional as F
from transformers import (
    GPT2Config,
    VisionEncoderDecoderConfig,
    VisionEncoderDecoderModel,
    ViTConfig,
)

PAD, START, END = 0, 1, 2
IGNORED = -100


@dataclass(frozen=True)
class Preset:
    """Sizes of the model and of a batch; both stacks have the same width, depth and heads."""

    image: int
    patch: int
    width: int
    layers: int
    heads: int
    caption: int
    batch: int
    positions: int
    vocabulary: int = 1024


PRESETS = {
    "tiny": Preset(32, 8, 64, 2, 4, caption=32, batch=8, positions=32),
    "small": Preset(64, 8, 256, 4, 4, caption=64, batch=16, positions=64),
    "base": Preset(224, 16, 768, 12, 12, caption=256, batch=64, positions=1024),
}


def captioning_loss(logits, labels, vocab_size, **_):
    """Mean cross-entropy in f32 over the labels that count; they are already the next tokens."""
    return F.cross_entropy(
        logits.float().view(-1, vocab_size), labels.reshape(-1), ignore_index=IGNORED
    )


def build_captioner(preset, dropout, initializer_range=0.02):
    """A captioner with fresh weights in training mode; dropout applies to the decoder."""
    encoder = ViTConfig(
        image_size=preset.image,
        patch_size=preset.patch,
        hidden_size=preset.width,
        num_hidden_layers=preset.layers,
        num_attention_heads=preset.heads,
        intermediate_size=4 * preset.width,
        initializer_range=initializer_range,
    )
    decoder = GPT2Config(
        vocab_size=preset.vocabulary,
        n_positions=preset.positions,
        n_embd=preset.width,
        n_layer=preset.layers,
        n_head=preset.heads,
        resid_pdrop=dropout,
        embd_pdrop=dropout,
        attn_pdrop=dropout,
        initializer_range=initializer_range,
        use_cache=False,
        bos_token_id=START,
        eos_token_id=END,
        pad_token_id=None,
    )
    config = VisionEncoderDecoderConfig.from_encoder_decoder_configs(encoder, decoder)
    config.decoder.use_cache = False
    config.decoder_start_token_id = START
    config.pad_token_id = PAD
    config.eos_token_id = END
    return ready_to_train(VisionEncoderDecoderModel(config=config))


def load_captioner(folder):
    """The captioner that `config.json` and `model.safetensors` in the folder describe."""
    return ready_to_train(VisionEncoderDecoderModel.from_pretrained(folder))


def ready_to_train(model):
    model.encoder.pooler = None
    model.loss_function = captioning_loss
    return model.train()
