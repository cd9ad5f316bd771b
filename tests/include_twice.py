#!/usr/bin/env python3
"""Writes a source file that includes one header twice and nothing else."""

import pathlib
import sys

header, output = sys.argv[1:]
pathlib.Path(output).write_text(f'#include "{pathlib.Path(header).resolve()}"\n' * 2)
