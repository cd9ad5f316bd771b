#!/usr/bin/env python3
"""Writes the exported functions of libcuda.so.1 from the headers of the toolkit.

    exports.py INCLUDE_FOLDER OUTPUT SOURCE...

Every function that cuda.h declares is exported, as every version of it that there is. One that a
SOURCE defines is called through simgpu::driver::enter; what ends in _ptsz or _ptds is the function
without that suffix where the default stream is the thread's; any other says that it is not
supported. The table behind cuGetProcAddress takes versions from cudaTypedefs.h, which names them in
its types.
"""

import collections
import pathlib
import re
import sys

# These need no cuInit before them.
always = {"cuInit", "cuDriverGetVersion", "cuGetErrorName", "cuGetErrorString", "cuGetExportTable",
          "cuGetProcAddress", "cuGetProcAddress_v2"}
declaration = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(?P<macro>cu\w+)[ \t]+(?P<value>\S+)[ \t]*$"
    r"|^[ \t]*#[ \t]*undef[ \t]+(?P<undef>cu\w+)"
    r"|^[ \t]*(?:__CUDA_DEPRECATED[ \t]+)?CUresult[ \t]+CUDAAPI[ \t]+(?P<function>cu\w+)[ \t]*\((?P<parameters>[^;{]*)\)\s*;",
    re.MULTILINE,
)


def declared(text):
    """The parameters of each function by its symbol, as __CUDA_API_VERSION_INTERNAL has them."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)
    symbols, macros = {}, {}
    for found in declaration.finditer(text):
        if found["macro"]:
            macros[found["macro"]] = re.sub(
                r"__CUDA_API_PT([DS][SZ])\((\w+)\)",
                lambda m: f"{m[2]}_pt{m[1].lower()}", found["value"],
            )
        elif found["undef"]:
            macros.pop(found["undef"], None)
        else:
            name = found["function"]
            symbols[macros.get(name, name)] = " ".join(found["parameters"].split())
    return symbols


def split(parameters):
    """Declarations of parameters, and their names."""
    each = [] if parameters in ("", "void") else parameters.split(",")
    return each, [re.search(r"(\w+)\s*(\[\w*\])?\s*$", one)[1] for one in each]


def plain(symbol):
    return re.sub(r"_pt[ds][sz]$", "", symbol)


def export(symbol, parameters, defined):
    _, names = split(parameters)
    of = plain(symbol)
    if of not in defined:
        return [f'SIMGPU_EXPORT {symbol}({parameters}) {{ return unsupported("{symbol}"); }}'.replace(
            f"({parameters})", "(" + ", ".join(unnamed(parameters)) + ")")]
    rule = "Rule::always" if symbol in always else "Rule::initialised"
    if of != symbol:
        rule = "Rule::per_thread"
    return [f"SIMGPU_EXPORT {symbol}({parameters}) {{",
            f'  return enter("{symbol}", {rule}, [&] {{ return api::{of}({", ".join(names)}); }});',
            "}"]


def unnamed(parameters):
    each, names = split(parameters)
    return [re.sub(rf"\b{name}(\s*(\[\w*\])?\s*)$", r"\1", one).strip()
            for one, name in zip(each, names)]


def versions(text, symbols):
    """(name, version, whether it is of the thread's default stream, symbol)."""
    found = collections.defaultdict(set)
    for name, version, suffix in re.findall(r"\bPFN_(cu\w+?)_v(\d+)(_pt[ds][sz])?\)", text):
        found[name, suffix].add(int(version))
    for (name, suffix), numbers in sorted(found.items()):
        stems = [name] + [f"{name}_v{i}" for i in range(2, 9)]
        if name == "cuGraphInstantiate":
            stems = [name, f"{name}_v2", f"{name}WithFlags"]
        known = [stem + suffix for stem in stems if stem + suffix in symbols]
        numbers = sorted(numbers)
        for number, symbol in zip(numbers[-len(known):] if known else [], known[-len(numbers):]):
            yield name, number, bool(suffix), symbol


def main(include, output, *sources):
    include = pathlib.Path(include)
    symbols = declared((include / "cuda.h").read_text(encoding="latin-1"))
    symbols |= {"cuProfilerStart": "void", "cuProfilerStop": "void"}  # of cudaProfiler.h
    defined = set()
    for source in sources:
        defined |= set(re.findall(r"^CUresult (cu\w+)\(", pathlib.Path(source).read_text(), re.M))
    if unknown := defined - symbols.keys():
        sys.exit(f"no function of cuda.h: {', '.join(sorted(unknown))}")
    lines = ['#include "tools/simgpu/driver/exports.h"', "", "namespace simgpu::driver {",
             "namespace api {"]
    lines += [f"decltype(::{symbol}) {symbol};" for symbol in sorted(defined)]
    lines += ["}", "}", "using namespace simgpu::driver;", 'extern "C" {']
    for symbol, parameters in symbols.items():
        lines += export(symbol, parameters, defined)
    lines += ["}", "namespace simgpu::driver {", "const Export exports[] = {"]
    typedefs = "".join((include / name).read_text(encoding="latin-1")
                       for name in ("cudaTypedefs.h", "cudaProfilerTypedefs.h"))
    for name, version, per_thread, symbol in versions(typedefs, symbols):
        lines.append(f'  {{"{name}", {version}, {str(per_thread).lower()}, '
                     f"reinterpret_cast<void*>(&::{symbol})}},")
    lines += ["};", "const std::size_t export_count = std::size(exports);"]
    errors = re.findall(r"^\s*(CUDA_(?:ERROR_\w+|SUCCESS))\s*=\s*(\d+)",
                        (include / "cuda.h").read_text(encoding="latin-1"), re.M)
    lines += ["const ErrorName error_names[] = {"]
    lines += [f'  {{{name}, "{name}"}},' for name, _ in dict.fromkeys(errors)]
    lines += ["};", "const std::size_t error_count = std::size(error_names);", "}", ""]
    pathlib.Path(output).write_text("\n".join(lines))


if __name__ == "__main__":
    main(*sys.argv[1:])
