# Sourced by the other scripts: finds out what is missing, installs it, configures the build.
# They set `program` to their own name first and run in the root of the repository.

missing_packages=()
# Else ccache does nothing where there is a precompiled header.
export CCACHE_SLOPPINESS=pch_defines,time_macros

# need PACKAGE COMMAND...: the package is missing when the command fails.
need() {
  local package=$1
  shift
  "$@" >/dev/null 2>&1 || missing_packages+=("$package")
}

have_command() { command -v "$1"; }
have_module() { pkg-config --exists "$1" || have_header "$2"; }
have_header() {
  if command -v c++; then
    echo "#include <$1>" | c++ -std=c++20 -E -x c++ - -o /dev/null
  else
    [ -e "/usr/include/$1" ]
  fi
}

need_for_build() {
  need g++ have_command c++
  need meson have_command meson
  need ninja-build have_command ninja
  need pkg-config have_command pkg-config
  need python3 have_command python3
  need libfmt-dev have_module fmt fmt/format.h
  need nlohmann-json3-dev have_module nlohmann_json nlohmann/json.hpp
  need libdnnl-dev have_header oneapi/dnnl/dnnl.hpp
  need libxxhash-dev have_header xxhash.h
  need doctest-dev have_header doctest/doctest.h
}

# Only tools/test needs these.
need_for_tests() {
  need ccache have_command ccache
  need clang-format have_command clang-format
  need git have_command git
  need python3-venv python3 -c "import ensurepip"
  need universal-ctags have_command ctags
  need valgrind have_command valgrind
}

# clang 14, Debian 12's default, has no std::source_location.
need_for_full() {
  need clang-16 have_command clang++-16
  need clang-tidy-16 have_command clang-tidy-16
}

# Installs what `need` found missing; without the means, says what is missing and gives up.
install_missing() {
  [ ${#missing_packages[@]} -gt 0 ] || return 0
  local -a as_root=()
  if [ "$(id -u)" != 0 ]; then
    if command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
      as_root=(sudo)
    else
      as_root=(false)
    fi
  fi
  if [ "${as_root[*]}" = false ] || ! command -v apt-get >/dev/null; then
    echo "$program: missing, and neither root nor sudo to install: ${missing_packages[*]}" >&2
    exit 1
  fi
  echo "$program: installing ${missing_packages[*]}"
  local log
  log=$(mktemp)
  if ! { "${as_root[@]}" apt-get update -q &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -q -y --no-install-recommends "${missing_packages[@]}"; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    echo "$program: apt-get could not install: ${missing_packages[*]}" >&2
    exit 1
  fi
  rm -f "$log"
}

# Finds NVRTC for the tests that compile kernels for GPUs: where the loader or SINTER_CUDA_PATH says,
# else from PyPI, in FOLDER, with the headers that the simulated GPU's driver is built with. Without
# it those tests are skipped.
find_nvrtc() {
  local folder=$1 version
  [ -z "${SINTER_CUDA_PATH:-}" ] || return 0
  for version in 13 12; do
    loads "libnvrtc.so.$version" && return 0
  done
  if ! nvrtc_in "$folder" >/dev/null; then
    echo "$program: installing nvidia-cuda-nvrtc from PyPI in $folder"
    mkdir -p "$(dirname "$folder")"
    if ! { python3 -m venv "$folder" &&
      "$folder/bin/pip" install -q --disable-pip-version-check \
        "nvidia-cuda-nvrtc==13.*" "nvidia-cuda-runtime==13.*" "nvidia-cuda-crt==13.*"; } \
      >"$folder.log" 2>&1; then
      echo "$program: no NVRTC ($folder.log): kernels are not compiled for GPUs"
      return 0
    fi
    # What was configured before, as by tools/start, is without the simulated driver.
    local build
    build=$(dirname "$folder")
    [ ! -e "$build/build.ninja" ] || meson setup --reconfigure "$build" >"$folder.log"
  fi
  SINTER_CUDA_PATH=$(nvrtc_in "$folder")
  export SINTER_CUDA_PATH
}
loads() { python3 -c "import ctypes; ctypes.CDLL('$1')" 2>/dev/null; }
nvrtc_in() {
  (cd "$1"/lib/python3*/site-packages/nvidia/cu13 2>/dev/null &&
    [ -e include/cuda.h ] && [ -e include/crt ] && pwd)
}

# configure FOLDER [OPTION...]: configures once; what a developer chose there since is kept.
# Warnings are errors with the compilers that the project is developed with.
configure() {
  local folder=$1 werror=false
  shift
  [ -e "$folder/build.ninja" ] && return 0
  case $("${CXX:-c++}" --version) in
    *" 12."* | *"clang version 16."*) werror=true ;;
  esac
  echo "$program: configuring $folder"
  meson setup "$folder" "-Dwerror=$werror" "$@" >"$folder.log" 2>&1 || {
    cat "$folder.log" >&2
    rm -f "$folder.log"
    exit 1
  }
  rm -f "$folder.log"
}
