#!/bin/sh
# Prints what the program cannot write and read of the formats that it lists: picture formats, archives and the filter
# text. Needs nothing but the program and the system's own tools. Arguments: PROGRAM [PICTURE...], pictures of formats that
# it only reads.
program=$1
shift
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

# can INPUT OUTPUT [CHAIN]: what the program was built without is no problem.
can()
{
    ! problem=$("$program" --device=cpu -q -i "$1" -o "$folder/$2" ${3:+"$3"} 2>&1) || return 0
    printf '%s\n' "$problem" | grep -v '\(built\|made\) without'
}

"$program" --version | grep '^without' | grep -v '\(built\|made\) without'
printf 'P6\n2 2\n255\n0123456789ab' >"$folder/in.ppm"
printf 'GIF89a\001\000\001\000\200\000\000\000\000\000\377\377\377,\000\000\000\000\001\000\001\000\000\002\002D\001\000;' \
    >"$folder/in.gif"
for format in png jpg pnm pam webp tif avif jxl jp2 gif tar; do
    can "$folder/in.ppm" "a.$format"
    [ ! -s "$folder/a.$format" ] || can "$folder/a.$format" "back.$format.tar"
done
can "$folder/in.ppm" text.png text=a
for picture in "$folder/in.gif" "$@"; do
    can "$picture" read.png
done
