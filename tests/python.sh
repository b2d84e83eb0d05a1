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

# backend PYTHON [PATH]: what the module that pip and build call does, and says where it fails.
backend()
{
    (
        real=$("$python" -c 'import sys; print(sys.executable)')
        PATH=${2:-$PATH} PYTHONPATH=${sources:-$root}/src/python PYTHONDONTWRITEBYTECODE=1 "$real" -c "import wheel
$1" 2>&1
    )
}
mkdir "$work/few"
ln -s "$(command -v sh)" "$(command -v dirname)" "$work/few"
result "without make and a compiler pip is told in one line what is missing" "$(
    CC='' CUDA=0 backend 'wheel.build_wheel(".")' "$work/few" >"$work/log" && echo "exit status 0"
    [ "$(wc -l <"$work/log")" = 1 ] && grep -q ': apt-get install make gcc libc6-dev pkg-config libpng-dev libjpeg-dev zlib1g-dev$' "$work/log" ||
        cat "$work/log")"
result "what fails is said in one line" "$(touch "$work/file"
    backend 'wheel.build_sdist("'"$work/file"'")' >"$work/log" && echo "exit status 0"
    [ "$(wc -l <"$work/log")" = 1 ] && grep -q "^gpufilter: .*$work/file" "$work/log" || cat "$work/log")"

# The sources are packed, in a clone or as they were unpacked; then make is told where to build, for which a stand-in is enough.
mkdir "$work/again" "$work/bin" "$work/built"
printf '#!/bin/sh\necho "$*" >>"%s/made"\necho "[10/20] CC a.c"\n' "$work" >"$work/bin/make"
chmod +x "$work/bin/make"
result "packed sources are packed again as they are" "$(backend "wheel.build_sdist('$work')" >"$work/log" || cat "$work/log"
    tar xzf "$work"/gpufilter-*.tar.gz -C "$work" 2>&1 && sources=$(echo "$work"/gpufilter-*/) || exit
    backend "wheel.build_sdist('$work/again')" >"$work/log" || cat "$work/log"
    for packed in "$work" "$work/again"; do tar tzf "$packed"/gpufilter-*.tar.gz | sort >"$packed/files"; done
    diff "$work/files" "$work/again/files"
    for file in Makefile pyproject.toml PKG-INFO src/python/wheel.py; do [ -f "$sources/$file" ] || echo "no $file"; done)"
sources=$(echo "$work"/gpufilter-*/)
result "sources that were unpacked are built where they were packed, while they are the same" "$(
    cp -r "$sources" "$work/packed" && mkdir "$work/packed/build"
    for text in '' '/* changed */'; do
        printf '%s' "$text" >>"$work/packed/include/gpufilter/version.h"
        PWD="$work/packed" CUDA=0 backend "print(wheel.run_make('python'))" "$work/bin:$PATH" >>"$work/log"
    done
    grep -c '^\[10/20\] CC a.c$' "$work/log" | grep -v 2
    sed -n 's/.* -C \([^ ]*\) .*V=0$/\1/p' "$work/made" | paste -sd' ' | grep -vFx "$work/packed ${sources%/}" )"
result "an editable installation names the folder of the build" "$(
    PWD=/ CUDA=0 backend "wheel.build_editable('$work/built')" "$work/bin:$PATH" >"$work/log" || cat "$work/log"
    "$python" -m zipfile -e "$work"/built/*.whl "$work/built" && cat "$work/built/gpufilter.pth" | grep -vFx "${sources%/}/build/python"
    grep -o ' exec .*\|^exec .*' "$work"/built/*.data/scripts/gpufilter | grep -vF "exec ${sources%/}/build/gpufilter ")"
unset sources

# tests JOBS: runs those whose names come in, that many at a time; the lines of each stay together.
tests()
{
    # shellcheck disable=SC2016 # expanded by the inner shell
    xargs -P "$1" -I{} sh -c 'own=$2/$(basename "$1").tap
        "$0" "$1" >"$own" 2>&1 || echo "not ok - python: $(basename "$1") broke off" >>"$own"' "$python" {} "$work"
}
compare_times='/test_\(habits\|module\)\.py$'
printf '%s\n' "$root"/tests/python/test_*.py | grep -v "$compare_times" | tests "${GF_TEST_JOBS:-$(nproc)}"
printf '%s\n' "$root"/tests/python/test_*.py | grep "$compare_times" | tests 1
cat "$work"/test_*.py.tap >"$work/tap"

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
