"""Every command that a document shows is run by a test, and every path it names exists.

Usage: documents_test.py BUILD
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import documents

# Each command of a ```sh block, and the test that runs it. `here` ones are run below, in the root
# of the repository, with BUILD in the place of `build`.
run_by = {
    "tools/start": "tests/start_test.py",
    "tools/test": "tools/test",
    "tools/test --full": "tools/test",
    "meson setup build": "tools/setup.sh",
    "meson install -C build": "tests/install_test.py",
    "c++ -std=c++20 example.cpp $(pkg-config --cflags --libs sinter) -o example":
        "tests/install_test.py",
    "./example": "tests/install_test.py",
    "ninja -C build": "here",
    "build/models/captioner train --steps 20 --out build/example": "here",
    "build/models/captioner eval --checkpoint build/example --samples 100": "here",
    "build/models/captioner caption --checkpoint build/example --count 2": "here",
    "build/bench/throughput --preset tiny --warmup 2 --active 10": "here",
    "build/bench/ops --host-only": "here",
    "build/tools/sinter-fuzz --minutes 60 --seed 1000": "tests/fuzz_program_test.py",
    "build/tools/sinter-fuzz --print 1000": "tests/fuzz_program_test.py",
    "tools/inspect minify graph.json": "tests/fuzz_program_test.py",
    "SINTER_TRACE_DIR=build/trace build/bench/throughput --preset tiny --warmup 1 "
    "--active 1": "here",
    "tools/inspect kernels --trace build/trace": "here",
    "tools/inspect kernel 0 --trace build/trace --out build": "here",
    "tools/cache list": "here",
    "tools/cache verify": "here",
    "tools/cache prune --to 256M": "here",
}


def commands():
    for block in documents.blocks():
        if block.language == "sh":
            for line in block.text.splitlines():
                command = line.split(" #")[0].strip()
                if command:
                    yield block.document, command


def check_paths():
    """A path in back quotes whose first folder is one of the tree's must exist."""
    folders = "runtime|kernels|jit|models|fuzz|tests|bench|tools|include"
    for name in documents.names:
        text = (documents.root / name).read_text(encoding="utf-8")
        for path in re.findall(rf"`((?:{folders})/[\w./-]*)`", text):
            if not (documents.root / path).exists():
                yield f"{name}: there is no {path}"


def check_variables():
    """The README's table of environment variables is the one of the code."""
    read = re.findall(r'OptionInfo\{"(\w+)"', (documents.root / "runtime/options.cpp").read_text())
    shown = re.findall(r"^\| `(SINTER_\w+)` ", (documents.root / "README.md").read_text(), re.MULTILINE)
    if read != shown:
        yield f"README.md shows the variables {shown}, runtime/options.cpp reads {read}"


def main(build):
    problems = [*check_paths(), *check_variables()]
    shown = {}  # in the order of the documents: one may need what another has made
    for document, command in commands():
        shown[command] = document
        if command not in run_by:
            problems.append(f"{document}: no test runs `{command}`")
    problems += [f"no document shows `{command}`" for command in run_by.keys() - shown.keys()]
    problems += [
        f"there is no {test}" for test in sorted(set(run_by.values()) - {"here"})
        if not (documents.root / test).exists()
    ]
    shutil.rmtree(os.path.join(build, "trace"), ignore_errors=True)  # of the last time
    for command in (command for command in shown if run_by.get(command) == "here"):
        status = subprocess.run(
            re.sub(r"\bbuild\b", build, command), shell=True, cwd=documents.root,
            stdin=subprocess.DEVNULL,
            env=os.environ | {"SINTER_CACHE": os.path.join(build, "documents-cache")},
        ).returncode
        if status != 0:
            problems.append(f"`{command}` failed with {status}")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
