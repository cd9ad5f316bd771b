"""Builds the README's example in a meson project that has this repository as a subproject.

Usage: subproject_test.py compile|run

compile  configures the project and compiles the example against what it is given to include
run      builds the whole library there, which takes as long as it does here, and runs the example
"""

import pathlib
import subprocess
import sys
import tempfile

import documents

outer_project = """\
project('outside', 'cpp', default_options: ['cpp_std=c++20', 'optimization=0', 'debug=false'])
executable('example', 'example.cpp', dependencies: dependency('sinter', fallback: 'sinter'))
"""


def main(command):
    source, expected = documents.example()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "meson.build").write_text(outer_project)
        (folder / "example.cpp").write_text(source)
        (folder / "subprojects").mkdir()
        (folder / "subprojects" / "sinter").symlink_to(documents.root)
        subprocess.run(
            ["meson", "setup", "--wrap-mode=nodownload", "build"], cwd=folder, check=True
        )
        target = "example" if command == "run" else "example.p/example.cpp.o"
        subprocess.run(["ninja", "-C", "build", target], cwd=folder, check=True)
        if command == "compile":
            return 0
        return documents.check_example(folder / "build" / "example", expected)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
