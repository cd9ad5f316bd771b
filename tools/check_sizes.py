#!/usr/bin/env python3
"""Checks that files have at most 500 lines and functions at most 60. There are no exemptions."""

import json
import subprocess
import sys

import tree

most_lines = 500
most_function_lines = 60


def long_functions(paths):
    tags = subprocess.run(
        ["ctags", "--languages=C++,Python,Sh", "--langmap=C++:+.def.cu.cuh", "--fields=+ne", "--output-format=json",
         "--kinds-C++=f", "--kinds-Python=fm", "--kinds-Sh=f", "-f", "-", *map(str, paths)],
        cwd=tree.root, check=True, capture_output=True, text=True,
    ).stdout
    for line in tags.splitlines():
        tag = json.loads(line)
        length = tag.get("end", tag["line"]) - tag["line"] + 1
        if length > most_function_lines:
            yield f"{tag['path']}:{tag['line']}: {tag['name']} has {length} lines"


def main():
    sources = tree.sources() + tree.files(".py", ".sh")
    problems = []
    for path in sources:
        lines = tree.read(path).count("\n")
        if lines > most_lines:
            problems.append(f"{path}: {lines} lines")
    problems += long_functions(sources)
    return tree.report("check_sizes", problems)


if __name__ == "__main__":
    sys.exit(main())
