#!/usr/bin/env python3
"""Checks who includes whom.

runtime includes runtime; kernels include kernels and the few runtime headers below; jit includes
both; models, bench and embedders include <sinter/sinter.h>; fuzz includes runtime and jit, and is
included by tests and tools; nobody includes tests, bench, tools. The simulated GPU, tools/simgpu,
stands alone: it includes itself, and tests/simgpu includes it.
Inside jit no stage includes a later one. Installed headers include relative to their own folder, so
that they work wherever they are installed; every other file includes from the root.
"""

import posixpath
import re
import sys

import tree

kernels_may_see = {
    "runtime/dtype.h", "runtime/error.h", "runtime/memory.h", "runtime/op.h",
    "runtime/ops.def", "runtime/shape.h", "runtime/storage.h",
}  # and runtime/cpu/
folders_seen = {
    "runtime": {"runtime"},
    "kernels": {"kernels"},
    "jit": {"runtime", "kernels", "jit"},
    "models": {"models", "sinter"},
    "bench": {"bench", "models", "sinter"},
    "fuzz": {"runtime", "jit", "fuzz"},
    "tools": {"runtime", "kernels", "jit", "models", "sinter", "fuzz", "tools"},
    "tests": {"runtime", "kernels", "jit", "models", "sinter", "fuzz", "tests"},
    "include": {"jit"},
}

# The stages of jit in the order data flows. `fuse` stands for fuse.h, fuse.cpp and fuse_*.
# Stages of one row may include each other.
jit_order = [
    ["trace"],
    ["list_fold"],
    ["decompose"],
    ["size_rules"],
    ["size_classes"],
    ["axes"],
    ["reading", "cost", "map"],
    ["simplify", "gather_folds"],
    ["layout"],
    ["fuse"],
    ["recompute"],
    ["tighten", "loop"],
    ["schedule"],
    ["step", "elements", "alias", "fallible"],
    ["interpret", "eager"],
    ["join_maps"],
    ["plan"],
    ["emit", "prelude"],
    ["digest", "file"],
    ["host"],
    ["kernel"],
    ["nvrtc"],
    ["value_memory"],
    ["live_values", "observer", "launch", "cuda_launch", "group_launch"],
    ["arena"],
    ["memory_plan"],
    ["layouts", "traffic"],
    ["lower"],
    ["forms"],
    ["program"],
    ["guard"],
    ["execute", "run_plan"],
    ["finite_check", "shadow", "report"],
    ["inspect"],
    ["statistics"],
    ["evaluate"],
    ["sinter"],
]

# Written by the build.
generated = {"jit/cuda_prelude.inc", "jit/prelude.inc", "tests/simulated_prelude.cuh",
             "tools/kernel_frame.inc"}

include_line = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.MULTILINE)


def rank(path):
    """The row of a jit file, or None where it has no place yet."""
    stem = path.stem
    for index, stages in enumerate(jit_order):
        if any(stem == stage or stem.startswith(stage + "_") for stage in stages):
            return index
    return None


def installed_headers():
    """Headers named in the `*_public_headers` lists of the build."""
    found = set()
    for folder in ("runtime", "jit"):
        text = tree.read(f"{folder}/meson.build")
        for block in re.findall(r"_public_headers = files\((.*?)\)", text, re.DOTALL):
            found |= {f"{folder}/{name}" for name in re.findall(r"'([^']+)'", block)}
        found |= {f"{folder}/{name}" for name in re.findall(r"files\('([^']+)'\)", text)}
    return found


def target_of(path, quote, name, installed):
    """The included file relative to the root, None for foreign ones; or a problem."""
    if quote == "<":
        return (name, None) if name == "sinter/sinter.h" else (None, None)
    relative = posixpath.normpath(posixpath.join(str(path.parent), name))
    if str(path) in installed or path.parts[0] == "include":
        if relative in installed:
            return relative, None
        return None, f'installed header includes "{name}", which is not an installed header beside it'
    if name in generated:
        return name, None
    if "/" not in name or not (tree.root / name).is_file():
        return None, f'"{name}" is not a path from the root'
    return name, None


def problem_of(path, target):
    folder, seen = path.parts[0], target.split("/")[0]
    if "simgpu" in (path.parts[1], *target.split("/")[1:2]):
        allowed = {"tools": ("tools/simgpu/",), "tests": ("tools/simgpu/", "tests/", "jit/", "runtime/cuda/nvrtc_library.h")}
        if path.parts[1] != "simgpu" or not target.startswith(allowed[folder]):
            return f"{path.parent} may not include {target}"
        return None
    if folder == "kernels" and seen == "runtime":
        if target not in kernels_may_see and not target.startswith("runtime/cpu/"):
            return f"kernels may not see {target}"
        return None
    if seen not in folders_seen[folder]:
        return f"{folder} may not include {target}"
    if folder == "jit" and seen == "jit":
        mine, theirs = rank(path), rank(tree.pathlib.PurePosixPath(target))
        if mine is not None and theirs is not None and theirs > mine:
            return f"{target} is a later stage"
    return None


def main():
    installed = installed_headers()
    problems = []
    for path in tree.sources():
        if path.parts[0] not in folders_seen:
            continue
        if path.parts[0] == "jit" and rank(path) is None:
            problems.append(f"{path}: give it a place in jit_order of tools/check_layers.py")
        for quote, name in include_line.findall(tree.read(path)):
            target, problem = target_of(path, quote, name, installed)
            problem = problem or (target and problem_of(path, target))
            if problem:
                problems.append(f"{path}: {problem}")
    return tree.report("check_layers", problems)


if __name__ == "__main__":
    sys.exit(main())
