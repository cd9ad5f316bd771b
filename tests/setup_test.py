"""What tools/setup.sh does on a machine where something is missing.

Usage: setup_test.py BUILD
"""

import subprocess
import sys

import documents

# Stand-ins: nothing is installed, and commands show what they were given.
prelude = """
set -euo pipefail
program=tools/test
source tools/setup.sh
need libpresent-dev true
need libabsent-dev false
need libgone-dev false
sudo() { "$@"; }
apt-get() { echo "apt-get $*" >>/dev/stderr; }
env() { shift; "$@"; }
"""
cases = {
    "without root or sudo, one line names what is missing": (
        """
        id() { echo 1000; }
        command() { [ "$2" != sudo ] && builtin command "$@"; }
        install_missing
        """,
        1,
        "tools/test: missing, and neither root nor sudo to install: libabsent-dev libgone-dev\n",
        "",
    ),
    "as root, what is missing is installed": (
        """
        id() { echo 0; }
        mktemp() { echo /dev/stdout; }
        rm() { :; }
        install_missing
        """,
        0,
        "",
        "tools/test: installing libabsent-dev libgone-dev\napt-get update -q\n"
        "apt-get install -q -y --no-install-recommends libabsent-dev libgone-dev\n",
    ),
    "a failed installation names the packages": (
        """
        id() { echo 0; }
        apt-get() { return 100; }
        install_missing
        """,
        1,
        "tools/test: apt-get could not install: libabsent-dev libgone-dev\n",
        "tools/test: installing libabsent-dev libgone-dev\n",
    ),
    "an NVRTC that the loader finds is taken": (
        """
        unset SINTER_CUDA_PATH
        loads() { [ "$1" = libnvrtc.so.12 ]; }
        find_nvrtc nowhere
        echo "${SINTER_CUDA_PATH:-none}"
        """,
        0,
        "",
        "none\n",
    ),
    "a missing NVRTC is installed, and the build told of it": (
        """
        unset SINTER_CUDA_PATH
        loads() { false; }
        folder=$(mktemp -d)/nvrtc
        toolkit=$folder/lib/python3.11/site-packages/nvidia/cu13
        python3() { mkdir -p "$folder/bin" "$toolkit/include/crt"
          touch "$toolkit/include/cuda.h"
          printf '#!/bin/sh\\nexit 0\\n' >"$folder/bin/pip"
          chmod +x "$folder/bin/pip"; }
        meson() { echo "meson $*"; }
        touch "${folder%/nvrtc}/build.ninja"
        find_nvrtc "$folder" | sed "s:$folder:FOLDER:"
        sed "s:${folder%/nvrtc}:BUILD:" "$folder.log"
        find_nvrtc "$folder"
        echo "${SINTER_CUDA_PATH#"$folder"}"
        rm -r "${folder%/nvrtc}"
        """,
        0,
        "",
        "tools/test: installing nvidia-cuda-nvrtc from PyPI in FOLDER\n"
        "meson setup --reconfigure BUILD\n/lib/python3.11/site-packages/nvidia/cu13\n",
    ),
    "without NVRTC the tests go on": (
        """
        unset SINTER_CUDA_PATH
        loads() { false; }
        python3() { false; }
        folder=$(mktemp -d)/nvrtc
        find_nvrtc "$folder" | sed "s:$folder:FOLDER:g"
        echo "${SINTER_CUDA_PATH:-none}"
        rm -r "${folder%/nvrtc}"
        """,
        0,
        "",
        "tools/test: installing nvidia-cuda-nvrtc from PyPI in FOLDER\n"
        "tools/test: no NVRTC (FOLDER.log): kernels are not compiled for GPUs\nnone\n",
    ),
    "with nothing missing, nothing happens": (
        "missing_packages=()\ninstall_missing",
        0,
        "",
        "",
    ),
}


def main():
    failed = 0
    for name, (script, status, stderr, stdout) in cases.items():
        ran = subprocess.run(
            ["bash", "-c", prelude + script], cwd=documents.root, capture_output=True, text=True,
            stdin=subprocess.DEVNULL,
        )
        got = (ran.returncode, ran.stderr, ran.stdout)
        if got != (status, stderr, stdout):
            failed += 1
            print(f"{name}:\n  expected {(status, stderr, stdout)}\n  got      {got}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
