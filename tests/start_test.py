"""Runs tools/start with a handful of steps: it builds, trains, measures and shows captions.

Usage: start_test.py BUILD
"""

import pathlib
import re
import subprocess
import sys
import tempfile

import documents

expected = (
    r"^held-out digits \d+\.\d %, captions \d+\.\d % of 1000$",
    r"^  caption: \S",
    r"^  truth:   (zero|one|two|three|four|five|six|seven|eight|nine)\b",
)


def main():
    with tempfile.TemporaryDirectory() as folder:
        ran = subprocess.run(
            ["tools/start", "--steps", "3", "--out", folder + "/checkpoint"],
            cwd=documents.root, capture_output=True, text=True, stdin=subprocess.DEVNULL,
        )
        missing = [line for line in expected if not re.search(line, ran.stdout, re.MULTILINE)]
        saved = pathlib.Path(folder, "checkpoint", "model.safetensors").is_file()
    if ran.returncode == 0 and not missing and saved:
        return 0
    print(ran.stdout, ran.stderr, sep="\n")
    print(f"status {ran.returncode}, checkpoint {saved}, not in the output: {missing}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
