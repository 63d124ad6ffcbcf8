#!/usr/bin/env bash
# Make the environments of the peers that own the formats, under $2, on top of the virtual environment $1.
#
# Each takes torch and whatever else it can from $1 (a .pth file appends it to the path) and pins the rest, without
# dependency resolution: their own metadata would pull CUDA. One that cannot be installed leaves NAME.failed with the
# reason; its tests are then skipped, and say so.
set -euo pipefail
venv=$(cd "$1" && pwd)
mkdir -p "$2"
export PIP_NO_COMPILE=1
for name in robomimic lerobot; do
  target=$2/$name
  pins=tools/peer_$name.txt
  [ -f "$target/.ready" ] && [ "$target/.ready" -nt "$pins" ] && continue
  rm -rf "$target" "$2/$name.failed"
  "$venv/bin/python" -m venv --without-pip "$target"
  site=$("$target/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  base=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  echo "import site; site.addsitedir('$base')" > "$site/_below.pth"
  if "$venv/bin/pip" --python "$target/bin/python" install --quiet --no-deps --ignore-installed --requirement "$pins" 2> "$2/$name.log"; then
    touch "$target/.ready"
    echo "peer $name is installed in $target"
  else
    mv "$2/$name.log" "$2/$name.failed"
    echo "peer $name could not be installed: its tests will be skipped (see $2/$name.failed)"
  fi
done
