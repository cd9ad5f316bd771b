#!/usr/bin/env python3
"""How fast matrix products of given shapes are in PyTorch on the CPU: the peer of `bench/products`.

    python torch_products.py --shapes 256x64x1024,256x64x256

Prints one JSON line: under `shapes` the rate of the fastest run of each, under `gflops` the best.
"""

import argparse
import json
import time

import torch

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}
LEAST_RUNS = 3


def best_gflops(shape, dtype, seconds):
    """Of [m, k] times [k, n]; a multiplication and an addition count as two operations."""
    m, k, n = map(int, shape.split("x"))
    a, b = torch.randn(m, k).to(dtype), torch.randn(k, n).to(dtype)
    times, first = [], time.perf_counter()
    while len(times) < LEAST_RUNS or time.perf_counter() - first < seconds:
        started = time.perf_counter()
        torch.mm(a, b)
        times.append(time.perf_counter() - started)
    return 2 * m * k * n / min(times) / 1e9


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--shapes", default="1024x1024x1024", help="MxKxN, with commas between")
    add("--dtype", choices=DTYPES, default="f32")
    add("--seconds", type=float, default=0.5, help="that each is run; the fastest run counts")
    add("--threads", type=int, default=0, help="0: as PyTorch decides")
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    dtype = DTYPES[options.dtype]
    with torch.inference_mode():
        rates = {
            shape: best_gflops(shape, dtype, options.seconds)
            for shape in options.shapes.split(",")
        }
    report = {"dtype": options.dtype, "threads": torch.get_num_threads()}
    print(json.dumps(report | {"shapes": rates, "gflops": max(rates.values())}))


if __name__ == "__main__":
    main()
