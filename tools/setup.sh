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
