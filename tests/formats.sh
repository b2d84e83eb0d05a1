#!/bin/sh
# Prints the optional picture formats whose libraries can be built with here, each as NAME:LIBRARY=PACKAGE,LIBRARY=PACKAGE:
# the shared libraries by the names that the program will load them by, and the packages that bring them, without "=PACKAGE"
# where dpkg knows none. Arguments: the C compiler.
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

# format NAME HEADER FLAGS...
format()
{
    name=$1 header=$2
    shift 2
    [ $# -gt 0 ] || return 0
    printf '#include <stdio.h>\n#include <stdint.h>\n#include <%s>\n' "$header" >"$folder/a.c"
    # shellcheck disable=SC2086 # several words
    $CC -shared -fPIC -o "$folder/a.so" "$folder/a.c" -Wl,--no-as-needed "$@" -nostdlib 2>/dev/null || return 0
    libraries=$(LC_ALL=C readelf -d "$folder/a.so" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep '^lib' | paste -sd, -)
    [ -z "$libraries" ] || echo "$name:$libraries"
}

# flags PACKAGE...: nothing where one is missing.
flags()
{
    pkg-config --cflags --libs "$@" 2>/dev/null
}

# Adds the packages to the lines that come in: dpkg's "PACKAGE:ARCHITECTURE: FILE" says them.
with_packages()
{
    cat >"$folder/formats"
    # shellcheck disable=SC2046 # names without spaces
    dpkg -S $(sed 's/.*://' "$folder/formats" | tr , ' ') 2>/dev/null | awk '
        known { split($1, package, /[:,]/); sub(/.*\//, "", $NF); of[$NF] = package[1]; next }
        { count = split($0, part, /[:,]/)
          for (i = 2; i <= count; i++)
              part[1] = part[1] (i == 2 ? ":" : ",") part[i] (part[i] in of ? "=" of[part[i]] : "")
          print part[1] }' known=1 - known=0 "$folder/formats"
}

CC=$*
# shellcheck disable=SC2046 # several words
{
    format webp webp/encode.h $(flags libwebp libwebpdemux libwebpmux)
    format tiff tiffio.h $(flags libtiff-4)
    format avif avif/avif.h $(flags libavif)
    format jxl jxl/decode.h $(flags libjxl libjxl_threads)
    format heif libheif/heif.h $(flags libheif)
    format gif gif_lib.h -lgif # giflib has no pkg-config file
    format tar archive.h $(flags libarchive) # not of pictures, but of archives
    format text hb-ft.h $(flags freetype2 harfbuzz) # not of pictures, but of the filter text
} | with_packages
