#!/bin/sh
# The build itself: reading the Makefile changes nothing, installing builds nothing, the program is hardened as far as the
# compiler can do it. The folder is that of $GPUFILTER.
source=$(cd "$(dirname "$0")/.." && pwd)
: "${GPUFILTER:=$source/build/gpufilter}"
build=$(dirname "$GPUFILTER")
cd "$source" || exit 1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset MAKEFLAGS MAKELEVEL MFLAGS V MINIMAL
. "$source/tests/tap.sh"

# A superuser's make: nothing but the system's folders in PATH, no settings; libraries lie where they lay for the build.
bare_make()
{
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin PKG_CONFIG_PATH="$PKG_CONFIG_PATH" LD_LIBRARY_PATH="$LD_LIBRARY_PATH" make --no-print-directory BUILD="$build" "$@" 2>&1
}

# Everything in the build folder, with the times of change.
state()
{
    find "$build" -type f -printf '%P %T@\n' | sort
}

state >"$folder/before"
bare_make -n install >"$folder/as built"
bare_make -n CUDA=0 CFLAGS=-O0 install >"$folder/others"
bare_make -n CUDA=0 CFLAGS=-O0 all >>"$folder/others"
bare_make help >"$folder/help"
state >"$folder/after"
result "make -n changes nothing" "$(diff "$folder/before" "$folder/after")"
result "make -n install would build nothing" "$(grep -E '\$\(CC\)|NVCC |-c -o ' "$folder/as built")"
result "other settings would compile again" "$(grep -q -e ' -O0 .*-c -o ' "$folder/others" ||
    echo "no line with -O0")"
result "help lists every target with a description" "$(cat Makefile tests/bench/bench.mk tests/fuzz/fuzz.mk \
    tests/emulator/emulator.mk |
    sed -n 's/^\([a-z][a-z-]*\):.* ## .*/\1/p' | while read -r target; do
    grep -q "^  $target  *[a-zA-Z]" "$folder/help" || echo "$target"
done)"

result "the newest release in the changelog is the program's version" "$(
    grep -m 1 '^## v' .github/CHANGELOG.md | grep -v "^## v$("$GPUFILTER" --version | sed -n 's/^gpufilter //p') - [0-9-]*$")"

bare_make install DESTDIR="$folder/root" PREFIX=/opt/gf >"$folder/log" || cp "$folder/log" "$folder/failed"
state >"$folder/after"
result "make install builds nothing" "$(diff "$folder/before" "$folder/after"; cat "$folder/failed" 2>&-)"
result "what is installed runs" "$(cmp "$GPUFILTER" "$folder/root/opt/gf/bin/gpufilter" 2>&1
"$folder/root/opt/gf/bin/gpufilter" --version 2>&1 >"$folder/version" || echo "exit status $?")"
mv "$folder/root/opt/gf" "$folder/root/opt/moved"
result "the installed pkg-config file names the library, also where it was moved to" "$(
    for flag in --libs --cflags; do
        PKG_CONFIG_PATH=$folder/root/opt/moved/lib/pkgconfig pkg-config $flag gpufilter 2>&1
    done | tr ' ' '\n' | sed -n 's/^-[IL]//p' | while read -r path; do
        case $(realpath "$path") in
        "$(realpath "$folder")"/root/opt/moved/lib | "$(realpath "$folder")"/root/opt/moved/include | /usr/*) ;;
        *) echo "$path" ;;
        esac
    done
    PKG_CONFIG_PATH=$folder/root/opt/moved/lib/pkgconfig pkg-config --libs gpufilter | grep -v -e '^-L[^ ]* -lgpufilter *$')"
mv "$folder/root/opt/moved" "$folder/root/opt/gf"
bare_make install DESTDIR="$folder/root" PREFIX=/opt/gf CFLAGS=-O0 >"$folder/log" && echo "exit status 0" >>"$folder/log"
result "make install refuses settings that the folder was not built with" "$(grep -q 'run make first' "$folder/log" || cat "$folder/log"
    grep 'exit status 0' "$folder/log")"
bare_make uninstall DESTDIR="$folder/root" PREFIX=/opt/gf >"$folder/log"
result "make uninstall leaves nothing" "$(find "$folder/root" ! -type d 2>&1)"

result "what was left out is named, with its package and how to add it" "$(
    sh tests/detect.sh 0 "" "" "" "" 0 0 "webp:libwebp.so.7" >"$folder/found"
    for words in 'left out: tiff .*libtiff-dev' 'liblcms2-dev' 'by the next make'; do
        grep -q "$words" "$folder/found" || echo "no '$words'"
    done)"

# looks ARGUMENT...: the settings with which make would build a folder that has those that come in, from long ago.
looks()
{
    mkdir -p "$folder/of_old"
    cat >"$folder/of_old/config.mk"
    touch -d 2001-01-01 "$folder/of_old/config.mk"
    bare_make -n CUDA=0 BUILD="$folder/of_old" "$@" | grep detect.sh
}
result "what was found before is looked for again where packages have come since" "$(
    for goal in all wheel-folder python; do
        echo 'LCMS ?= x' | looks $goal | grep '"x"'
    done
    printf 'CHOSEN ?= LCMS\nLCMS ?= x\n' | looks all | grep -q '"x"' || echo "what was chosen is forgotten"
    echo 'LCMS ?= x' | looks install | grep -q '"x"' || echo "make install looks again")"

# fake NAME: a program of that name, which does what comes in.
mkdir "$folder/bin"
fake()
{
    { echo '#!/bin/sh' && cat; } >"$folder/bin/$1"
    chmod +x "$folder/bin/$1"
}

# install_packages USER NAME=VALUE [WANTED]: what tests/packages.sh prints and runs for a user, where no optional package is installed
# and sudo asks for a password.
install_packages()
{
    echo "echo $1" | fake id
    printf ' CC ?= cc\n FORMATS ?= old\n' >"$folder/config.mk"
    PATH=$folder/bin:$PATH BUILD=$folder RAN=$folder/ran env "$2" tests/packages.sh "${3:-build}" >"$folder/printed" 2>&1 ||
        echo "exit status $?"
}
exit_with() { echo "exit $1"; }
exit_with 1 | fake sudo
exit_with 1 | fake dpkg-query
echo 'echo "  Candidate: 1"' | fake apt-cache
fake apt-get <<'END'
echo "$*" >>"$RAN"
echo "Setting up libwebp-dev"
END
result "optional packages are named where a password would be asked" "$(install_packages 1000 A=
    grep -q 'sudo apt-get install.* libwebp-dev .*liblcms2-dev' "$folder/printed" || cat "$folder/printed"
    cat "$folder/ran" 2>&-)"
result "optional packages are left alone where that is asked for" "$(install_packages 0 MINIMAL=1
    cat "$folder/printed" "$folder/ran" 2>&-)"
result "optional packages are installed by a superuser, and found" "$(install_packages 0 A=
    grep -q 'install .* libwebp-dev ' "$folder/ran" || cat "$folder/ran"
    grep -q '^Setting up libwebp-dev' "$folder/printed" || cat "$folder/printed"
    grep FORMATS "$folder/config.mk"
    grep -q CC "$folder/config.mk" || echo "other settings are lost")"
echo 'case $4 in lib*-dev | *plugin*) echo " installed" ;; esac' | fake dpkg-query
result "what only tests use leaves the settings as they are" "$(install_packages 0 A= test
    grep -q 'install .* libtiff-tools ' "$folder/ran" || cat "$folder/ran"
    grep -q FORMATS "$folder/config.mk" || echo "what was found is forgotten")"
exit_with 1 | fake dpkg-query
exit_with 100 | fake apt-get
result "the build goes on where optional packages cannot be installed" "$(install_packages 0 A=
    grep -q '^not installed: libwebp-dev' "$folder/printed" || cat "$folder/printed")"

# A compiler that makes empty files.
fake cc <<'END'
while [ "$1" != -o ]; do shift; done
: >"$2"
END
env -i PATH="$folder/bin:$PATH" make --no-print-directory BUILD="$folder/build" CC=cc CUDA=0 ISAL=0 LCMS=0 FORMATS= HARDENING= \
    PKG_CFLAGS= PKG_LIBS= V=0 all >"$folder/printed" 2>&1
result "a build without lines for every file shows how far it is" "$(
    sed -n 's,^\[\([0-9]*\)/\([0-9]*\)\] [A-Z]* .*,\1 \2,p' "$folder/printed" |
    awk '$1 != NR * 10 || $1 > $2 { print "line " NR ": " $0 } END { if (NR < 9 || NR * 10 + 9 < $2) print NR " lines for " $2 }'
    )"

# has PATTERN READELF-OPTION FILE
has()
{
    readelf -W "$2" "$3" 2>/dev/null | grep -q -e "$1" || echo "$3: readelf $2 shows no $1"
}
# known FLAG: the compiler has it, says the folder's configuration.
known()
{
    grep -q -e "^ *HARDENING ?=.*$1" "$build/config.mk"
}
result "the program and the library are hardened" "$(
    library=$build/libgpufilter.so
    has 'Type: *DYN' -h "$GPUFILTER"
    for file in "$GPUFILTER" "$library"; do
        has 'GNU_RELRO' -l "$file"
        has '\(BIND_NOW\|FLAGS.* NOW\)' -d "$file"
        readelf -W -l "$file" | grep 'GNU_STACK.*RWE'
        known -fstack-protector-strong && has '__stack_chk_fail' --dyn-syms "$file"
        known -D_FORTIFY_SOURCE && has '__[a-z]*_chk' --dyn-syms "$file"
    done
    known -fcf-protection && has 'IBT, SHSTK' -n "$build/src/cli/main.o"
)"
plan
