"""Resumes training runs of the captioner: its options come from the checkpoint or are refused.

Usage: resume_test.py BUILD
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile


def check_damage(directory, train, expect):
    """What a record says wrongly, and pipes in the place of files, are refused."""
    for name, value, said in (("data", "foo", "--data: foo is none of digits, synthetic"),
                              ("preset", "huge", "--preset: huge is none of"),
                              ("steps", 1 << 63, "the checkpoint says steps"),
                              ("loader.position", 1 << 63, "the checkpoint says loader")):
        path = next(pathlib.Path(directory).rglob("trainer.json"))
        sound = path.read_text()
        path.write_text(json.dumps(json.loads(sound) | {name: value}))
        ran = train("--resume", directory)
        expect(f"{name} {value} in the record", ran.returncode == 2 and said in ran.stderr, ran)
        path.write_text(sound)
    for name in ("trainer.json", "model.safetensors", "config.json"):
        path = pathlib.Path(directory, name)
        sound = path.read_bytes()
        path.unlink()
        os.mkfifo(path)
        ran = train("--resume", directory)
        expect(f"a pipe for {name}",
               ran.returncode == 2 and f"{name}: is no file" in ran.stderr, ran)
        path.unlink()
        path.write_bytes(sound)


def main(build):
    captioner = pathlib.Path(build, "models", "captioner")
    problems = []

    def train(*options):
        return subprocess.run([captioner, "train", *options], capture_output=True, text=True,
                              timeout=60)

    def expect(what, holds, ran):
        if not holds:
            problems.append(f"{what}: status {ran.returncode}\n{ran.stdout}{ran.stderr}")

    def record(directory):
        return json.loads(next(pathlib.Path(directory).rglob("trainer.json")).read_text())

    with tempfile.TemporaryDirectory() as folder:
        first, second = folder + "/first", folder + "/second"
        ran = train("--data", "synthetic", "--steps", "4", "--batch", "2", "--stop-after", "2",
                    "--out", first)
        expect("first run", ran.returncode == 0, ran)
        for option, value, kept in (("--data", "digits", "synthetic"), ("--preset", "base", "tiny"),
                                    ("--steps", "9", "4"), ("--rate", "1", "0.0015"),
                                    ("--dropout", "0.5", "0.1"), ("--seed", "7", "1")):
            ran = train("--resume", first, option, value)
            line = f"captioner: {option} {value}: the checkpoint in {first} has {kept}, and goes on"
            expect(f"{option} differs", ran.returncode == 2 and ran.stderr.startswith(line)
                   and ran.stderr.count("\n") == 1, ran)
        ran = train("--resume", first, "--bf16")
        expect("--bf16 differs", ran.returncode == 2 and "--bf16" in ran.stderr, ran)

        ran = train("--resume", first, "--data", "synthetic", "--stop-after", "3")
        expect("resumed in place", ran.returncode == 0 and record(first)["steps"] == 3, ran)
        expect("keeps the data", record(first)["data"] == "synthetic", ran)
        ran = train("--resume", first, "--out", second)
        expect("resumed elsewhere", ran.returncode == 0 and record(second)["steps"] == 4
               and record(first)["steps"] == 3, ran)
        third = folder + "/third"
        ran = train("--resume", second, "--out", third)
        expect("nothing left", ran.returncode == 0 and "no step is left: 4 of 4" in ran.stdout
               and record(third)["steps"] == 4, ran)
        check_damage(third, train, expect)
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
