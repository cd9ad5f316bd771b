#!/usr/bin/env python3
"""Trains the captioner on canvases of handwritten digits in PyTorch, by the recipe of `captioner train`.

    pip install torch transformers numpy
    python torch_digits.py

Every few hundred steps, and at the end, it prints a JSON line with the held-out accuracy by digit and
by caption of greedy decoding. The defaults are the recipe.
"""

import argparse
import dataclasses
import json
import math
import time

import digits_data
import torch
from captioner_model import PRESETS, build_captioner

TRAIN_SEED, HELD_OUT_SEED = 1, 2


def learning_rate(step, options):
    """Linear warm-up from 0, then half a cosine down to 0; `step` counts from 1."""
    if step <= options.warmup:
        return options.lr * step / options.warmup
    done = (step - options.warmup) / (options.steps - options.warmup)
    return options.lr * 0.5 * (1 + math.cos(math.pi * done))


@torch.no_grad()
def greedy_captions(model, pixels):
    """The words chosen one by one, [B, MOST + 1]; PAD after END."""
    encoded = model.encoder(pixel_values=pixels)
    ids = torch.full((len(pixels), 1), digits_data.START)
    ended = torch.zeros(len(pixels), dtype=torch.bool)
    for _ in range(digits_data.CAPTION):
        logits = model(encoder_outputs=encoded, decoder_input_ids=ids).logits[:, -1]
        word = torch.where(ended, digits_data.PAD, logits.argmax(-1))
        ended |= word == digits_data.END
        ids = torch.cat([ids, word[:, None]], 1)
    return ids[:, 1:]


def evaluate(model, held_out, size):
    """Accuracy by digit and by caption over the first `size` held-out canvases."""
    model.eval()
    digits = right_digits = right_captions = 0
    for first in range(0, size, 250):
        pixels, _, labels = digits_data.batch(
            held_out, HELD_OUT_SEED, first, min(250, size - first)
        )
        words = greedy_captions(model, torch.from_numpy(pixels))
        labels = torch.from_numpy(labels)
        counted = labels != digits_data.IGNORED
        is_digit = counted & (labels != digits_data.END)
        same = words == labels
        digits += is_digit.sum().item()
        right_digits += (same & is_digit).sum().item()
        right_captions += (same | ~counted).all(1).sum().item()
    model.train()
    return right_digits / digits, right_captions / size


def train(options):
    """Trains and reports; returns the model."""
    torch.manual_seed(options.seed)
    images, labels = digits_data.load_digits()
    pool = digits_data.split(images, labels, held_out=False)
    held_out = digits_data.split(images, labels, held_out=True)
    preset = dataclasses.replace(
        PRESETS["tiny"],
        patch=options.patch,
        width=options.width,
        layers=options.layers,
        vocabulary=options.vocabulary,
    )
    model = build_captioner(preset, options.dropout, options.init)
    optimizer = torch.optim.AdamW(
        model.parameters(),
        betas=(0.9, options.beta2),
        weight_decay=options.weight_decay,
        fused=True,
    )
    started, losses = time.perf_counter(), []
    for step in range(1, options.steps + 1):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, options)
        pixels, tokens, labels = map(
            torch.from_numpy,
            digits_data.batch(pool, TRAIN_SEED, (step - 1) * options.batch, options.batch),
        )
        loss = model(
            pixel_values=pixels,
            decoder_input_ids=tokens,
            labels=labels,
            decoder_attention_mask=tokens != digits_data.PAD,
        ).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), options.clip)
        optimizer.step()
        losses.append(loss.item())
        if step % options.report == 0 or step == options.steps:
            by_digit, by_caption = evaluate(model, held_out, options.held_out)
            print(
                json.dumps(
                    {
                        "step": step,
                        "loss": round(sum(losses) / len(losses), 4),
                        "digits": round(by_digit, 4),
                        "captions": round(by_caption, 4),
                        "seconds": round(time.perf_counter() - started, 1),
                    }
                ),
                flush=True,
            )
            losses.clear()
    return model


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--patch", type=int, default=8)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--vocabulary", type=int, default=1024)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--lr", type=float, default=1e-3, help="at the end of the warm-up")
    parser.add_argument("--warmup", type=int, default=100, help="steps")
    parser.add_argument("--beta2", type=float, default=0.999)
    parser.add_argument("--weight-decay", type=float, default=0.01)
    parser.add_argument("--clip", type=float, default=1.0, help="global norm of the gradient")
    parser.add_argument("--init", type=float, default=0.02, help="deviation of fresh weights")
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--held-out", type=int, default=1000, help="canvases")
    parser.add_argument("--report", type=int, default=500, help="steps between reports")
    parser.add_argument("--seed", type=int, default=1, help="of weights and dropout")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--save", help="folder for the trained model")
    return parser.parse_args()


def main():
    options = parse_options()
    if options.threads:
        torch.set_num_threads(options.threads)
    model = train(options)
    if options.save:
        model.save_pretrained(options.save)


if __name__ == "__main__":
    main()
