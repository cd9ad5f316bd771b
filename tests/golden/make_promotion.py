#!/usr/bin/env python3
"""Writes promotion.json: the dtypes that PyTorch gives to results, for every pair of operands.

    pip install torch
    python make_promotion.py promotion.json

`binary` maps an op, the form of its left and of its right operand to a table: the left dtype to the
result dtypes for the right operands, in the order of `dtypes` (or of `scalars`, where the right operand
is a number). Forms: `tensor` has a dimension, `zero_dim` has none, `scalar` is a number of the host.
`unary` maps an op to its result dtypes in the order of `dtypes`. Null: PyTorch refuses.
"""

import argparse
import json

import torch

DTYPES = {
    "bool": torch.bool,
    "u8": torch.uint8,
    "i32": torch.int32,
    "i64": torch.int64,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "f64": torch.float64,
}
SHORT = {dtype: name for name, dtype in DTYPES.items()}
SCALARS = {"bool": True, "i64": 1, "f64": 1.5}
SHAPES = {"tensor": (2,), "zero_dim": ()}
BINARY = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
    "floor_divide": torch.floor_divide,
    "remainder": torch.remainder,
    "pow": torch.pow,
    "maximum": torch.maximum,
    "atan2": torch.atan2,
    "less": torch.lt,
    "equal": torch.eq,
    "bitwise_and": torch.bitwise_and,
    "logical_and": torch.logical_and,
}
# PyTorch takes no host number there.
NO_SCALAR = {"maximum", "atan2", "logical_and"}
UNARY = {
    "neg": torch.neg,
    "abs": torch.abs,
    "exp": torch.exp,
    "sqrt": torch.sqrt,
    "floor": torch.floor,
    "sign": torch.sign,
    "bitwise_not": torch.bitwise_not,
    "isnan": torch.isnan,
    "sum": torch.sum,
    "prod": torch.prod,
    "mean": torch.mean,
    "var": torch.var,
    "amax": torch.amax,
    "argmax": torch.argmax,
    "all": torch.all,
    "logsumexp": lambda values: torch.logsumexp(values, 0),
    "softmax": lambda values: torch.softmax(values, 0),
    "cumsum": lambda values: torch.cumsum(values, 0),
    "matmul": lambda values: values @ values,
}


def result(op, *operands):
    """The short name of the result's dtype, or None."""
    try:
        return SHORT[op(*operands).dtype]
    except (RuntimeError, TypeError):
        return None


def operand(dtype, form):
    return torch.ones(SHAPES[form], dtype=dtype)


def binary_table(op, left_form, right_form):
    rows = {}
    for name, left in DTYPES.items():
        if right_form == "scalar":
            rights = SCALARS.values()
        else:
            rights = [operand(dtype, right_form) for dtype in DTYPES.values()]
        rows[name] = [result(op, operand(left, left_form), right) for right in rights]
    return rows


def binary_tables(name, op):
    tables = {}
    for left_form in SHAPES:
        tables[left_form] = {}
        for right_form in [*SHAPES, "scalar"]:
            if right_form != "scalar" or name not in NO_SCALAR:
                tables[left_form][right_form] = binary_table(op, left_form, right_form)
    return tables


def dump(value, indent=""):
    """JSON with lists on one line."""
    if not isinstance(value, dict):
        return json.dumps(value)
    inner = indent + "  "
    rows = [f"{inner}{json.dumps(key)}: {dump(item, inner)}" for key, item in value.items()]
    return "{\n" + ",\n".join(rows) + "\n" + indent + "}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path")
    options = parser.parse_args()
    unary = {
        name: [result(op, operand(dtype, "tensor")) for dtype in DTYPES.values()]
        for name, op in UNARY.items()
    }
    tables = {
        "torch": torch.__version__.split("+")[0],
        "dtypes": list(DTYPES),
        "scalars": list(SCALARS),
        "binary": {name: binary_tables(name, op) for name, op in BINARY.items()},
        "unary": unary,
    }
    with open(options.path, "w") as file:
        file.write(dump(tables) + "\n")


if __name__ == "__main__":
    main()
