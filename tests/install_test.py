"""Installs into a folder and builds the README's example against it by pkg-config.

Usage: install_test.py BUILD
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import documents


def main(build):
    source, expected = documents.example()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        subprocess.run(
            ["meson", "install", "-C", build, "--no-rebuild", "--quiet"],
            env=os.environ | {"DESTDIR": str(folder / "installed")}, check=True,
        )
        (pkgconfig,) = (folder / "installed").rglob("sinter.pc")
        (folder / "example.cpp").write_text(source)
        subprocess.run(
            "c++ -std=c++20 example.cpp $(pkg-config --cflags --libs sinter) -o example",
            shell=True, cwd=folder, check=True,
            env=os.environ | {"PKG_CONFIG_PATH": str(pkgconfig.parent)},
        )
        return documents.check_example(folder / "example", expected)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
