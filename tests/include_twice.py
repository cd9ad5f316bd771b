#!/usr/bin/env python3
"""Writes a source file that includes one header twice and nothing else.

A header x.h beside an x.cpp is not compiled once more: x.cpp includes it first, which shows the same
(tools/check_rules.py holds both that and the header's #pragma once).
"""

import pathlib
import sys

header, output = (pathlib.Path(argument) for argument in sys.argv[1:])
if header.with_suffix(".cpp").exists():
    text = f"// {header.stem}.cpp includes this header first.\n"
else:
    text = f'#include "{header.resolve()}"\n' * 2
output.write_text(text)
