#!/usr/bin/env python3
"""Builds, runs the suites and the checks, and prints one line of totals.

Each doctest case, each other test program and each check counts as one. tools/test calls this.
"""

import concurrent.futures
import dataclasses
import json
import os
import re
import signal
import subprocess
import sys
import time

import tree

cores = len(os.sched_getaffinity(0))
doctest_totals = re.compile(
    r"\[doctest\] test cases: +(\d+) \| +(\d+) passed \| +(\d+) failed \| +(\d+) skipped"
)
sanitizer_options = {
    # Tests ask for more memory than there is. LeakSanitizer believes what stands before a dynamic
    # thread-local block, as NVRTC has one, if malloc put that 16 bytes into a page, and then dies
    # of reading it (github.com/google/sanitizers/issues/1322).
    "ASAN_OPTIONS":
        "allocator_may_return_null=1:detect_stack_use_after_return=1:strict_init_order=1"
        ":intercept_tls_get_addr=0",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    "TSAN_OPTIONS": "allocator_may_return_null=1:halt_on_error=1:second_deadlock_stack=1",
}


@dataclasses.dataclass
class Job:
    name: str
    command: list
    timeout: float = 1800
    environment: dict = dataclasses.field(default_factory=dict)
    counts_cases: bool = False
    whole: bool = True  # cases that a filter leaves out of a part are none that were skipped


@dataclasses.dataclass
class Totals:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def run_process(job):
    """The exit status and the output; a job over its time is killed with its children."""
    process = subprocess.Popen(
        job.command, cwd=tree.root, env=os.environ | job.environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=job.timeout)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        return -signal.SIGKILL, f"{output}\n{job.name}: killed after {job.timeout:.0f} s\n"


def totals_of(job, status, output):
    if status == 77:
        return Totals(skipped=1)
    found = doctest_totals.search(output) if job.counts_cases else None
    if not found:
        return Totals(passed=1) if status == 0 else Totals(failed=1)
    _, passed, failed, skipped = map(int, found.groups())
    if status != 0 and failed == 0:
        failed = 1
    return Totals(passed, failed, skipped if job.whole else 0)


def run_job(job):
    started = time.monotonic()
    status, output = run_process(job)
    totals = totals_of(job, status, output)
    if totals.failed:
        print(f"--- {job.name}: {' '.join(map(str, job.command))}", flush=True)
        print("\n".join(output.splitlines()[-200:]), flush=True)
    mark = "FAIL" if totals.failed else "skip" if not totals.passed else "ok"
    seconds = time.monotonic() - started
    print(f"{mark:4} {job.name:36} {totals}  ({seconds:.1f} s)", flush=True)
    return totals


def build(folder, *targets):
    """Builds with ninja's own progress; a build that fails counts as one failure."""
    print(f"==== build {folder}", flush=True)
    status = subprocess.run(["ninja", "-C", folder, *targets], cwd=tree.root).returncode
    return Totals(passed=1) if status == 0 else Totals(failed=1)


def suites(folder, label="", suite_filter=None, house=True, again=False):
    """The tests that meson knows in a build folder; or those of `again`, which only --full runs."""
    listed = json.loads(
        subprocess.run(
            ["meson", "introspect", "--tests", folder],
            cwd=tree.root, check=True, capture_output=True, text=True,
        ).stdout
    )
    for test in listed:
        groups = {suite.split(":")[-1] for suite in test["suite"]}
        is_doctest = bool(groups & {"unit", "again"})
        if ("again" in groups) != again or (not is_doctest and (suite_filter or not house)):
            continue
        command = test["cmd"]
        if suite_filter:
            command = [command[0], f"--test-suite={suite_filter}"]
        yield Job(
            label + test["name"], command, 7200 if label else test["timeout"] or 1800,
            test["env"] | (sanitizer_options if label else {}), is_doctest,
            suite_filter is None and not again,
        )


def checks():
    formatted = [str(p) for p in tree.files(".cpp", ".h", ".cu", ".cuh")]
    version = subprocess.run(["clang-format", "--version"], capture_output=True, text=True).stdout
    pinned = " version 14." in version
    yield Job(
        "clang-format",
        ["clang-format", "--dry-run", "-Werror", *formatted] if pinned else ["sh", "-c", "exit 77"],
    )
    yield Job("self-contained headers", ["ninja", "-C", "build", "tests/libheader_checks.a"])
    for name in ("layers", "sizes", "rules"):
        yield Job(f"check_{name}", ["python3", f"tools/check_{name}.py"])
    yield Job("check_isa_symbols", ["python3", "tools/check_isa_symbols.py", "build"])


def run_jobs(jobs):
    totals = Totals()
    with concurrent.futures.ThreadPoolExecutor(cores) as pool:
        for result in pool.map(run_job, jobs):
            totals.add(result)
    return totals


def run_full():
    """What takes longest comes last, so that a fault shows early."""
    totals = Totals()
    for folder in ("build-clang", "build-asan", "build-tsan"):
        built = build(folder)
        totals.add(built)
        if not built.failed:
            totals.add(run_jobs(suites(folder, f"{folder}: ", house=False)))
    tidied = [str(p) for p in tree.files(".cpp")]
    print("==== clang-tidy", flush=True)
    totals.add(
        run_jobs(
            Job(f"tidy {path}", ["clang-tidy-16", "-p", "build-clang", "--quiet", path])
            for path in tidied
        )
    )
    print("==== other settings, long fuzzing and exhaustive sweeps", flush=True)
    totals.add(run_jobs(suites("build", again=True)))
    for suite in ("fuzz_long", "exhaustive"):
        totals.add(run_jobs(suites("build", f"{suite}: ", suite)))
    return totals


def main():
    full = "--full" in sys.argv[1:]
    started = time.monotonic()
    totals = build("build")
    if not totals.failed:
        print("==== suites", flush=True)
        totals.add(run_jobs(suites("build")))
    print("==== checks", flush=True)
    totals.add(run_jobs(checks()))
    if full:
        totals.add(run_full())
    print(f"{time.monotonic() - started:.0f} s", flush=True)
    print(totals)
    return 1 if totals.failed else 0


if __name__ == "__main__":
    sys.exit(main())
