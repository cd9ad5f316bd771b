"""What the programs say to arguments, files and an environment that make no sense.

Each refusal is one line on stderr that names the program and what was wrong, nothing on stdout, and
status 2 (or 1); never a signal, never a hang.

Usage: programs_test.py BUILD
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else pathlib.Path("build").resolve()
CAPTIONER = BUILD / "models" / "captioner"
THROUGHPUT = BUILD / "bench" / "throughput"
PRODUCTS = BUILD / "bench" / "products"

# A model small enough to be made in no time.
SHORT = ("--steps", "1", "--batch", "2", "--warmup", "0", "--workers", "0")
QUICK = ("--warmup", "0", "--active", "1", "--distinct", "1", "--batch", "1")


class Refusals(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def run_program(self, program, *arguments, **environment):
        return subprocess.run(
            [program, *map(str, arguments)], capture_output=True, text=True, timeout=120,
            stdin=subprocess.DEVNULL, cwd=self.folder, env=os.environ | environment, check=False)

    def refused(self, parts, program, *arguments, **environment):
        """The program refuses the arguments with one line that has all the parts in it."""
        with self.subTest(program=program.name, arguments=arguments, environment=environment):
            done = self.run_program(program, *arguments, **environment)
            self.assertIn(done.returncode, (1, 2), done.stderr)
            self.assertEqual(done.stdout, "")
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertTrue(done.stderr.startswith(program.name + ": "), done.stderr)
            for part in (parts,) if isinstance(parts, str) else parts:
                self.assertIn(part, done.stderr)

    def trained(self):
        """A checkpoint of one step."""
        where = self.folder / "trained"
        done = self.run_program(CAPTIONER, "train", *SHORT, "--out", where)
        self.assertEqual(done.returncode, 0, done.stderr)
        return where

    def test_a_command_is_needed(self):
        for arguments in ((), ("fly",), ("",), ("--nope",), ("-h",)):
            done = self.run_program(CAPTIONER, *arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("usage: captioner COMMAND", done.stderr)
            self.assertEqual(bool(arguments and arguments[0]), "no command" in done.stderr)
        self.assertEqual(self.run_program(CAPTIONER, "--help").returncode, 0)

    def test_options_that_do_not_exist_or_have_no_value(self):
        for program, command in ((CAPTIONER, "train"), (CAPTIONER, "eval"), (CAPTIONER, "caption"),
                                 (THROUGHPUT, None)):
            before = [command] if command else []
            self.refused("--nope: no such option", program, *before, "--nope")
            self.refused("--nope: no such option", program, *before, "--nope=3")
            self.refused("nope: not an option", program, *before, "nope")
            self.refused("-x: not an option", program, *before, "-x")
            self.refused("--: no such option", program, *before, "--")
            self.refused("--help takes no value", program, *before, "--help=yes")
        for program, before, option in ((CAPTIONER, ["train"], "--steps"),
                                        (CAPTIONER, ["train"], "--out"),
                                        (CAPTIONER, ["eval"], "--checkpoint"),
                                        (THROUGHPUT, [], "--batches")):
            self.refused(f"{option}: the value is missing", program, *before, option)

    def test_values_that_are_no_numbers(self):
        whole = ("", " 1", "1 ", "x", "1.5", "1e3", "0x10", "+1", "99999999999999999999", "nan")
        for value in whole:
            self.refused(("--steps: ", "whole number"), CAPTIONER, "train", "--steps", value)
            self.refused(("--active: ", "whole number"), THROUGHPUT, "--active", value)
            self.refused(("--samples: ", "whole number"), CAPTIONER, "eval", "--samples", value)
        self.refused(("--seed: -1", "whole number"), CAPTIONER, "train", "--seed", "-1")
        self.refused(("--workers: ", "whole number"), CAPTIONER, "train", "--workers", 1 << 40)
        for value in ("", "x", "1,5", "0.1.2", "--rate", "1e999"):
            self.refused(("--rate: ", "a number"), CAPTIONER, "train", "--rate", value)

    def test_values_out_of_range(self):
        def train(part, *arguments):
            self.refused(part, CAPTIONER, "train", *SHORT, "--out", self.folder / "o", *arguments)

        train("steps is 0", "--steps", 0)
        train("steps is -1", "--steps", -1)
        train("batch is 0", "--batch", 0)
        train("batch is -8", "--batch", -8)
        train("accumulation is 0", "--accumulation", 0)
        train("accumulation is -1", "--accumulation", -1)
        train("equal parts", "--accumulation", 3)
        train("warmup_steps is -1", "--warmup", -1)
        for value in ("nan", "-1", "inf"):
            train("learning_rate is", "--rate", value)
            train("weight_decay is", "--weight-decay", value)
        train("clip_norm is nan", "--clip", "nan")
        train("clip_norm is -1", "--clip", -1)
        for value in ("1", "-0.5", "nan"):
            train("beta2 is", "--beta2", value)
        for value in ("1", "1.5", "inf"):
            train("pdrop is", "--dropout", value)
        train("--dropout", "--dropout", "nan")
        train("workers", "--workers", -1)
        train("workers", "--workers", 1_000_000)
        train("--save-every", "--save-every", -1)
        train("--stop-after", "--stop-after", -1)
        for value in (1 << 21, 1 << 50, (1 << 63) - 1):
            train("batch is", "--batch", value)

        for value in (0, -3):
            self.refused("--samples", CAPTIONER, "eval", "--samples", value)
            self.refused("--count", CAPTIONER, "caption", "--count", value)
        for value in (-1, (1 << 63) - 1):
            self.refused("--first", CAPTIONER, "caption", "--first", value)

        def measure(part, *arguments):
            self.refused(part, THROUGHPUT, *QUICK, *arguments)

        measure("--active", "--active", 0)
        measure("--active", "--active", -1)
        measure("--warmup", "--warmup", -1)
        measure("--distinct", "--distinct", 0)
        measure("--batch", "--batch", -1)
        measure("--align", "--align", 0)
        measure("--align", "--align", -2)
        measure("threads", "--threads", -1)
        measure("threads", "--threads", 100_000)
        for value in ("1", "-0.1", "nan"):
            measure("pdrop is", "--dropout", value)
        for value in ("x", "8", "8x4", "8x4x", "8x4x2x1", "8x4x0", "-8x4x2", "8x4x2,", "8,4,2"):
            self.refused("such as 64x32x16", PRODUCTS, "--shapes", value)
        for value in (-1, "nan"):
            self.refused("--seconds", PRODUCTS, "--seconds", value)
        measure("--batch", "--batch", 1 << 50)

    def test_words_that_are_none_of_the_allowed(self):
        self.refused(("--preset: large", "tiny, small, base"), CAPTIONER, "train", "--preset",
                     "large")
        self.refused(("--data: ", "digits, synthetic"), CAPTIONER, "train", "--data", "")
        for option, allowed in (("preset", "tiny, small, base"), ("collate", "max, longest"),
                                ("dtype", "f32, bf16"), ("level", "interpret, eager")):
            self.refused((f"--{option}: nope", allowed), THROUGHPUT, f"--{option}=nope")

    def test_directories_that_are_not_there_or_cannot_be_written(self):
        taken = self.folder / "file"
        taken.write_text("mine")
        for out in (taken, taken / "below", "/proc/none"):
            self.refused("no directory that can be written", CAPTIONER, "train", "--out", out)
        for option in ("--out", "--resume"):
            self.refused(f"{option}: the value is empty", CAPTIONER, "train", option, "")
        self.assertEqual(taken.read_text(), "mine")
        for command, option in (("eval", "--checkpoint"), ("caption", "--checkpoint"),
                                ("train", "--resume")):
            for where in (self.folder / "none", taken, self.folder):
                self.refused(str(where), CAPTIONER, command, option, where)
        self.refused("none.safetensors", THROUGHPUT, *QUICK, "--batches", "none.safetensors")
        self.refused("file: ", THROUGHPUT, *QUICK, "--batches", taken)
        self.refused(str(self.folder), THROUGHPUT, *QUICK, "--batches", self.folder)

    def test_checkpoints_that_are_damaged(self):
        whole = self.trained()
        names = sorted(path.name for path in whole.iterdir())
        self.assertEqual(names, ["config.json", "model.safetensors", "optimizer.safetensors",
                                 "trainer.json"])
        for name in names:
            content = (whole / name).read_bytes()
            for damaged in (None, b"", content[:5], content[:len(content) // 2],
                            content.replace(b"[", b"{"), b"\0" * len(content)):
                if damaged == content:
                    continue
                copy = self.folder / "copy"
                shutil.rmtree(copy, ignore_errors=True)
                shutil.copytree(whole, copy)
                if damaged is None:
                    (copy / name).unlink()
                    (copy / name).mkdir()
                else:
                    (copy / name).write_bytes(damaged)
                self.refused(name, CAPTIONER, "train", "--resume", copy, "--out", copy)
                if name in ("config.json", "model.safetensors"):
                    self.refused(name, CAPTIONER, "eval", "--samples", 1, "--checkpoint", copy)
                    self.refused(name, CAPTIONER, "caption", "--count", 1, "--checkpoint", copy)

    def test_checkpoints_of_other_models(self):
        where = self.trained()
        config = (where / "config.json").read_text()
        for old, new in (('"image_size": 32', '"image_size": 64'),
                         ('"num_hidden_layers": 2', '"num_hidden_layers": 3'),
                         ('"vocab_size": 1024', '"vocab_size": 1000000000000'),
                         ('"n_positions": ', '"n_positions": 1')):
            self.assertIn(old, config)
            (where / "config.json").write_text(config.replace(old, new))
            self.refused("", CAPTIONER, "eval", "--samples", 1, "--checkpoint", where)
            self.refused("", CAPTIONER, "train", "--resume", where)

    def test_environments(self):
        commands = ((CAPTIONER, "train", *SHORT), (CAPTIONER, "eval"), (THROUGHPUT, *QUICK))
        for variable, allowed, values in (
                ("SINTER_LEVEL", "interpret, eager", ("fast", "EAGER", " eager", "1")),
                ("SINTER_THREADS", "1 to 1024", ("0", "-1", "two", "1.5", "1025", "9" * 30)),
                ("SINTER_CPU", "auto, avx512, avx2, portable", ("avx", "AVX2", "sse")),
                ("SINTER_LOGS", "graph_breaks, recompiles", ("plans", "plan,,cache", "+"))):
            for value in values:
                for program, *arguments in commands:
                    self.refused((variable, allowed), program, *arguments, **{variable: value})
        done = self.run_program(THROUGHPUT, *QUICK, SINTER_LEVEL="", SINTER_THREADS="",
                                SINTER_CPU="", SINTER_LOGS="", SINTER_OTHER="x")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_without_a_compiler_fused_runs_the_kernels_of_eager(self):
        found = {}
        for level, path in (("eager", os.environ["PATH"]), ("fused", str(self.folder))):
            done = self.run_program(
                THROUGHPUT, "--preset", "tiny", *QUICK, "--json", PATH=path,
                SINTER_LEVEL=level, SINTER_CACHE=str(self.folder / "kernels"))
            self.assertEqual(done.returncode, 0, done.stderr)
            found[level] = json.loads(done.stdout.splitlines()[-1])["loss"], done.stderr
        self.assertEqual(found["eager"][0], found["fused"][0])
        self.assertEqual(found["fused"][1].count("compiler"), 1, found["fused"][1])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
