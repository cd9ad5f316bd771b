#!/usr/bin/env python3
"""Tests of bench/compare: the arithmetic, the order of the processes and the errors."""

import importlib.machinery
import importlib.util
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

COMPARE = Path(__file__).resolve().parent.parent / "bench" / "compare"

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


def load_compare():
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("compare", str(COMPARE))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("compare", loader))
    loader.exec_module(module)
    return module


class Summary(unittest.TestCase):
    def test_ratio_is_the_median_of_ratios_not_the_ratio_of_medians(self):
        result = load_compare().summary([(1, 4), (2, 2), (3, 4), (8, 1), (5, 2)])
        self.assertEqual(result["ratios"], [0.25, 1, 0.75, 8, 2.5])
        self.assertEqual(result["median_ratio"], 1)
        self.assertEqual((result["median_a"], result["median_b"]), (3, 2))
        self.assertEqual((result["min_ratio"], result["max_ratio"]), (0.25, 8))

    def test_median_of_an_even_number_of_pairs_is_the_middle(self):
        result = load_compare().summary([(1, 1), (2, 1), (4, 1), (8, 1), (16, 1), (32, 1)])
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


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
