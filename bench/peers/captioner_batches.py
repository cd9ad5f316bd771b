"""Synthetic batches of the throughput benchmark: random images and captions of skewed random length."""

import random

import torch
from captioner_model import END, IGNORED, PAD, START

# Caption lengths of the task the benchmark stands for: short, middling and long, in words.
LENGTHS = [(5, 31), (33, 63), (65, 255)]
WEIGHTS = [0.90, 0.09, 0.01]
LONGEST_CAPTION = 256


def caption_words(generator, longest):
    """How many words the next caption has, scaled from captions to 256 to captions to `longest`."""
    low, high = generator.choices(LENGTHS, weights=WEIGHTS)[0]
    return max(1, generator.randint(low, high) * longest // LONGEST_CAPTION)


def columns(lengths, preset, collate, align):
    """How many columns a batch is padded to: a caption of n words needs n + 1."""
    if collate == "max":
        return preset.caption
    needed = max(lengths) + 1
    if align:
        needed = (needed + align - 1) // align * align
    return min(needed, preset.caption)


def synthetic_batches(preset, size, count, collate, align, seed):
    """`count` batches of `size` captioned images, as arguments of the model.

    pixel_values f32 [B, 3, H, W], decoder_input_ids i64 [B, T] beginning with START and padded with
    PAD, labels i64 [B, T] the next tokens, END last and -100 where padded, decoder_attention_mask
    bool [B, T].
    """
    lengths_from = random.Random(seed)
    values_from = torch.Generator().manual_seed(seed)
    made = []
    for _ in range(count):
        lengths = [caption_words(lengths_from, preset.caption) for _ in range(size)]
        padded = columns(lengths, preset, collate, align)
        tokens = torch.full((size, padded), PAD)
        labels = torch.full((size, padded), IGNORED)
        for row, length in enumerate(lengths):
            words = torch.randint(END + 1, preset.vocabulary, (length,), generator=values_from)
            caption = torch.cat([torch.tensor([START]), words, torch.tensor([END])])[: padded + 1]
            tokens[row, : len(caption) - 1] = caption[:-1]
            labels[row, : len(caption) - 1] = caption[1:]
        pixels = torch.randn(size, 3, preset.image, preset.image, generator=values_from)
        made.append(
            {
                "pixel_values": pixels,
                "decoder_input_ids": tokens,
                "labels": labels,
                "decoder_attention_mask": tokens != PAD,
            }
        )
    return made


def save_batches(path, batches):
    """Writes the batches as safetensors with the keys N.pixels, N.tokens and N.labels."""
    from safetensors.torch import save_file

    names = {"pixels": "pixel_values", "tokens": "decoder_input_ids", "labels": "labels"}
    tensors = {
        f"{number}.{key}": batch[name]
        for number, batch in enumerate(batches)
        for key, name in names.items()
    }
    save_file(tensors, path)
