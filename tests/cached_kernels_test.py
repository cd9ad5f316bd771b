"""Runs the public faults in two processes that share a cache of kernels: the second compiles nothing.

Usage: cached_kernels_test.py BUILD
"""

import os
import pathlib
import subprocess
import sys
import tempfile


def files_of(folder):
    return sorted(str(path.relative_to(folder)) for path in pathlib.Path(folder).rglob("*"))


def main(build):
    tests = pathlib.Path(build, "tests", "fault_tests")
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"SINTER_CACHE": cache}
        found = []
        for process in ("that compiles", "that finds what was compiled"):
            ran = subprocess.run([tests], env=environment, stdout=subprocess.PIPE, text=True)
            if ran.returncode != 0:
                print(f"a process {process}: exit status {ran.returncode}\n{ran.stdout}")
                return 1
            found.append(files_of(cache))
    batches = [name for name in found[0] if name.startswith("batches/")]
    if not batches:
        print("the first process compiled nothing")
        return 1
    if found[1] != found[0]:
        print(f"the second process compiled: {set(found[1]) - set(found[0])}")
        return 1
    print(f"{len(batches)} batches of kernels")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
