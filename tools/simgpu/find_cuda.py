#!/usr/bin/env python3
"""Prints the folder of the toolkit's cuda.h, of CUDA 13; nothing where there is none.

    find_cuda.py TOOLKIT BUILD_FOLDER

Looked for are TOOLKIT, the environment's SINTER_CUDA_PATH, /usr/local/cuda*, and what tools/test
installed in the build folder.
"""

import os
import pathlib
import re
import sys


def is_cuda_13(folder):
    try:
        text = (folder / "cuda.h").read_text(encoding="latin-1")
    except OSError:
        return False
    found = re.search(r"^#define CUDA_VERSION (\d+)", text, re.MULTILINE)
    return (found is not None and int(found[1]) // 1000 == 13
            and (folder / "cudaTypedefs.h").is_file())


def candidates(toolkit, build):
    for path in (toolkit, os.environ.get("SINTER_CUDA_PATH", "")):
        if path:
            yield pathlib.Path(path) / "include"
    yield from sorted(pathlib.Path("/usr/local").glob("cuda*/include"))
    yield from pathlib.Path(build).glob("nvrtc/lib/python3*/site-packages/nvidia/cu13/include")


def main(toolkit, build):
    print(next((str(folder) for folder in candidates(toolkit, build) if is_cuda_13(folder)), ""))


if __name__ == "__main__":
    main(*sys.argv[1:])
