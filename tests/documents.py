"""The fenced blocks of the documents, for the tests that hold the documents to their word."""

import dataclasses
import pathlib
import re
import subprocess

root = pathlib.Path(__file__).resolve().parent.parent
names = ("README.md", "CONTRIBUTING.md", "DESIGN.md", "CHANGELOG.md")


@dataclasses.dataclass
class Block:
    document: str
    language: str
    text: str


def blocks():
    for name in names:
        text = (root / name).read_text(encoding="utf-8")
        for language, body in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            yield Block(name, language, body)


def example():
    """The embedding example of the README and what it prints."""
    of_readme = [block for block in blocks() if block.document == "README.md"]
    (source,) = (block.text for block in of_readme if block.language == "cpp")
    (output,) = (block.text for block in of_readme if block.language == "text")
    return source, output


def check_example(program, expected):
    """Runs the built example; the exit status of a test."""
    printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    if printed != expected:
        print(f"the README promises\n{expected}but its example prints\n{printed}")
        return 1
    return 0
