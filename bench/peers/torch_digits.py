#!/usr/bin/env python3
"""Trains the captioner on canvases of handwritten digits in PyTorch, by the recipe of `captioner train`.

    pip install torch transformers numpy
    python torch_digits.py

At every report and at the end it prints a JSON line: the step, the mean training loss since the last
line, the accuracy by digit and by caption of greedy decoding on held-out canvases, and the seconds.
The defaults are the recipe; it has no dropout, so from the same `--start` any other implementation
should follow the same curve until rounding tells them apart.
"""

import argparse
import json
import math
import statistics
import time

import digits_data
import torch
from captioner_model import PRESETS, build_captioner, load_captioner

TRAIN_SEED, HELD_OUT_SEED = 1, 2
EVALUATED_AT_ONCE = 250


def learning_rate(step, options):
    """Linear warm-up from 0, then half a cosine down to 0; `step` counts from 1."""
    if step <= options.warmup:
        return options.lr * step / options.warmup
    done = (step - options.warmup) / (options.steps - options.warmup)
    return options.lr * 0.5 * (1 + math.cos(math.pi * done))


def train_step(model, optimizer, batch, lr, clip):
    """One step of the optimizer; returns the loss before it."""
    pixels, tokens, labels = map(torch.from_numpy, batch)
    for group in optimizer.param_groups:
        group["lr"] = lr
    loss = model(
        pixel_values=pixels,
        decoder_input_ids=tokens,
        labels=labels,
        decoder_attention_mask=tokens != digits_data.PAD,
    ).loss
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimizer.step()
    return loss.item()


@torch.no_grad()
def greedy_captions(model, pixels):
    """The words chosen one by one, [B, 4]; PAD after END."""
    encoded = model.encoder(pixel_values=pixels)
    ids = torch.full((len(pixels), 1), digits_data.START)
    ended = torch.zeros(len(pixels), dtype=torch.bool)
    for _ in range(digits_data.CAPTION):
        logits = model(encoder_outputs=encoded, decoder_input_ids=ids).logits[:, -1]
        word = torch.where(ended, digits_data.PAD, logits.argmax(-1))
        ended |= word == digits_data.END
        ids = torch.cat([ids, word[:, None]], 1)
    return ids[:, 1:]


def evaluate(model, pool, size):
    """Accuracy by digit and by caption over the first `size` held-out canvases.

    A digit is right if its word stands in its place; a caption if all its words and END do.
    """
    model.eval()
    digits = right_digits = right_captions = 0
    for first in range(0, size, EVALUATED_AT_ONCE):
        count = min(EVALUATED_AT_ONCE, size - first)
        pixels, _, labels = digits_data.batch(pool, HELD_OUT_SEED, first, count)
        labels = torch.from_numpy(labels)
        same = greedy_captions(model, torch.from_numpy(pixels)) == labels
        counted = labels != digits_data.IGNORED
        is_digit = counted & (labels != digits_data.END)
        digits += is_digit.sum().item()
        right_digits += (same & is_digit).sum().item()
        right_captions += (same | ~counted).all(1).sum().item()
    model.train()
    return right_digits / digits, right_captions / size


def train(model, options):
    """Runs the recipe and prints its reports."""
    images, labels = digits_data.load_digits()
    training = digits_data.split(images, labels, held_out=False)
    held_out = digits_data.split(images, labels, held_out=True)
    optimizer = torch.optim.AdamW(
        model.parameters(),
        betas=(0.9, options.beta2),
        weight_decay=options.weight_decay,
        fused=True,
    )
    started, losses = time.perf_counter(), []
    for step in range(1, options.steps + 1):
        first = (step - 1) * options.batch
        batch = digits_data.batch(training, TRAIN_SEED, first, options.batch)
        lr = learning_rate(step, options)
        losses.append(train_step(model, optimizer, batch, lr, options.clip))
        if step % options.report == 0 or step == options.steps:
            by_digit, by_caption = evaluate(model, held_out, options.held_out)
            report = {
                "step": step,
                "loss": round(statistics.fmean(losses), 4),
                "digits": round(by_digit, 4),
                "captions": round(by_caption, 4),
                "seconds": round(time.perf_counter() - started, 1),
            }
            print(json.dumps(report), flush=True)
            losses.clear()


def parse_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--steps", type=int, default=6000)
    add("--batch", type=int, default=64)
    add("--lr", type=float, default=1.5e-3, help="at the end of the warm-up")
    add("--warmup", type=int, default=100, help="steps")
    add("--beta2", type=float, default=0.98)
    add("--weight-decay", type=float, default=0.05, help="of every parameter, decoupled")
    add("--clip", type=float, default=1.0, help="global norm of the gradient")
    add("--dropout", type=float, default=0.0, help="in the decoder")
    add("--init", type=float, default=0.125, help="deviation of fresh weights")
    add("--seed", type=int, default=1, help="of fresh weights and dropout")
    add("--start", help="folder with config.json and model.safetensors, instead of fresh weights")
    add("--held-out", type=int, default=1000, help="canvases")
    add("--report", type=int, default=1000, help="steps between reports")
    add("--threads", type=int, default=0, help="0: as PyTorch decides")
    add("--save", help="folder for the trained model")
    return parser.parse_args()


def main():
    options = parse_options()
    if options.threads:
        torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    if options.start:
        model = load_captioner(options.start)
    else:
        model = build_captioner(PRESETS["tiny"], options.dropout, options.init)
    train(model, options)
    if options.save:
        model.save_pretrained(options.save)


if __name__ == "__main__":
    main()
