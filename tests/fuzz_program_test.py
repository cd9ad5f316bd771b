"""The programs that draw, shrink and print programs: what they print compiles and does what it says.

Usage: fuzz_program_test.py BUILD
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import documents


def output_of(*command, status=0):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != status:
        sys.exit(f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def run_source(build, folder, name, source):
    """Compiles a program against sinter as it lies in the build, and runs it."""
    (folder / f"{name}.cpp").write_text(source)
    subprocess.run(
        f"c++ -std=c++20 -Wall -Wextra -Werror -I{documents.root}/include {name}.cpp "
        f"$(pkg-config --libs sinter) -o {name}",
        shell=True, cwd=folder, check=True,
        env=os.environ | {"PKG_CONFIG_PATH": f"{build}/meson-uninstalled"},
    )
    return output_of(str(folder / name))


def check_run(build):
    printed = output_of(f"{build}/tools/sinter-fuzz", "--seed", "1", "--seeds", "3")
    pattern = r"3 programs of \d+ steps \(seeds 1 to 3\), \d+\.\d\d hours, 0 findings\n"
    if not re.fullmatch(pattern, printed):
        sys.exit(f"sinter-fuzz printed\n{printed}")
    refused = subprocess.run(
        [f"{build}/tools/sinter-fuzz", "--seeds", "0.3"], capture_output=True, text=True
    )
    if refused.returncode != 2 or '--seeds: "0.3" is no whole number' not in refused.stderr:
        sys.exit(f"sinter-fuzz --seeds 0.3 ended with {refused.returncode}:\n{refused.stderr}")
    output_of(f"{build}/tools/sinter-fuzz", "--seed", status=2)


def check_printed(build, folder):
    """The first seed that has views, gradients, dropout, foreach_map and a written Variable."""
    words = ("foreach_map(", "gradient(", ".set(", "strided(", "drop(", "softmax(")
    for seed in range(1, 500):
        source = output_of(f"{build}/tools/sinter-fuzz", "--print", str(seed))
        if all(word in source for word in words):
            break
    else:
        sys.exit(f"no seed has {words}")
    printed = run_source(build, folder, "printed", source)
    if printed != "no difference\n":
        sys.exit(f"the program of seed {seed} says {printed}")


def recorded():
    """A graph as SINTER_TRACE_DIR writes it: an index out of range among what has no part in it."""
    def op(name, operands, shape, **more):
        return {"op": name, "dtype": "f32", "shape": shape, "operands": operands, **more}

    steps = [
        {"leaf": "f32", "shape": [6, 8], "range": [-1, 1]},
        {"leaf": "i64", "shape": [3], "elements": [0, 7, 2]},
        op("exp", [0], [6, 8]),
        op("sum", [2], [6, 1], fixed=[2]),
        op("div", [2, 3], [6, 8]),
        op("take", [4, 1], [3, 8], fixed=[0]),
        op("tanh", [5], [3, 8]),
        op("mean", [2], [1, 1], fixed=[3]),
    ]
    return {"steps": steps, "outputs": [6, 7]}


def check_minified(build, folder):
    inspect = f"{build}/tools/sinter-inspect"
    path = folder / "trace.jsonl"
    path.write_text('{"event": "start"}\n' + json.dumps({"graph": recorded()}) + "\n")
    source = output_of(inspect, "minify", str(path))
    body = source[source.index("void program") : source.index("/// What the program computes")]
    calls = re.findall(r"= (?:sinter::)?(\w+)\(v", body)
    if calls != ["take"]:
        sys.exit(f"the smallest program that fails has {calls}")
    printed = run_source(build, folder, "minified", source)
    if not re.match(r"take: index \d+ is out of range", printed):
        sys.exit(f"the smallest program says {printed}")

    whole = json.dumps(recorded())
    path.write_text(whole[: len(whole) // 2])
    output_of(inspect, "minify", str(path), status=1)
    path.write_text(whole.replace('"elements": [0, 7, 2]', '"elements": [0, 5, 2]'))
    if output_of(inspect, "minify", str(path), "--check", "first", status=1).count("none of 1") != 1:
        sys.exit("a program without a fault is minified")
    output_of(inspect, "minify", status=2)


def main(build):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.environ["SINTER_CACHE"] = str(folder / "kernels")
        check_run(build)
        check_printed(build, folder)
        check_minified(build, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
