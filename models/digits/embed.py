#!/usr/bin/env python3
"""Prints the digits as a C++ table: `embed.py digits.csv digits_table.cpp`."""

import pathlib
import sys

values_of_a_digit = 8 * 8 + 1


def main(source, target):
    rows = [[int(cell) for cell in line.split(",")] for line in pathlib.Path(source).read_text().split()]
    for number, row in enumerate(rows, 1):
        if len(row) != values_of_a_digit or max(row[:-1]) > 16 or min(row) < 0 or row[-1] > 9:
            sys.exit(f"{source}:{number}: not 64 values from 0 to 16 and a digit")
    lines = "\n".join("    " + ",".join(map(str, row)) + "," for row in rows)
    pathlib.Path(target).write_text(
        '#include "models/digits_table.h"\n\n'
        "namespace sinter::models {\n\n"
        f"const std::uint8_t digit_table[digit_count][digit_values] = {{\n{lines}\n}};\n"
        f"static_assert(digit_count == {len(rows)} && digit_values == {values_of_a_digit});\n\n"
        "}  // namespace sinter::models\n"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
