#!/bin/sh
# The Debian packages: what they need is named, with versions; what the program loads when it needs it is recommended; and
# the program opens each format where the package is unpacked. The build folder is that of $GPUFILTER.
source=$(cd "$(dirname "$0")/.." && pwd)
: "${GPUFILTER:=$source/build/gpufilter}"
build=$(cd "$(dirname "$GPUFILTER")" && pwd)
cd "$source" || exit 1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
. "$source/tests/tap.sh"

if ! command -v dpkg-deb >/dev/null || ! dpkg -S libc.so.6 >/dev/null 2>&1; then
    skipped "packages" "the distribution has no dpkg"
    plan
    exit
fi

field()
{
    dpkg-deb --field "$folder"/deb/gpufilter_*.deb "$1"
}

# stand_ins OWNER...: the packages that other packages are told to need for the libraries of these, which may be others: Ubuntu's
# libjpeg-turbo8 says libjpeg8.
stand_ins()
{
    for owner; do
        dpkg-query --control-show "$owner" symbols 2>/dev/null | awk '/^[^ |*]/ { print $2 }'
        dpkg-query --control-show "$owner" shlibs 2>/dev/null | awk '!/^udeb:/ { print $3 }'
    done | sort -u
}

# missing FIELD [VERSION]: the libraries that come in whose package is not in that field, or without a version.
missing()
{
    while read -r library; do
        owners=$(dpkg -S "*/$library" 2>/dev/null | sed 's/[:,].*//')
        # shellcheck disable=SC2086 # names without spaces
        for package in $owners $(stand_ins $owners); do
            ! field "$1" | grep -q "\(^\|, \)$package${2:-\(,\|$\)}" || owners=
        done
        [ -z "$owners" ] || echo "$1 lacks the package of $library"
    done
}

# packages HOW: makes them, with the libraries that the program was linked with.
packages()
{
    rm -rf "$folder/deb"
    env -i PATH="$PATH" PKG_CONFIG_PATH="$PKG_CONFIG_PATH" LD_LIBRARY_PATH="$LD_LIBRARY_PATH" BUILD="$folder/deb" VERSION=0 \
        COMPRESSION=none tests/package/deb.sh zlib >"$folder/log" 2>&1 || cp "$folder/log" "$folder/failed"
    result "what is linked is needed, in versions$1" "$(cat "$folder/failed" 2>&-
        readelf -d "$GPUFILTER" | sed -n 's/.*(NEEDED).*\[\(lib.*\)\]/\1/p' | missing Depends ' (>= [0-9][^)]*)')"
}

ln -s "$build" "$folder/deb-deb"
mkdir "$folder/bin"
printf '#!/bin/sh\nexit 1\n' >"$folder/bin/dpkg-shlibdeps"
chmod +x "$folder/bin/dpkg-shlibdeps"
path=$PATH
PATH=$folder/bin:$PATH
packages ", without dpkg-shlibdeps"
PATH=$path
packages ""
result "what is loaded is recommended" "$(sed -n 's/^ *FORMATS ?= //p' "$build/config.mk" | tr ' :,' '\n' |
    sed -n 's/^\(lib[^=]*\).*/\1/p' | missing Recommends)"
result "a font for texts is recommended" "$(grep -q 'FORMATS.*:libfreetype' "$build/config.mk" || exit 0
    dpkg-deb -f "$folder"/deb/gpufilter_*.deb Recommends | grep -q fonts-dejavu-core || echo "no fonts-dejavu-core")"
dpkg-deb -c "$folder"/deb/gpufilter-dev_*.deb >"$folder/listed"
result "the second package has what programs are built with" "$(for file in include/gpufilter/version.h libgpufilter.a \
    libgpufilter.so pkgconfig/gpufilter.pc cmake/gpufilter/gpufilter-config.cmake cmake/gpufilter/gpufilter-config-version.cmake; do
    grep -q "/$file\( ->.*\)\?$" "$folder/listed" || echo "no $file"
done)"
dpkg-deb -x "$folder"/deb/gpufilter_*.deb "$folder/bare"
result "the unpacked program opens each format" "$(tests/package/opens.sh "$folder/bare/usr/bin/gpufilter")"
plan
