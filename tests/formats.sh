#!/bin/sh
# Prints the optional picture formats whose libraries can be built with here, each as NAME:LIBRARY=PACKAGE,LIBRARY=PACKAGE:
# the shared libraries by the names that the program will load them by, and the packages that bring them, without "=PACKAGE"
# where dpkg knows none. Arguments: the C compiler. With --packages it prints what each format is built with, whether it is
# here or not, as NAME:PACKAGE,PACKAGE.
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

# format NAME PACKAGES HEADER FLAGS...
format()
{
    name=$1 header=$3
    [ "$CC" != --packages ] || { echo "$1:$2"; return 0; }
    shift 3
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

# OpenEXR's core alone: the package names its libraries of C++, too.
exr_core()
{
    pkg-config --libs OpenEXR 2>/dev/null | tr ' ' '\n' | grep OpenEXRCore
}

# shellcheck disable=SC2046 # several words
formats()
{
    format webp libwebp-dev webp/encode.h $(flags libwebp libwebpdemux libwebpmux)
    format tiff libtiff-dev tiffio.h $(flags libtiff-4)
    format avif libavif-dev avif/avif.h $(flags libavif)
    format jxl libjxl-dev jxl/decode.h $(flags libjxl libjxl_threads)
    format heif libheif-dev libheif/heif.h $(flags libheif)
    format gif libgif-dev gif_lib.h -lgif # giflib has no pkg-config file
    format jp2 libopenjp2-7-dev openjpeg.h $(flags libopenjp2)
    format exr libopenexr-dev openexr.h $(pkg-config --cflags OpenEXR 2>/dev/null | sed 's/-pthread//') $(exr_core)
    format raw libraw-dev libraw/libraw.h $(pkg-config --exists libraw_r 2>/dev/null && echo -lraw_r)
    format slide libopenslide-dev openslide/openslide.h $(flags openslide)
    format tar libarchive-dev archive.h $(flags libarchive) # not of pictures, but of archives
    format seccomp libseccomp-dev seccomp.h $(flags libseccomp) # not of pictures, but of cells for decoders
    format fonts libfontconfig-dev fontconfig/fontconfig.h $(flags fontconfig | sed s/-lfreetype//) # not of pictures, but of fonts by name in text
    format text libfreetype-dev,libharfbuzz-dev hb-ft.h $(flags freetype2 harfbuzz) # not of pictures, but of the filter text
}

CC=$*
case $CC in
--packages) formats ;;
*) formats | with_packages ;;
esac
