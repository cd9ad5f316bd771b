#!/usr/bin/env python3
"""Checks that code compiled for one instruction set runs only where somebody has asked for it.

The linker keeps one copy of an inline function or template that several objects define. If the copy
it keeps came from an object compiled for AVX-512, every machine without it crashes. So these
objects may define only symbols that name their instruction set, and no initialisers, which run
when the program is loaded. Usage: check_isa_symbols.py BUILD
"""

import pathlib
import platform
import subprocess
import sys

import tree


libraries = [
    ("kernels/libsinter", "avx2"),
    ("kernels/libsinter", "avx512"),
    ("tools/simgpu/libsimgpu", "avx2"),
]


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


def has_initialisers(item):
    listed = subprocess.run(["objdump", "-h", item], check=True, capture_output=True, text=True)
    return any(f" {section}" in listed.stdout for section in (".init_array", ".ctors"))


def main(build):
    problems = []
    for library, isa in libraries if platform.machine() == "x86_64" else ():
        objects = sorted(pathlib.Path(build).glob(f"{library}_{isa}.a.p/*.o"))
        if not objects:
            problems.append(f"no objects of {library} for {isa} in {build}")
        for item in objects:
            for symbol in foreign_symbols(item, isa):
                problems.append(f"{library}_{isa}: {item.stem} defines {symbol}")
            if has_initialisers(item):
                problems.append(f"{library}_{isa}: {item.stem} runs code when it is loaded")
    return tree.report("check_isa_symbols", problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
