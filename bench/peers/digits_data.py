"""Captioned canvases of handwritten digits, the same samples bit for bit as the C++ loader draws.

A sample is a pure function of (pool, seed, index). The random numbers are splitmix64, its state started at
mix64(mix64(seed) + index); `below(n)` is ((next() >> 32) * n) >> 32. The order of the draws:

1. how many digits, k = 1 + below(3);
2. k offsets below(32 - 8k + 1), sorted; digit j starts in column offset[j] + 8j;
3. for each digit from left to right: which image of the pool, below(size); its top row, below(25).
"""

from pathlib import Path

import numpy as np

PAD, START, END = 0, 1, 2
WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
FIRST_WORD = 3
CANVAS, SIDE, MOST = 32, 8, 3
CAPTION = MOST + 1
IGNORED = -100
HELD_OUT_EVERY = 5

MASK = (1 << 64) - 1


def mix64(z):
    """The finaliser of splitmix64 (Steele, Lea and Flood 2014) after one increment of its state."""
    z = (z + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


class Draws:
    """The random numbers of one sample."""

    def __init__(self, seed, index):
        self.state = mix64((mix64(seed) + index) & MASK)

    def below(self, n):
        """An integer in [0, n)."""
        value = mix64(self.state)
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        return ((value >> 32) * n) >> 32


def load_digits():
    """Images [1797, 8, 8] with values 0..16 and labels [1797], in the file's order.

    The file has a line of 65 integers for each image, row by row, the label last.
    """
    path = Path(__file__).resolve().parents[2] / "models" / "digits" / "digits.csv"
    table = np.loadtxt(path, delimiter=",", dtype=np.int64)
    return table[:, :-1].reshape(-1, SIDE, SIDE), table[:, -1]


def split(images, labels, held_out):
    """The training or the held-out digits; the same digit image is never in both."""
    chosen = (np.arange(len(labels)) % HELD_OUT_EVERY == 0) == held_out
    return images[chosen], labels[chosen]


def sample(pool, seed, index):
    """One canvas [32, 32] with values 0..16 and the digits on it from left to right."""
    images, labels = pool
    draws = Draws(seed, index)
    count = 1 + draws.below(MOST)
    offsets = sorted(draws.below(CANVAS - SIDE * count + 1) for _ in range(count))
    canvas = np.zeros((CANVAS, CANVAS), np.int64)
    digits = []
    for position, offset in enumerate(offsets):
        image = draws.below(len(labels))
        top = draws.below(CANVAS - SIDE + 1)
        left = offset + SIDE * position
        canvas[top : top + SIDE, left : left + SIDE] = images[image]
        digits.append(int(labels[image]))
    return canvas, digits


def batch(pool, seed, first, size):
    """Samples first .. first + size - 1: pixels f32 [B, 3, 32, 32], tokens and labels i64 [B, 4].

    Pixels are value / 8 (0 to 2), the same in the three channels. Tokens start with START; labels are
    the next tokens, END after the last word and -100 where the caption is padded.
    """
    pixels = np.empty((size, 3, CANVAS, CANVAS), np.float32)
    tokens = np.full((size, CAPTION), PAD, np.int64)
    labels = np.full((size, CAPTION), IGNORED, np.int64)
    for row in range(size):
        canvas, digits = sample(pool, seed, first + row)
        pixels[row] = canvas.astype(np.float32) / 8
        words = [FIRST_WORD + d for d in digits]
        tokens[row, : len(words) + 1] = [START, *words]
        labels[row, : len(words) + 1] = [*words, END]
    return pixels, tokens, labels
