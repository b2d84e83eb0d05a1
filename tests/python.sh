#!/bin/sh
# The Python module, where there is a python3: what its declarations say of C's structs, and what it does beside the program.
# GPUFILTER is the program in the build folder; CC comes from the Makefile.
root=$(cd "$(dirname "$0")/.." && pwd)
: "${GPUFILTER:=$root/build/gpufilter}"
build=$(dirname "$GPUFILTER")
. "$(dirname "$0")/tap.sh"
python=${PYTHON:-python3}

why=
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null || why="there is no python3 from 3.9 on"
! nm -D "$build/libgpufilter.so" | grep -q '__[atu]b\?san' || why="python3 cannot load a library with a sanitizer"
if [ -n "$why" ]; then
    skipped "the Python module" "$why"
    plan
    exit
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONPATH="$build/python"

{
    echo '#include <stdio.h>'
    echo '#include "gpufilter/gpufilter.h"'
    echo 'int main(void) {'
    "$python" -c '
from gpufilter import _abi
for name, kind in sorted(vars(_abi).items()):
    for member, _ in getattr(kind, "_fields_", ()) if name.startswith("gf_") else ():
        print(f"printf(\"{name} {member} %zu %zu\\n\", sizeof(struct {name}), offsetof(struct {name}, {member}));")'
    echo '}'
} >"$work/layout.c"
"$python" -c '
from ctypes import sizeof
from gpufilter import _abi
for name, kind in sorted(vars(_abi).items()):
    for member, _ in getattr(kind, "_fields_", ()) if name.startswith("gf_") else ():
        print(name, member, sizeof(kind), getattr(kind, member).offset)' >"$work/python"
${CC:-cc} -I"$root/include" -o "$work/layout" "$work/layout.c" && "$work/layout" >"$work/c"
result "structs have C's layout" "$(diff "$work/c" "$work/python" 2>&1)"
[ "$(wc -l <"$work/c")" -gt 100 ] || result "structs are compared" "only $(wc -l <"$work/c") members"

# backend PYTHON [PATH]: what the module that pip calls does, and says where it fails.
backend()
{
    (
        real=$("$python" -c 'import sys; print(sys.executable)')
        PATH=${2:-$PATH} PYTHONPATH=$root/src/python PYTHONDONTWRITEBYTECODE=1 "$real" -c "import wheel
$1" 2>&1
    )
}
result "without make pip is told what is missing, and sees no traceback" "$(backend 'wheel.build_wheel(".")' "$work/none" >"$work/log" &&
    echo "exit status 0"
    grep Traceback "$work/log"
    grep -q '^gpufilter: this build needs make' "$work/log" || cat "$work/log")"
result "the sources are packed for pip, in a clone" "$(backend "try:
    print(wheel.build_sdist('$work'))
except wheel.UnsupportedOperation:
    print('no clone')" >"$work/log"
    if git -C "$root" rev-parse >/dev/null 2>&1; then
        tar xzf "$work"/gpufilter-*.tar.gz -C "$work" 2>&1 && cd "$work"/gpufilter-*/ && "$python" -c 'import os, tomllib
project = tomllib.load(open("pyproject.toml", "rb"))["build-system"]
assert os.path.exists(project["backend-path"][0] + "/wheel.py") and os.path.exists("Makefile") and os.path.exists("PKG-INFO"), project' 2>&1 |
            grep -v tomllib
    else
        grep -v '^no clone$' "$work/log"
    fi)"

for test in "$root"/tests/python/test_*.py; do
    "$python" "$test" 2>&1 || echo "not ok - python: $(basename "$test") broke off"
done >"$work/tap"

# The wheel in a folder of its own, as pip installs it: the module's tests, with nothing of this tree but themselves. Where
# auditwheel is, the libraries of WebP and TIFF that it loads are its own.
inside="the wheel has its libraries inside"
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    echo "ok 1 - python: the wheel in an empty environment # SKIP python3 makes no environments (python3-venv)"
    echo "ok 1 - python: $inside # SKIP python3 makes no environments (python3-venv)"
else
    (unset MAKEFLAGS MAKELEVEL MFLAGS V CC && make -s -C "$root" BUILD="$build" PYTHON="$python" WHEEL_TO="$work" wheel-here) >"$work/log" 2>&1 &&
        "$python" -m venv "$work/venv" >"$work/log" 2>&1 &&
        "$work/venv/bin/python" -m pip install -q --no-index "$work"/*.whl >"$work/log" 2>&1 &&
        (cd "$work" && env -u PYTHONPATH venv/bin/python "$root/tests/python/test_module.py" >log 2>&1 && ! grep -q '^not ok' log &&
            env -u PYTHONPATH venv/bin/gpufilter --list >list && "$build/gpufilter" --list | cmp - list)
    problem=$?
    [ "$problem" = 0 ] || sed 's/^/# /' "$work/log"
    [ "$problem" = 0 ] || printf 'not '
    echo "ok 1 - python: the wheel in an empty environment"
    case $(echo "$work"/*.whl) in
    *manylinux*)
        eval "$(sed -n '/^camera_dng()/,/^}/p' "$root/tests/run-cli.sh")"
        camera_dng >"$work/a.dng"
        (cd "$work" && env -u PYTHONPATH venv/bin/python "$root/tests/python/of_wheel.py" a.dng >log 2>&1)
        problem=$?
        [ "$problem" = 0 ] || sed 's/^/# /' "$work/log"
        [ "$problem" = 0 ] || printf 'not '
        echo "ok 1 - python: $inside"
        ;;
    *) echo "ok 1 - python: $inside # SKIP auditwheel or patchelf is missing" ;;
    esac
fi >>"$work/tap"
grep -v '^1\.\.' "$work/tap"
count=$((count + $(grep -cE '^(not )?ok' "$work/tap")))
plan
