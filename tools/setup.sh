#!/usr/bin/env bash
# Make the virtual environment $1 with every extra, pinned by constraints.txt; install what rendering needs where that is allowed.
set -euo pipefail
venv=$1
export PIP_NO_COMPILE=1  # Python compiles what is imported, a tenth of it all; half of the time is saved
"${PYTHON:-python3.11}" -m venv "$venv"
"$venv/bin/pip" install --quiet --upgrade "pip>=25.1"
# torch first and by its exact version: an open requirement would pull gigabytes of CUDA.
"$venv/bin/pip" install --quiet "$(grep '^torch==' constraints.txt)"
"$venv/bin/pip" install --quiet --constraint constraints.txt --editable ".[data,report,sim,ray,vision,log]" --group dev
echo "sido is installed in $venv"

# MuJoCo draws offscreen through OSMesa or EGL, which are system libraries.
packages="libosmesa6 libegl1 libgl1"
if ! ldconfig -p | grep -q libOSMesa; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq --yes $packages; } >/dev/null ||
      echo "rendering needs system packages that could not be installed; run: apt-get install $packages"
  else
    echo "rendering needs system packages; run: sudo apt-get install $packages"
  fi
fi

# The first step and the first picture compile code, which then stays in the source folder. Nobody should wait for that wordlessly.
echo "compiling the simulator, once (half a minute)"
first=$(mktemp -d)
"$venv/bin/sido" collect stack -n 1 --cameras -o "$first/pictures.hdf5" >/dev/null 2>&1 ||
  "$venv/bin/sido" collect stack -n 1 -o "$first/state.hdf5" >/dev/null  # where there is no OpenGL
rm -r "$first"
