#!/usr/bin/env python3
"""Writes golden vectors of the captioner, computed by PyTorch and Hugging Face in f64.

    pip install torch transformers safetensors
    python make_captioner.py FOLDER --width 39 --heads 3 --image 28 --patch 7

FOLDER then holds the model as `save_pretrained` writes it (`config.json` and `model.safetensors`, the
weights before the first step) and `golden.safetensors`. B is the batch, T the caption, N the patches
and the class token, D the width, V the vocabulary; NAME is a parameter's name in model.safetensors,
where the linear layers of the ViT are [out, in], those of GPT-2 [in, out], and the head, tied to
`decoder.transformer.wte.weight`, is left out.

    in.pixels     f32  [B, 3, H, W]
    in.tokens     i64  [B, T]     START and words, padded with PAD
    in.labels     i64  [B, T]     the next tokens, -100 where padded
    in.mask       bool [B, T]     tokens that are not PAD
    out.encoder   f32  [B, N, D]  what the decoder attends to
    out.logits    f32  [B, T, V]
    out.loss      f32  []         mean cross-entropy over labels that are not -100
    grad.NAME     f32             gradients of out.loss
    adam1.NAME    f32             parameters after one step of Adam
    adam5.NAME    f32             and after all of them, on the same batch
    out.losses    f32  [5]        the loss before each step
    out.greedy    i64  [B, T]     greedy captions after the steps, from START; PAD after END

Everything is computed in f64 and rounded to f32. The metadata holds the options, versions and
activations, and `spread`: for each key the error of PyTorch's own f32, max|f32 - f64| / max|f64|.
An implementation whose errors are of that size is as good as PyTorch.

The key biases of the ViT have no effect (softmax ignores what is added to a whole row), so their
gradients are rounding noise and are left out. Adam's eps is large so that it does not blow up such
noise, and the weights are spread wide so that no gradient vanishes. Dropout is 0.
"""

import argparse
import json
import re

import torch
import torch.nn.functional as F
import transformers
from safetensors.torch import load_file, save_file
from transformers import (
    GPT2Config,
    VisionEncoderDecoderConfig,
    VisionEncoderDecoderModel,
    ViTConfig,
)

PAD, START, END = 0, 1, 2
IGNORED = -100
SPARE_POSITIONS = 8
LEAST_LEAD = 1e-3

# This version of transformers names the parameters of the ViT otherwise than it saves them.
SAVED_NAMES = [
    (r"encoder\.layers\.", "encoder.encoder.layer."),
    (r"attention\.q_proj", "attention.attention.query"),
    (r"attention\.k_proj", "attention.attention.key"),
    (r"attention\.v_proj", "attention.attention.value"),
    (r"attention\.o_proj", "attention.output.dense"),
    (r"(encoder\.layer\.\d+)\.mlp\.fc1", r"\1.intermediate.dense"),
    (r"(encoder\.layer\.\d+)\.mlp\.fc2", r"\1.output.dense"),
]


def loss_of_next_tokens(logits, labels, vocab_size, **_):
    return F.cross_entropy(logits.view(-1, vocab_size), labels.reshape(-1), ignore_index=IGNORED)


def build(options):
    """The model with random weights; biases and norms are moved off 0 and 1, so that each counts."""
    encoder = ViTConfig(
        image_size=options.image,
        patch_size=options.patch,
        hidden_size=options.width,
        num_hidden_layers=options.layers,
        num_attention_heads=options.heads,
        intermediate_size=4 * options.width,
        initializer_range=0.2,
    )
    decoder = GPT2Config(
        vocab_size=options.vocab,
        n_positions=options.caption + SPARE_POSITIONS,
        n_embd=options.width,
        n_layer=options.layers,
        n_head=options.heads,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        initializer_range=0.2,
    )
    config = VisionEncoderDecoderConfig.from_encoder_decoder_configs(encoder, decoder)
    config.decoder.use_cache = False
    config.decoder_start_token_id = START
    config.pad_token_id = PAD
    config.eos_token_id = END
    model = VisionEncoderDecoderModel(config=config)
    model.encoder.pooler = None
    model.loss_function = loss_of_next_tokens
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.05 * torch.randn_like(parameter)
    return model


def saved_parameters(model):
    """The parameters under the names of model.safetensors."""
    named = {}
    for name, parameter in model.named_parameters():
        for pattern, replacement in SAVED_NAMES:
            name = re.sub(pattern, replacement, name)
        named[name] = parameter
    return named


def make_batch(options):
    """Captions of different lengths, the first as long as fits, and random images."""
    tokens = torch.full((options.batch, options.caption), PAD)
    labels = torch.full((options.batch, options.caption), IGNORED)
    for row in range(options.batch):
        count = max(1, options.caption - 1 - 2 * row)
        words = torch.randint(END + 1, options.vocab, (count,))
        tokens[row, 0] = START
        tokens[row, 1 : count + 1] = words
        labels[row, :count] = words
        labels[row, count] = END
    pixels = torch.randn(options.batch, 3, options.image, options.image)
    return {"in.pixels": pixels, "in.tokens": tokens, "in.labels": labels, "in.mask": tokens != PAD}


def copies(prefix, tensors):
    return {f"{prefix}.{name}": tensor.detach().clone() for name, tensor in tensors.items()}


@torch.no_grad()
def greedy_captions(model, pixels, length):
    """The best word, one by one without a cache, `length` tokens with START; ties are refused."""
    ids = torch.full((len(pixels), 1), START)
    ended = torch.zeros(len(pixels), dtype=torch.bool)
    while ids.shape[1] < length:
        logits = model(pixel_values=pixels, decoder_input_ids=ids).logits[:, -1]
        best, second = logits.topk(2).values.unbind(-1)
        if not ((best - second > LEAST_LEAD) | ended).all():
            raise SystemExit("two words are too close to call: choose another --seed")
        word = torch.where(ended, PAD, logits.argmax(-1))
        ended |= word == END
        ids = torch.cat([ids, word[:, None]], 1)
    return ids


def results(model, weights, batch, options, dtype):
    """All outputs, starting from the weights, with parameters, pixels and arithmetic in dtype."""
    model.to(dtype).train()
    parameters = saved_parameters(model)
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(weights[name])
    pixels = batch["in.pixels"].to(dtype)
    adam = torch.optim.Adam(model.parameters(), lr=options.lr, eps=options.eps)
    found, losses = {}, []
    for step in range(1, options.steps + 1):
        out = model(
            pixel_values=pixels,
            decoder_input_ids=batch["in.tokens"],
            decoder_attention_mask=batch["in.mask"],
            labels=batch["in.labels"],
        )
        adam.zero_grad()
        out.loss.backward()
        losses.append(out.loss.item())
        if step == 1:
            outputs = {
                "encoder": out.encoder_last_hidden_state,
                "logits": out.logits,
                "loss": out.loss,
            }
            found |= copies("out", outputs)
            gradients = {name: parameter.grad for name, parameter in parameters.items()}
            found |= copies("grad", gradients)
        adam.step()
        if step in (1, options.steps):
            found |= copies(f"adam{step}", parameters)
    found["out.losses"] = torch.tensor(losses, dtype=torch.float64)
    model.eval()
    found["out.greedy"] = greedy_captions(model, pixels, options.caption)
    noise = [key for key in found if re.fullmatch(r"grad\..*attention\.key\.bias", key)]
    return {key: value for key, value in found.items() if key not in noise}


def relative_error(value, exact):
    largest = exact.abs().max().clamp_min(1e-30)
    return ((value.double() - exact).abs().max() / largest).item()


def parse_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder")
    parser.add_argument("--image", type=int, default=32)
    parser.add_argument("--patch", type=int, default=8)
    parser.add_argument("--width", type=int, default=32)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--caption", type=int, default=12)
    parser.add_argument("--batch", type=int, default=3)
    parser.add_argument("--vocab", type=int, default=96)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--steps", type=int, default=5, help="of Adam")
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--eps", type=float, default=1e-4)
    return parser.parse_args()


def main():
    options = parse_options()
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    model = build(options)
    model.save_pretrained(options.folder)
    weights = load_file(f"{options.folder}/model.safetensors")
    batch = make_batch(options)
    single = results(model, weights, batch, options, torch.float32)
    double = results(model, weights, batch, options, torch.float64)
    if not torch.equal(single["out.greedy"], double["out.greedy"]):
        raise SystemExit("f32 and f64 caption differently: choose another --seed")
    exact = {key: value for key, value in double.items() if value.is_floating_point()}
    spread = {key: relative_error(single[key], value) for key, value in exact.items()}
    metadata = {name: str(value) for name, value in vars(options).items() if name != "folder"}
    metadata |= {
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "vit_layer_norm_eps": str(model.config.encoder.layer_norm_eps),
        "gpt2_layer_norm_eps": str(model.config.decoder.layer_norm_epsilon),
        "vit_activation": model.config.encoder.hidden_act,
        "gpt2_activation": model.config.decoder.activation_function,
        "spread": json.dumps(spread),
    }
    stored = batch | double | {key: value.float() for key, value in exact.items()}
    stored = {key: value.contiguous() for key, value in stored.items()}
    save_file(stored, f"{options.folder}/golden.safetensors", metadata=metadata)
    worst = max(spread, key=spread.get)
    print(f"{len(stored)} tensors; PyTorch's largest f32 error {spread[worst]:.1e} ({worst})")


if __name__ == "__main__":
    main()
