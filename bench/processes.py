"""Processes that report a JSON object on their last line, alone and in alternated pairs."""

import json
import os
import shlex
import statistics
import subprocess


class CompareError(Exception):
    """What the user should read instead of a trace."""


def last_json(output, command):
    """The object on the last line that is not blank."""
    lines = [line for line in output.splitlines() if line.strip()]
    try:
        found = json.loads(lines[-1])
    except (IndexError, ValueError):
        found = None
    if not isinstance(found, dict):
        raise CompareError(f"no JSON object on the last line of: {shlex.join(command)}")
    return found


def run(command, keys, environment=None):
    """Runs a process; its report, which has a positive number under each of the keys."""
    variables = os.environ | (environment or {})
    try:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, text=True, check=False, env=variables
        )
    except OSError as error:
        raise CompareError(f"cannot run {command[0]}: {error.strerror}") from error
    if done.returncode != 0:
        raise CompareError(f"exit status {done.returncode} of: {shlex.join(command)}")
    report = last_json(done.stdout, command)
    for key in keys:
        value = report.get(key)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
            raise CompareError(f"no positive number {key!r} in the JSON of: {shlex.join(command)}")
    return report


def run_pairs(first, second, keys, count, show):
    """The reports of `count` pairs of processes; odd pairs run the first command first."""
    pairs = []
    for number in range(1, count + 1):
        if number % 2:
            a = run(first, keys)
            b = run(second, keys)
        else:
            b = run(second, keys)
            a = run(first, keys)
        pairs.append((a, b))
        show(number, a, b)
    return pairs


def summary(pairs):
    """Of pairs of numbers: medians of both sides; median, smallest and largest ratio A / B."""
    ratios = [a / b for a, b in pairs]
    return {
        "a": [a for a, _ in pairs],
        "b": [b for _, b in pairs],
        "ratios": ratios,
        "median_a": statistics.median(a for a, _ in pairs),
        "median_b": statistics.median(b for _, b in pairs),
        "median_ratio": statistics.median(ratios),
        "min_ratio": min(ratios),
        "max_ratio": max(ratios),
    }


def summary_of(key, pairs):
    """The summary of one number of pairs of reports."""
    return summary([(a[key], b[key]) for a, b in pairs])
