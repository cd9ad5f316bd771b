#!/usr/bin/env python3
"""Checks the repository rules that a regular expression can see."""

import re
import sys

import tree

libraries = ("runtime", "kernels", "jit", "models")
vague_names = re.compile(r"(^|_)(utils?|common|helpers?|managers?|misc)(_|$)")

# (what is wrong, pattern, where it applies)
code_rules = [
    ("use invariant() or usage_error(), not assert", re.compile(r"(?<!static_)\bassert\s*\("),
     lambda path: path.suffix != ".cu"),  # where it is CUDA's
    ("environment variables are read in runtime/options.cpp", re.compile(r"\bgetenv\b"),
     lambda path: str(path) != "runtime/options.cpp" and path.parts[0] in libraries),
    ("using namespace", re.compile(r"\busing\s+namespace\b"), lambda path: True),
    ("libraries do not print to std::cout", re.compile(r"\bstd::cout\b|<iostream>"),
     lambda path: path.parts[0] in libraries),
    ("fmt stays out of headers that are installed", re.compile(r"#\s*include\s*<fmt/"),
     lambda path: path.suffix == ".h" and path.parts[0] in ("runtime", "jit")
     and path.parent.name != "pch"),
    ("numbers must not follow the locale; use fmt or std::to_chars",
     re.compile(r"\b(atof\s*\(|strtod\s*\(|strtof\s*\(|std::sto[fdil]+\s*\()"),
     lambda path: path.parts[0] in libraries),
]
text_rules = [
    ("unfinished", re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")),
    ("a path of somebody's machine", re.compile(r"(?<![\w./}])/(home|mnt|opt|root|srv|tmp|Users|work)\b")),
    ("trailing white space", re.compile(r"[ \t]+$", re.MULTILINE)),
    ("no newline at the end", re.compile(r"[^\n]\Z")),
]
text_suffixes = {".cpp", ".h", ".def", ".cu", ".cuh", ".py", ".sh", ".md", ".build", ".txt", ""}


def line_of(text, match):
    return text.count("\n", 0, match.start()) + 1


def check_text(path):
    text = tree.read(path)
    for problem, pattern in text_rules:
        for match in pattern.finditer(text):
            yield f"{path}:{line_of(text, match)}: {problem}"
    if path.suffix not in (".cpp", ".h", ".cu", ".cuh"):
        return
    code = tree.without_comments_and_strings(text)
    for problem, pattern, applies in code_rules:
        if applies(path):
            for match in pattern.finditer(code):
                yield f"{path}:{line_of(code, match)}: {problem}"


def check_own_header(path):
    """x.cpp includes x.h first, and x.h may be included twice: so it needs no other check."""
    text = tree.read(path)
    alone = path.parent.name == "pch"  # where a compiler warns of it
    if path.suffix == ".h" and not alone and "#pragma once\n" not in text:
        yield f"{path}: no #pragma once"
    header = path.with_suffix(".h")
    if path.suffix == ".cpp" and (tree.root / header).is_file():
        first = re.search(r"^\s*#\s*include\s*(.*)$", text, re.MULTILINE)
        if not first or first.group(1) != f'"{header}"':
            yield f"{path}: the first include is not {header}"


def check_name(path):
    if path.parts[0] not in tree.code_folders:
        return
    if vague_names.search(path.stem):
        yield f"{path}: a name that says nothing"
    if path.suffix in (".cpp", ".h", ".py") and not re.fullmatch(r"[a-z0-9_]+", path.stem):
        yield f"{path}: file names are snake_case"
    if path.parts[0] == "tests" and path.suffix == ".cpp" and "TEST_CASE" in tree.read(path):
        if not path.stem.endswith("_test"):
            yield f"{path}: files of test cases are named <subject>_test.cpp"


def check_build_lists():
    """Every source is listed in a meson.build of its folder or above, and lists are sorted."""
    listed = set()
    for build in tree.files(".build"):
        text = tree.read(build)
        listed |= {build.parent / name for name in re.findall(r"'([^']+\.\w+)'", text)}
        for block in re.findall(r"files\(\n(.*?)\n?\s*\)", text, re.DOTALL):
            names = re.findall(r"'([^']+)'", block)
            if names != sorted(names):
                yield f"{build}: not sorted: {', '.join(names)}"
    for path in tree.sources():
        if path.parts[0] in tree.code_folders and path.suffix != ".def" and path not in listed:
            yield f"{path}: no meson.build lists it"


def main():
    problems = []
    for path in tree.files():
        problems += check_name(path)
        if path.suffix in text_suffixes:
            problems += check_text(path)
        if path.suffix in (".cpp", ".h"):
            problems += check_own_header(path)
    problems += check_build_lists()
    return tree.report("check_rules", problems)


if __name__ == "__main__":
    sys.exit(main())
