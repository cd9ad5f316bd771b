#!/usr/bin/env python3
"""The captioner benchmark in PyTorch: the model, data and training step of `bench/throughput`.

    pip install torch transformers safetensors
    python torch_captioner.py --preset tiny --collate max --optimizer fused
    python torch_captioner.py --preset tiny --run compile --optimizer compile

A ViT encoder and a GPT-2 decoder with cross-attention, random images, captions of skewed random
length, one Adam step per batch. Every shape that will come is met once, then come the warm-up steps,
then the steps that count. It prints one JSON line: the options and

    first_step_s    seconds of the first step, compilation included
    warmup_s        seconds of everything before the counted steps, the first step included
    steps_per_s     counted steps by their total time
    median_step_ms  median of the counted steps
    loss            of the last step
    max_rss_mib     the largest resident size of the process
"""

import argparse
import json
import resource
import statistics
import time

import torch
from captioner_batches import save_batches, synthetic_batches
from captioner_model import PRESETS, build_captioner

DYNAMIC = {"auto": None, "true": True, "false": False, "mark": None}
RECOMPILE_LIMIT, RECOMPILE_LIMIT_STATIC = 8, 64


class Trainer:
    """The model and optimizer as the options ask; a call is one training step."""

    def __init__(self, options):
        self.device = torch.device(options.device)
        self.mark_captions = options.run == "compile" and options.dynamic == "mark"
        self.autocast = options.dtype == "bf16"
        self.model = build_captioner(PRESETS[options.preset], options.dropout).to(self.device)
        fused = True if options.optimizer == "fused" else None
        self.optimizer = torch.optim.Adam(self.model.parameters(), fused=fused)
        if options.run == "compile":
            self.compile(options)

    def compile(self, options):
        static = options.dynamic == "false"
        torch._dynamo.config.recompile_limit = RECOMPILE_LIMIT_STATIC if static else RECOMPILE_LIMIT
        self.model = torch.compile(
            self.model,
            fullgraph=True,
            dynamic=DYNAMIC[options.dynamic],
            mode=None if options.mode == "default" else options.mode,
        )
        if options.optimizer == "compile":
            self.optimizer.step = torch.compile(self.optimizer.step)

    def __call__(self, batch):
        batch = {name: value.to(self.device, non_blocking=True) for name, value in batch.items()}
        if self.mark_captions:
            for name in ("decoder_input_ids", "labels", "decoder_attention_mask"):
                torch._dynamo.mark_dynamic(batch[name], 1)
        self.optimizer.zero_grad()
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self.autocast):
            loss = self.model(**batch).loss
        loss.backward()
        self.optimizer.step()
        return loss

    def wait(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize()


def measure(step, batches, warmup, active):
    """Runs the steps; a dict of the numbers that the module's text lists."""
    of_each_shape = list({b["decoder_input_ids"].shape: b for b in batches}.values())
    in_turn = [batches[i % len(batches)] for i in range(warmup + active)]
    started = time.perf_counter()
    loss = step(of_each_shape[0])
    loss.item()
    step.wait()
    first = time.perf_counter() - started
    for batch in of_each_shape[1:] + in_turn[:warmup]:
        loss = step(batch)
    step.wait()
    warm = time.perf_counter() - started
    times = []
    started = time.perf_counter()
    for batch in in_turn[warmup:]:
        before = time.perf_counter()
        loss = step(batch)
        times.append(time.perf_counter() - before)
    step.wait()
    total = time.perf_counter() - started
    return {
        "shapes": len(of_each_shape),
        "first_step_s": round(first, 4),
        "warmup_s": round(warm, 4),
        "steps_per_s": round(active / total, 3),
        "median_step_ms": round(1e3 * statistics.median(times), 4),
        "loss": round(loss.item(), 4),
        "max_rss_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def parse_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--preset", choices=PRESETS, default="tiny")
    add("--collate", choices=["max", "longest"], default="max", help="what captions are padded to")
    add("--align", type=int, default=0, help="with longest: pad to a multiple of this")
    add("--run", choices=["eager", "compile"], default="eager")
    add("--mode", default="default", help="of torch.compile")
    add("--dynamic", choices=DYNAMIC, default="auto", help="sizes, for torch.compile")
    add("--optimizer", choices=["eager", "fused", "compile"], default="eager")
    add("--dtype", choices=["f32", "bf16"], default="f32", help="bf16 is autocast")
    add("--dropout", type=float, default=0.1)
    add("--warmup", type=int, default=20, help="steps")
    add("--active", type=int, default=100, help="steps that count")
    add("--threads", type=int, default=0, help="0: as PyTorch decides")
    add("--batch", type=int, default=0, help="0: the preset's")
    add("--batches", type=int, default=40, help="distinct batches, used in turn")
    add("--dump-batches", default="", help="also write the batches, as safetensors")
    add("--seed", type=int, default=42)
    add("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    return parser.parse_args()


def main():
    options = parse_options()
    if options.threads:
        torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    preset = PRESETS[options.preset]
    size = options.batch or preset.batch
    batches = synthetic_batches(
        preset, size, options.batches, options.collate, options.align, options.seed
    )
    if options.dump_batches:
        save_batches(options.dump_batches, batches)
    result = measure(Trainer(options), batches, options.warmup, options.active)
    settings = vars(options) | {
        "batch": size,
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
    }
    print(json.dumps(settings | result))


if __name__ == "__main__":
    main()
