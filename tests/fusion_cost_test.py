"""What the stages of fusion cost on large traces, and how it grows.

Instructions are counted by valgrind where there is one: a trace of 10,000 nodes takes at most what
a core does in 100 ms, and four times the nodes at most what n log n allows. Without valgrind the
times of the stages are compared, with a wide margin.

Usage: fusion_cost_test.py BUILD
"""

import concurrent.futures
import math
import os
import re
import shutil
import subprocess
import sys

KINDS = ("chain", "blocks", "islands", "fan_out", "fan_in", "stream", "skips", "net")
FEW, MANY = 2500, 10000
MOST_INSTRUCTIONS = 1e9  # ten in a nanosecond
GROWTH = MANY * math.log(MANY) / (FEW * math.log(FEW))


def output_of(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def instructions(program, kind, nodes):
    said = output_of("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                     "--toggle-collect=sinter::tests::run_stages*", program, kind, str(nodes))
    return int(re.search(r"Collected : (\d+)", said)[1])


def milliseconds(program, kind, nodes):
    return min(float(output_of(program, kind, str(nodes)).split()[-1]) for _ in range(5))


def main(build):
    program = f"{build}/tests/fusion_cost"
    counted = shutil.which("valgrind") is not None
    cost, margin = (instructions, 1.1) if counted else (milliseconds, 2.0)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() if counted else 1) as pool:
        costs = list(pool.map(lambda kind: [cost(program, kind, n) for n in (FEW, MANY)], KINDS))
    problems = []
    for kind, (few, many) in zip(KINDS, costs):
        print(f"{kind:8} {few:12} {many:12} grows {many / few:.2f} times")
        if many > GROWTH * margin * few:
            problems.append(f"{kind}: {MANY // FEW} times the nodes cost {many / few:.2f} times as much")
        if counted and many > MOST_INSTRUCTIONS:
            problems.append(f"{kind}: {many} instructions for {MANY} nodes")
    if problems:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main(*sys.argv[1:])
