#!/usr/bin/env python3
"""Writes the exported functions of libcuda.so.1 from the headers of the toolkit.

    exports.py INCLUDE_FOLDER OUTPUT SOURCE...

Every function that cuda.h declares is exported, as every version of it that there is. What a
SOURCE defines in namespace api is called through simgpu::driver::enter, which makes a CUresult of
how it ends. Where it returns a value, the first parameter that is a pointer to such is set to it.
It is not told of the device, since there is one: another is refused before.

A function that no SOURCE defines is, if it can be,

- another that is defined, with null for the parameters that it lacks: a newer version of it, the
  one that `longer_forms` names, or for a copy or set without a stream the one with it, waited for;
- one of a graph's nodes, which graph_nodes.h has a template for;

and otherwise says that it is not supported. What ends in _ptsz or _ptds is the function without
that suffix where the default stream is the thread's. The table behind cuGetProcAddress takes
versions from cudaTypedefs.h, which names them in its types.
"""

import collections
import pathlib
import re
import sys

# These need no cuInit before them.
always = {"cuInit", "cuDriverGetVersion", "cuGetErrorName", "cuGetErrorString", "cuGetExportTable",
          "cuGetProcAddress", "cuGetProcAddress_v2"}
longer_forms = {
    "cuEventRecord": "cuEventRecordWithFlags",
    "cuMemAllocHost_v2": "cuMemHostAlloc",
    "cuMemcpy2DUnaligned_v2": "cuMemcpy2DAsync_v2",
    "cuModuleLoadData": "cuModuleLoadDataEx",
    "cuModuleLoadFatBinary": "cuModuleLoadDataEx",
    "cuOccupancyMaxActiveBlocksPerMultiprocessor":
        "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
    "cuOccupancyMaxPotentialBlockSize": "cuOccupancyMaxPotentialBlockSizeWithFlags",
    "cuProfilerStop": "cuProfilerStart",
    "cuStreamCreate": "cuStreamCreateWithPriority",
    "cuStreamIsCapturing": "cuStreamGetCaptureInfo_v3",
}
# Kinds of nodes as the API calls them, and as work.h does.
node_kinds = {"ChildGraph": "ChildWork", "Empty": "EmptyWork", "EventRecord": "RecordWork",
              "EventWait": "WaitWork", "Host": "HostWork", "Kernel": "KernelWork",
              "Memcpy": "CopyWork", "Memset": "SetWork"}
node_function = re.compile(rf"cuGraph(Add|Exec)?({'|'.join(node_kinds)})Node"
                           r"(?:(Set|Get)(?:Params|Event|Graph))?(?:_v\d)?$")
declaration = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(?P<macro>cu\w+)[ \t]+(?P<value>\S+)[ \t]*$"
    r"|^[ \t]*#[ \t]*undef[ \t]+(?P<undef>cu\w+)"
    r"|^[ \t]*(?:__CUDA_DEPRECATED[ \t]+)?CUresult[ \t]+CUDAAPI[ \t]+(?P<function>cu\w+)[ \t]*\((?P<parameters>[^;{]*)\)\s*;",
    re.MULTILINE,
)
definition = re.compile(
    r"^(?P<result>[a-zA-Z][\w:* ]*?) (?P<name>cu[A-Z]\w*)\([^)]*\) \{", re.MULTILINE)


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
    """(type, name) of each parameter; an array is a pointer."""
    each = [] if parameters in ("", "void") else parameters.split(",")
    parts = [re.fullmatch(r"\s*(.*?)(\w+)\s*(\[\w*\])?\s*", one) for one in each]
    return [(re.sub(r"\s*\*", "*", part[1].strip()) + ("*" if part[3] else ""), part[2])
            for part in parts]


def arguments_for(longer, shorter):
    """What a function is called with by one that has some of its parameters, in their order; None
    where it has others."""
    left = list(shorter)
    taken = [left.pop(0)[1] if left and left[0][0] == kind else "{}" for kind, _ in longer]
    return None if left else taken


class Exporter:
    def __init__(self, symbols, defined):
        self.text = symbols
        self.symbols = {symbol: split(parameters) for symbol, parameters in symbols.items()}
        self.defined = defined  # results by name

    def callee(self, symbol):
        """(name of what does it, its arguments, whether it is waited for), or nothing."""
        own = self.symbols[symbol]
        if symbol in self.defined:
            return symbol, [name for _, name in own], False
        stem, version = re.fullmatch(r"(\w+?)(?:_v(\d))?", symbol).groups()
        newer = [f"{stem}_v{i}" for i in range(8, int(version or 1), -1)]
        is_copy_or_set = re.match("cuMem(cpy|set)", stem)
        with_stream = [f"{stem}Async", f"{stem}Async_v2"] if is_copy_or_set else []
        for name in newer + [longer_forms.get(symbol)] + with_stream:
            if name in self.defined:
                arguments = arguments_for(self.symbols[name], own)
                if arguments is not None:
                    return name, arguments, "Async" in name and "Async" not in symbol
        if symbol in longer_forms:
            sys.exit(f"{symbol} is no form of {longer_forms[symbol]}")
        return None

    def body(self, symbol):
        """The statement that does it, and whether it is waited for; or nothing."""
        if found := self.callee(symbol):
            name, arguments, waits = found
            given = list(zip([kind for kind, _ in self.symbols[name]], arguments))
            devices = [one for kind, one in given if kind == "CUdevice"]
            checks = "".join(f"require_device({one}); " for one in devices)
            given = [(kind, one) for kind, one in given if kind != "CUdevice"]
            result = self.defined[name]
            if result == "void":
                return f"{checks}api::{name}({', '.join(one for _, one in given)});", waits
            pointer = result.replace("std::", "").replace("unsigned", "unsigned int") + "*"
            pointer = re.sub(r"unsigned int (long|char|short)", r"unsigned \1", pointer)
            into = next((one for kind, one in given if kind == pointer), None)
            if into is None:
                sys.exit(f"{name} has no parameter for its result")
            call = f"api::{name}({', '.join(one for _, one in given if one != into)})"
            return f"{checks}give({into}, [&] {{ return {call}; }});", waits
        if found := node_function.match(symbol):
            what = "".join(part.lower() + "_" for part in (found[1], found[3]) if part) + "node"
            arguments = ", ".join(name for _, name in self.symbols[symbol])
            return f"api::{what}<{node_kinds[found[2]]}>({arguments});", False
        return None

    def export(self, symbol):
        plain = re.sub(r"_pt[ds][sz]$", "", symbol)
        found = self.body(plain) if plain in self.symbols else None
        if not found:
            unnamed = ", ".join(kind for kind, _ in self.symbols[symbol])
            return [f'SIMGPU_EXPORT {symbol}({unnamed}) {{ return unsupported("{symbol}"); }}']
        statement, waits = found
        terms = {"needs_no_init": symbol in always, "per_thread_stream": plain != symbol,
                 "waits": waits}
        given = ", ".join(f".{name} = true" for name, holds in terms.items() if holds)
        return [f"SIMGPU_EXPORT {symbol}({self.text[plain]}) {{",
                f'  return enter("{symbol}", Terms{{{given}}}, [&] {{ {statement} }});', "}"]


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
    header, typedefs, profiler_typedefs = (
        (include / name).read_text(encoding="latin-1")
        for name in ("cuda.h", "cudaTypedefs.h", "cudaProfilerTypedefs.h"))
    symbols = declared(header)
    symbols |= {"cuProfilerStart": "void", "cuProfilerStop": "void"}  # of cudaProfiler.h
    text = "".join(pathlib.Path(source).read_text() for source in sources)
    found = list(definition.finditer(text))
    defined = {one["name"]: one["result"] for one in found}
    if unknown := defined.keys() - symbols.keys():
        sys.exit(f"no function of cuda.h: {', '.join(sorted(unknown))}")
    lines = ['#include "tools/simgpu/driver/exports.h"',
             '#include "tools/simgpu/driver/graph_nodes.h"', "", "namespace simgpu::driver::api {"]
    lines += [f"{one[0].removesuffix(' {')};" for one in found]
    lines += ["}", "using namespace simgpu::driver;", 'extern "C" {']
    exporter = Exporter(symbols, defined)
    for symbol in symbols:
        lines += exporter.export(symbol)
    lines += ["}", "namespace simgpu::driver {", "const Export exports[] = {"]
    for name, version, per_thread, symbol in versions(typedefs + profiler_typedefs, symbols):
        lines.append(f'  {{"{name}", {version}, {str(per_thread).lower()}, '
                     f"reinterpret_cast<void*>(&::{symbol})}},")
    lines += ["};", "const std::size_t export_count = std::size(exports);"]
    errors = re.findall(r"^\s*(CUDA_(?:ERROR_\w+|SUCCESS))\s*=\s*(\d+)", header, re.M)
    lines += ["const ErrorName error_names[] = {"]
    lines += [f'  {{{name}, "{name}"}},' for name, _ in dict.fromkeys(errors)]
    lines += ["};", "const std::size_t error_count = std::size(error_names);", "}", ""]
    pathlib.Path(output).write_text("\n".join(lines))


if __name__ == "__main__":
    main(*sys.argv[1:])
