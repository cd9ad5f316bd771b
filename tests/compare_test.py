#!/usr/bin/env python3
"""Tests of bench/compare: the arithmetic, the order of the processes and the errors.

Stand-ins take the place of PyTorch. Usage: compare_test.py BUILD
"""

import json
import math
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

COMPARE = Path(__file__).resolve().parent.parent / "bench" / "compare"
sys.dont_write_bytecode = True
sys.path.insert(0, str(COMPARE.parent))
from processes import summary

BUILD = Path(sys.argv[1] if len(sys.argv) > 1 else "build").resolve()

# A program that appends its name to a log and reports the next of its values.
REPORTER = """
import json, sys
name, log, values = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
with open(log, "a+") as file:
    file.seek(0)
    turn = file.read().count(name)
    file.write(name)
print("some text")
print(json.dumps({"ms": values[turn]}))
"""


# In the place of throughput, products and a Python with torch. Reports what $REPORTS holds for the
# row it is asked for, and logs the row; its first step is quicker where the last one left a mark.
STAND_IN = """
import json, os, sys
from pathlib import Path
program, arguments = Path(sys.argv[0]).name, sys.argv[1:]
if arguments[0] == "-c":
    sys.exit(0)
if program == "python":
    program = Path(arguments.pop(0)).stem
given = dict(zip(arguments, arguments[1:]))
if program in ("products", "torch_products"):
    row, log = program, given["--shapes"]
elif program == "throughput":
    row = log = "sinter"
else:
    row = given.get("--optimizer", "data")
    if given.get("--run") == "compile":
        row = given["--mode"] + "+" + row
    log = row + "/" + given["--dynamic"] if "--dynamic" in given else row
reports = json.loads(os.environ["REPORTS"])
with open(os.environ["LOG"], "a") as file:
    print(log, file=file)
if row not in reports:
    sys.exit(3)
report = reports[row]
cache = os.environ["SINTER_CACHE" if row == "sinter" else "TORCHINDUCTOR_CACHE_DIR"]
mark = Path(cache) / "mark"
report["first_step_s"] = report.get("first_step_s", 1) / (10 if mark.exists() else 1)
mark.parent.mkdir(parents=True, exist_ok=True)
mark.touch()
print(json.dumps(report))
"""


def report(step_ms, peak=100, first=1):
    return {
        "median_step_ms": step_ms,
        "steps_per_s": 1000 / step_ms,
        "first_step_s": first,
        "max_rss_mib": peak,
    }


PRODUCTS = {"products_flops": 3e9, "largest_products": ["8x4x2", "4x2x1"]}
REPORTS = {
    "data": report(1),
    "sinter": report(5, 50, 2) | PRODUCTS,
    "eager": report(30),
    "fused": report(25, 200),
    "default+compile": report(20, 400, 90),
    "max-autotune+fused": report(22, 300, 120),
    "products": {"gflops": 1000},
    "torch_products": {"gflops": 1500},
}


class Summary(unittest.TestCase):
    def test_ratio_is_the_median_of_ratios_not_the_ratio_of_medians(self):
        result = summary([(1, 4), (2, 2), (3, 4), (8, 1), (5, 2)])
        self.assertEqual(result["ratios"], [0.25, 1, 0.75, 8, 2.5])
        self.assertEqual(result["median_ratio"], 1)
        self.assertEqual((result["median_a"], result["median_b"]), (3, 2))
        self.assertEqual((result["min_ratio"], result["max_ratio"]), (0.25, 8))

    def test_median_of_an_even_number_of_pairs_is_the_middle(self):
        result = summary([(1, 1), (2, 1), (4, 1), (8, 1), (16, 1), (32, 1)])
        self.assertEqual(result["median_ratio"], 6)


class Processes(unittest.TestCase):
    def compare(self, first, second, *options):
        """Runs bench/compare on two reporters; the process and the order they ran in."""
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "log"
            log.touch()
            commands = []
            for name, values in (("a", first), ("b", second)):
                commands += ["--", sys.executable, "-c", REPORTER, name, log, json.dumps(values)]
            command = [sys.executable, COMPARE, "--key", "ms", *options, *commands]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            return done, log.read_text()

    def test_pairs_alternate_which_goes_first(self):
        done, order = self.compare([2, 4, 6, 8, 10], [1, 1, 2, 4, 5], "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(order, "abbaabbaab")
        result = json.loads(done.stdout)
        self.assertEqual(result["a"], [2, 4, 6, 8, 10])
        self.assertEqual(result["ratios"], [2, 4, 3, 2, 2])
        self.assertEqual(result["median_ratio"], 2)

    def test_table_ends_with_the_median_and_its_spread(self):
        done, _ = self.compare([3, 3, 3, 3, 6], [2, 2, 2, 2, 2])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("A / B median 1.5000 (1.5000 to 3.0000)", done.stdout.splitlines()[-1])

    def test_too_few_pairs_are_refused(self):
        done, order = self.compare([1] * 4, [1] * 4, "--pairs", "4")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("at least 5", done.stderr)
        self.assertEqual(order, "")

    def test_a_missing_key_and_a_value_that_divides_by_zero_are_named(self):
        for values, key in (([1] * 5, "other"), ([0] * 5, "ms"), (["x"] * 5, "ms")):
            done, _ = self.compare(values, values, "--key", key)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(f"no positive number '{key}'", done.stderr)
            self.assertNotIn("Traceback", done.stderr)

    def test_failing_commands_are_named(self):
        for command, message in (
            (["false"], "exit status 1 of: false"),
            (["true"], "no JSON object on the last line of: true"),
            (["/nowhere/program"], "cannot run /nowhere/program"),
        ):
            line = [sys.executable, COMPARE, "--", *command, "--", *command]
            done = subprocess.run(line, capture_output=True, text=True, check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(message, done.stderr)
            self.assertNotIn("Traceback", done.stderr)

    def test_one_command_is_not_enough(self):
        for commands in (["--", "true"], ["--", "--", "true"], ["--", "true", "--"]):
            line = [sys.executable, COMPARE, *commands]
            done = subprocess.run(line, capture_output=True, text=True, check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("two commands are needed", done.stderr)


class Rows(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "bench").mkdir()
        for name in ("bench/throughput", "bench/products", "python"):
            program = self.folder / name
            program.write_text(f"#!{sys.executable} -IS\n{STAND_IN}")
            program.chmod(0o755)

    def compare(self, *options, reports=None):
        """Runs bench/compare on the stand-ins; the process and what was run."""
        log = self.folder / "log"
        log.write_text("")
        environment = os.environ | {
            "LOG": str(log),
            "REPORTS": json.dumps(REPORTS if reports is None else reports),
            "SINTER_PEER_PYTHON": str(self.folder / "python"),
            "SINTER_CACHE": str(self.folder / "sinter"),
            "TORCHINDUCTOR_CACHE_DIR": str(self.folder / "torch"),
        }
        command = [sys.executable, COMPARE, "--build", self.folder, *options]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env=environment
        )
        self.assertNotIn("Traceback", done.stderr)
        return done, log.read_text().splitlines()

    def test_the_fastest_row_is_compared_in_pairs_after_one_run_of_each(self):
        done, ran = self.compare("--rows", "eager,default+compile,fused", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        probes = ["data", "sinter", "eager", "default+compile", "fused", *["8x4x2,4x2x1"] * 2]
        self.assertEqual(ran[: len(probes)], probes)
        a, b = "sinter", "default+compile"
        self.assertEqual(ran[len(probes) :], [a, b, b, a, a, b, b, a, a, b])
        result = json.loads(done.stdout)
        self.assertEqual(result["best"], "default+compile")
        self.assertEqual(result["step"]["ratios"], [0.25] * 5)
        self.assertEqual(result["peak"]["median_ratio"], 50 / 400)
        self.assertEqual(list(result["rows"]), ["sinter", "eager", "default+compile", "fused"])

    def test_the_floor_is_the_products_at_the_best_rate_of_both_sides(self):
        done, _ = self.compare("--json")
        result = json.loads(done.stdout)
        self.assertEqual(result["floor"]["ms"], 2)
        self.assertEqual(result["outside_products"]["ratios"], [(5 - 2) / (25 - 2)] * 5)
        done, _ = self.compare()
        for line in ("sinter    5.000  2.000  200.00", "fused    25.000  2.000  40.00"):
            self.assertIn(line.split(), [text.split()[:4] for text in done.stdout.splitlines()])

    def test_a_step_below_the_floor_is_an_error(self):
        for side in ("sinter", "fused"):
            done, _ = self.compare(reports=REPORTS | {side: REPORTS[side] | {"median_step_ms": 2}})
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("less than its matrix products", done.stderr)

    def test_rows_that_fail_are_named_and_left_out(self):
        done, ran = self.compare("--rows", "all")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(set(ran)), 1 + 1 + 8 + 1)
        for name in ("default+eager", "default+fused", "max-autotune+eager"):
            self.assertIn(f"{name} fails: exit status 3", done.stdout)
        self.assertEqual(ran[-1], "default+compile")
        self.assertIn("4.00 times as fast", done.stdout)

    def test_without_a_row_that_runs_there_is_nothing_to_compare(self):
        done, _ = self.compare("--rows", "default+eager,default+fused")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no row of PyTorch runs", done.stderr)

    def test_a_row_that_does_not_exist_is_named(self):
        done, ran = self.compare("--rows", "eager,quick")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no row 'quick'; there are eager, fused, default+eager", done.stderr)
        self.assertEqual(ran, [])

    def test_first_steps_are_those_of_the_fastest_compiled_row_with_caches_of_their_own(self):
        rows = "fused,max-autotune+fused,default+compile"
        reports = REPORTS | {"fused": report(10)}
        options = ("--rows", rows, "--first-steps", "2", "--json")
        done, ran = self.compare(*options, reports=reports)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(ran[-8:], ["sinter", "default+compile"] * 4)
        result = json.loads(done.stdout)
        self.assertEqual((result["best"], result["compiled"]), ("fused", "default+compile"))
        cold, warm = result["first_step"]["cold"], result["first_step"]["warm"]
        self.assertEqual((cold["a"], cold["b"]), ([2, 2], [90, 90]))
        self.assertEqual((warm["a"], warm["b"]), ([0.2, 0.2], [9, 9]))

    def test_lengths_that_vary_are_marked_for_the_peer(self):
        _, ran = self.compare("--rows", "default+compile", "--collate", "longest")
        self.assertEqual(ran.count("default+compile/mark"), 6)

    def test_a_key_is_refused_where_it_would_do_nothing(self):
        done, ran = self.compare("--key", "steps_per_s")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("--key is for two commands", done.stderr)
        self.assertEqual(ran, [])

    def test_programs_that_are_not_built_are_named(self):
        (self.folder / "bench" / "products").unlink()
        done, _ = self.compare()
        self.assertIn("products is not built: see --build", done.stderr)


class Products(unittest.TestCase):
    def recorded_flops(self, program):
        """Of the products among the steps of a program: a file that a traced run has left."""
        shapes, flops = {}, 0
        for line in program.read_text().splitlines():
            record = json.loads(line)
            if record["record"] not in ("leaf", "step"):
                continue
            shape = shapes[record["record"], record["index"]] = record["shape"]
            operands = [shapes[one] for given in record.get("inputs", []) for one in given.items()]
            if record["op"] in ("linear", "matmul"):
                flops += 2 * math.prod(shape) * operands[0][-1]
            elif record["op"] in ("attention", "attention_grad"):
                backward = record["op"] == "attention_grad"
                queries, keys = (operand[-2] for operand in operands[backward : backward + 2])
                causal = record["fixed"][0] == 1
                pairs = queries * (queries + 1) / 2 if causal else queries * keys
                products = 4 if backward else 2
                flops += products * 2 * math.prod(shape[:2]) * pairs * shape[-1]
        return flops

    def test_throughput_counts_the_products_that_a_step_records(self):
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        command = [BUILD / "bench" / "throughput", "--json", "--warmup", "0", "--active", "1"]
        traced = os.environ | {"SINTER_TRACE_DIR": str(folder)}
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=traced)
        counted = json.loads(done.stdout)["products_flops"]
        recorded = [self.recorded_flops(path) for path in folder.glob("*/program.jsonl")]
        self.assertEqual(max(recorded), counted)

    def test_rates_are_those_of_the_shapes_asked_for(self):
        command = [BUILD / "bench" / "products", "--json", "--shapes", "8x4x2,3x1x5"]
        command += ["--seconds", "0"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        result = json.loads(done.stdout)
        self.assertEqual(list(result["shapes"]), ["8x4x2", "3x1x5"])
        self.assertEqual(result["gflops"], max(result["shapes"].values()))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
