"""The files of the repository, for the checks beside this one."""

import pathlib
import subprocess

root = pathlib.Path(__file__).resolve().parent.parent
code_folders = ("runtime", "kernels", "jit", "models", "fuzz", "tests", "bench", "tools")


def files(*suffixes):
    """Paths relative to the root, sorted: tracked ones, and new ones that git does not ignore."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=root, check=True, capture_output=True, text=True,
    ).stdout.splitlines()
    paths = (pathlib.PurePosixPath(line) for line in sorted(set(listed)))
    return [p for p in paths if (root / p).is_file() and (not suffixes or p.suffix in suffixes)]


def sources():
    """C++ files, headers and tables included."""
    return files(".cpp", ".h", ".def", ".cu", ".cuh")


def read(path):
    return (root / path).read_text(encoding="utf-8")


def without_comments_and_strings(text):
    """The same lines with comments and the insides of literals blanked."""
    out, i, state = [], 0, "code"
    while i < len(text):
        two = text[i : i + 2]
        char = text[i]
        if state == "code":
            if two in ("//", "/*"):
                state = two
                out.append("  ")
                i += 2
                continue
            quote_opens = char == '"' or (char == "'" and not (i and text[i - 1].isalnum()))
            if quote_opens:
                state = char
            out.append(char)
        elif state == "//" and char == "\n":
            state = "code"
            out.append(char)
        elif state == "/*" and two == "*/":
            state = "code"
            out.append("  ")
            i += 2
            continue
        elif state in ("'", '"'):
            if char == "\\":
                out.append("  ")
                i += 2
                continue
            if char == state or char == "\n":
                state = "code"
                out.append(char)
            else:
                out.append(" ")
        else:
            out.append(char if char == "\n" else " ")
        i += 1
    return "".join(out)


def report(name, problems):
    """Prints the problems; returns the exit status of a check."""
    for problem in problems:
        print(problem)
    print(f"{name}: {len(problems)} problems" if problems else f"{name}: ok")
    return 1 if problems else 0
