#!/usr/bin/env python3
"""Writes the headers that generated kernels begin with as one text.

    embed_prelude.py ROOT HEADER OUTPUT DEPFILE [INCLUDED=REPLACEMENT...]

HEADER and what it includes from ROOT are put in place of their #include lines, each header once and
each table (.def) wherever it is included; other #include lines stay. Comments go. Where a device
has its own version of a header, or of a standard one (`<cstdint>`), the REPLACEMENT is taken in its
place. An OUTPUT that ends in .inc is the text as C++ strings, parts of it that a compiler must be able to
take, with a comma after each; any other is the text itself.
"""

import pathlib
import re
import sys

include = re.compile(r'\s*#include ("[^"]+"|<[^>]+>)')
comment = re.compile(r"//.*$")


most_characters = 60_000  # of a string, which compilers need take 65,536 of


class Expansion:
    def __init__(self, root, replacements):
        self.root, self.replacements = root, replacements
        self.done, self.lines = [], []

    def add(self, name):
        if not name.endswith(".def"):
            if name in self.done:
                return
            self.done.append(name)
        for line in (self.root / name).read_text().splitlines():
            found = include.match(line)
            text = comment.sub("", line).rstrip()
            if found and (header := self.header(found.group(1))):
                self.add(header)
            elif text and text != "#pragma once":
                self.lines.append(text)

    def header(self, included):
        """The file to put in the place of an #include line, or none for it to stay."""
        name = included.strip('"')
        return self.replacements.get(name) or (None if name.startswith("<") else name)


def parts_of(text):
    return [text[at:at + most_characters] for at in range(0, len(text), most_characters)]


def main():
    root, header, output, depfile = pathlib.Path(sys.argv[1]), *sys.argv[2:5]
    expansion = Expansion(root, dict(argument.split("=") for argument in sys.argv[5:]))
    expansion.add(header)
    lines = expansion.lines
    standard = sorted({line for line in lines if line.startswith("#include <")})
    text = "\n".join(standard + [line for line in lines if line not in standard]) + "\n"
    assert ')prelude"' not in text
    if output.endswith(".inc"):
        text = "".join(f'R"prelude({part})prelude",\n' for part in parts_of(text))
    pathlib.Path(output).write_text(text)
    dependencies = " ".join(str(root / name) for name in expansion.done)
    pathlib.Path(depfile).write_text(f"{output}: {dependencies}\n")


if __name__ == "__main__":
    main()
