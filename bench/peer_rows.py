"""`bench/throughput` against rows of PyTorch: the ways there are to train the captioner in it.

A row is found by one process each; what is compared in pairs is the one whose step is the fastest.
Beside each time of a step stands the floor: the operations of the step's matrix products, which
`bench/throughput` counts, at the best rate that `bench/products` and PyTorch reach on this machine
in the largest of them.
"""

import os
import shlex
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

from processes import CompareError, run, run_pairs, summary, summary_of

PEERS = Path(__file__).resolve().parent / "peers"
OPTIMIZERS = ["eager", "fused", "compile"]
MODES = ["default", "max-autotune"]
# Name of a row -> its options in torch_captioner.py.
ROWS = {optimizer: ["--optimizer", optimizer] for optimizer in OPTIMIZERS[:2]} | {
    f"{mode}+{optimizer}": ["--run", "compile", "--mode", mode, "--optimizer", optimizer]
    for mode in MODES
    for optimizer in OPTIMIZERS
}

STEP, RATE, FIRST, PEAK = "median_step_ms", "steps_per_s", "first_step_s", "max_rss_mib"
OURS = "sinter"


def parse_rows(text):
    """Names of rows with commas between them; all of them for `all`."""
    names = list(ROWS) if text == "all" else text.split(",")
    for name in names:
        if name not in ROWS:
            raise CompareError(f"there is no row {name!r}; there are {', '.join(ROWS)}")
    return names


def has_torch(python):
    probe = [python, "-c", "import torch, transformers, safetensors"]
    return subprocess.run(probe, stderr=subprocess.DEVNULL, check=False).returncode == 0


def peer_python():
    """A Python that can run the PyTorch scripts."""
    chosen = os.environ.get("SINTER_PEER_PYTHON")
    for name in [chosen] if chosen else ["python3", "python"]:
        path = shutil.which(name)
        if path and has_torch(path):
            return path
    raise CompareError(
        "no Python with torch, transformers and safetensors: set SINTER_PEER_PYTHON to one"
    )


def built(options, name):
    program = Path(options.build) / "bench" / name
    if not program.exists():
        raise CompareError(f"{program} is not built: see --build")
    return str(program)


class Commands:
    """Command lines of both sides, for the same batches, which the peer writes into the folder."""

    def __init__(self, options, folder):
        self.options = options
        self.program, self.products = built(options, "throughput"), built(options, "products")
        self.python = peer_python()
        self.data = ["--preset", options.preset, "--collate", options.collate]
        self.data += ["--align", str(options.align), "--batch", str(options.batch)]
        self.batches = str(Path(folder) / "batches.safetensors")
        once = ["--dump-batches", self.batches, "--warmup", "0", "--active", "1"]
        run([*self.script("torch_captioner.py"), "--device", "cpu", *self.data, *once], [STEP])

    def script(self, name):
        return [self.python, str(PEERS / name)]

    def how(self):
        return ["--dtype", self.options.dtype, "--threads", str(self.options.threads)]

    def step(self, name, warmup, active):
        """The process that trains so many steps: ours, or a row of the peer."""
        steps = [*self.how(), "--warmup", str(warmup), "--active", str(active)]
        if name == OURS:
            ours = [self.program, "--json", "--preset", self.options.preset]
            return [*ours, "--batches", self.batches, *steps]
        peer = [*self.script("torch_captioner.py"), "--device", "cpu", *self.data, *steps]
        # Told which sizes vary, the peer compiles once, and its steps are no slower.
        varies = ["--dynamic", "mark"] if self.options.collate == "longest" else []
        return [*peer, *ROWS[name], *varies]

    def rates(self, shapes):
        """The processes that measure matrix products, by side."""
        measure = ["--shapes", ",".join(shapes), *self.how()]
        theirs = [*self.script("torch_products.py"), *measure]
        return {OURS: [self.products, "--json", *measure], "PyTorch": theirs}


def probe(commands, names, show):
    """Reports of a process of ours and of each row; what a row that fails says is shown."""
    options, reports = commands.options, {}
    for name in [OURS, *names]:
        try:
            command = commands.step(name, options.warmup, options.active)
            reports[name] = run(command, [STEP, RATE, FIRST, PEAK])
        except CompareError as error:
            if name == OURS:
                raise
            show(f"{name} fails: {error}")
    if len(reports) == 1:
        raise CompareError("no row of PyTorch runs")
    return reports


def find_floor(commands, ours):
    """The least time of a step with the matrix products it has, and what that rests on."""
    processes = commands.rates(ours["largest_products"])
    rates = {side: run(command, ["gflops"])["gflops"] for side, command in processes.items()}
    flops = ours["products_flops"]
    return {"flops": flops, "gflops": rates, "ms": flops / max(rates.values()) / 1e6}


def first_steps(commands, name, times):
    """First steps in processes that find no compiled code, and in the next that find it."""
    reports = {"cold": [], "warm": []}
    for _ in range(times):
        with tempfile.TemporaryDirectory(prefix="sinter-caches-") as folder:
            caches = {
                "SINTER_CACHE": f"{folder}/sinter",
                "TORCHINDUCTOR_CACHE_DIR": f"{folder}/torch",
                "CCACHE_DISABLE": "1",
            }
            for pairs in reports.values():
                pair = [run(commands.step(side, 0, 1), [FIRST], caches) for side in (OURS, name)]
                pairs.append(pair)
    return {state: summary_of(FIRST, pairs) for state, pairs in reports.items()}


def fastest(reports, names):
    return min((name for name in names if name in reports), key=lambda name: reports[name][STEP])


def show_probes(reports, floor, show):
    rates = ", ".join(f"{side} {rate:.1f}" for side, rate in floor["gflops"].items())
    show(
        f"matrix products: {floor['flops'] / 1e9:.3f} GFLOP a step; at the best of {rates} GFLOP/s "
        f"no less than {floor['ms']:.3f} ms"
    )
    show(f"{'row':24}{'step ms':>10}{'floor ms':>10}{'steps/s':>10}{'first s':>10}{'peak MiB':>10}")
    for name, report in reports.items():
        show(
            f"{name:24}{report[STEP]:10.3f}{floor['ms']:10.3f}{report[RATE]:10.2f}"
            f"{report[FIRST]:10.3f}{report[PEAK]:10}"
        )


def spread(result, digits=3):
    least, most = result["min_ratio"], result["max_ratio"]
    return f"{result['median_ratio']:.{digits}f} ({least:.{digits}f} to {most:.{digits}f})"


def show_result(result, show):
    best, step, rest = result["best"], result["step"], result["outside_products"]
    show(
        f"step: {OURS} {step['median_a']:.3f} ms, {best} {step['median_b']:.3f} ms, floor "
        f"{result['floor']['ms']:.3f} ms; A / B median {spread(step)}, so "
        f"{1 / step['median_ratio']:.2f} times as fast"
    )
    show(
        f"outside the matrix products: {rest['median_a']:.3f} ms and {rest['median_b']:.3f} ms; "
        f"A / B median {spread(rest)}"
    )
    for name, key in (("steps a second", "rate"), ("peak resident MiB", "peak")):
        both = result[key]
        show(f"{name}: {both['median_a']:g} and {both['median_b']:g}; A / B median {spread(both)}")
    for state, first in result.get("first_step", {}).items():
        show(
            f"first step, {state}: {first['median_a']:.3f} s, {result['compiled']} "
            f"{first['median_b']:.3f} s; A / B median {spread(first, 4)}, 1 / "
            f"{1 / first['median_ratio']:.1f}"
        )


def outside(pairs, floor_ms):
    """The pairs' times of a step less the floor; where the floor is not below them, nothing holds."""
    rest = [(a[STEP] - floor_ms, b[STEP] - floor_ms) for a, b in pairs]
    if min(min(pair) for pair in rest) <= 0:
        raise CompareError("a step took less than its matrix products at the best rate measured")
    return summary(rest)


def compare_rows(options, folder, show):
    """Probes the rows, compares the best in pairs and shows the tables; the whole as a dict."""
    names = parse_rows(options.rows)
    commands = Commands(options, folder)
    show(f"A: {shlex.join(commands.step(OURS, options.warmup, options.active))}")
    reports = probe(commands, names, show)
    floor = find_floor(commands, reports[OURS])
    show_probes(reports, floor, show)
    best = fastest(reports, names)
    command = commands.step(best, options.warmup, options.active)
    show(f"B: {shlex.join(command)}")
    show(f"pair  {'A ms':>10}{'B ms':>10}{'floor ms':>10}{'A / B':>10}")

    def show_pair(number, a, b):
        a, b = a[STEP], b[STEP]
        show(f"{number:4}  {a:10.3f}{b:10.3f}{floor['ms']:10.3f}{a / b:10.4f}")

    first = commands.step(OURS, options.warmup, options.active)
    pairs = run_pairs(first, command, [STEP, RATE, PEAK], options.pairs, show_pair)
    result = {
        "command_a": first,
        "command_b": command,
        "rows": reports,
        "floor": floor,
        "best": best,
        "step": summary_of(STEP, pairs),
        "outside_products": outside(pairs, floor["ms"]),
        "rate": summary_of(RATE, pairs),
        "peak": summary_of(PEAK, pairs),
    }
    if options.first_steps:
        compiled = [name for name in names if "+" in name and name in reports]
        result["compiled"] = fastest(reports, compiled or names)
        result["first_step"] = first_steps(commands, result["compiled"], options.first_steps)
    show_result(result, show)
    return result
