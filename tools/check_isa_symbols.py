#!/usr/bin/env python3
"""Checks that code compiled for one instruction set keeps its symbols to itself.

The linker keeps one copy of an inline function or template that several objects define. If the copy
it keeps came from an object compiled for AVX-512, every machine without it crashes. So these
objects may define only symbols that name their instruction set. Usage: check_isa_symbols.py BUILD
"""

import pathlib
import platform
import subprocess
import sys

import tree


def foreign_symbols(item, isa):
    """The symbols an object defines for others to see and that do not name the instruction set."""
    listed = subprocess.run(
        ["nm", "--defined-only", "--extern-only", item], check=True, capture_output=True, text=True
    ).stdout
    for line in listed.splitlines():
        symbol = line.split()[-1]
        if f"{len(isa)}{isa}" not in symbol and symbol != "DW.ref.__gxx_personality_v0":
            yield subprocess.run(
                ["c++filt", symbol], check=True, capture_output=True, text=True
            ).stdout.strip()


def main(build):
    problems = []
    for isa in ("avx2", "avx512") if platform.machine() == "x86_64" else ():
        objects = sorted(pathlib.Path(build).glob(f"kernels/libsinter_{isa}.a.p/*.o"))
        if not objects:
            problems.append(f"no objects for {isa} in {build}")
        for item in objects:
            for symbol in foreign_symbols(item, isa):
                problems.append(f"{isa}/{item.stem}: defines {symbol}")
    return tree.report("check_isa_symbols", problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
