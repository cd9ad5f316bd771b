#!/usr/bin/env python3
"""Checks that code compiled for one instruction set keeps its symbols to itself.

The linker keeps one copy of an inline function or template that several objects define. If the copy
it keeps came from an object compiled for AVX-512, every machine without it crashes. So these
objects may define only symbols that name their instruction set. Usage: check_isa_symbols.py BUILD
"""

import pathlib
import re
import subprocess
import sys

import tree


def main(build):
    problems = []
    for isa in ("avx2", "avx512"):
        for item in sorted(pathlib.Path(build).glob(f"libsinter_{isa}.a.p/*.o")) + sorted(
            pathlib.Path(build).glob(f"kernels/libsinter_{isa}.a.p/*.o")
        ):
            names = subprocess.run(
                ["nm", "--defined-only", "--extern-only", item],
                check=True, capture_output=True, text=True,
            ).stdout
            for line in names.splitlines():
                symbol = line.split()[-1]
                if not re.search(rf"{len(isa)}{isa}", symbol) and symbol != "DW.ref.__gxx_personality_v0":
                    shown = subprocess.run(
                        ["c++filt", symbol], check=True, capture_output=True, text=True
                    ).stdout.strip()
                    problems.append(f"{isa}/{item.stem}: defines {shown}")
    return tree.report("check_isa_symbols", problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
