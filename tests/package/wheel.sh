#!/bin/sh
# Tries a wheel in a bare distribution, with python3 alone: the module and the program write and read each format whose library
# is inside. Root only. Arguments: a folder that debootstrap --variant=minbase --include=python3 made, which stays as it is, and
# the wheel.
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)
bare=$1 wheel=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -a "$bare" "$work/use"
mkdir "$work/use/try"
cp "$wheel" "$source/tests/package/opens.sh" "$source/tests/python/of_wheel.py" "$work/use/try"
eval "$(sed -n '/^camera_dng()/,/^}/p' "$source/tests/run-cli.sh")"
camera_dng >"$work/use/try/a.dng"

# There is no pip, and zipfile keeps no modes. Libraries are found by /proc. The wheel leaves to the system what `left` names.
unshare --mount sh -ec 'mount -t proc proc "$1/proc" && exec chroot "$1" sh -ec "$2"' sh "$work/use" '
    python3 -m zipfile -e /try/*.whl /try/site
    program=/try/site/gpufilter/gpufilter
    chmod +x $program
    python3 --version
    $program --version
    PYTHONPATH=/try/site python3 /try/of_wheel.py /try/a.dng
    left="libarchive libfreetype libharfbuzz libfontconfig libheif libopenslide libseccomp"
    sh /try/opens.sh $program /try/a.dng >/try/problems
    ! grep -v $(printf " -e %s" $left) /try/problems' </dev/null && echo "ok - $bare: the wheel opens each format that is inside"
