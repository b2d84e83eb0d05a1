#!/bin/sh
# The cookbook's table of qualities. Argument: the results of `make bench-qualities`.
set -eu

# shellcheck disable=SC2016 # awk's own dollars
awk '
function value(key,  s) {
    s = $0
    if (!match(s, "\"" key "\": ")) return ""
    s = substr(s, RSTART + RLENGTH)
    if (substr(s, 1, 1) == "\"") { s = substr(s, 2); return substr(s, 1, index(s, "\"") - 1) }
    match(s, /^[-0-9.]+/)
    return substr(s, 1, RLENGTH)
}
/"date":/ { date = substr(value("date"), 1, 10); commit = value("commit"); pictures = value("pictures") }
/"format":/ {
    format = value("format"); quality = value("quality")
    if (!(format in known)) { known[format] = 1; formats[++columns] = format }
    if (!(quality in seen)) { seen[quality] = 1; qualities[++rows] = quality }
    cell[format, quality] = sprintf("%.1f, %.2f", value("score"), value("bits_per_pixel"))
}
END {
    sub(/, /, "\047s ", pictures)
    printf "What a quality looks like, and what it takes: the mean SSIMULACRA2 (`--compare`) and the mean bits a pixel of %s pictures, %s at\n", pictures, date
    printf "commit %s; JPEG with `--optimize`. From a score of 70 on faults are hard to see without the original, from 90 on also beside it.\n\n| `--quality` |", commit
    for (i = 1; i <= columns; i++) printf " %s |", formats[i]
    printf "\n| --- |"
    for (i = 1; i <= columns; i++) printf " --- |"
    for (j = 1; j <= rows; j++) {
        printf "\n| %s |", qualities[j]
        for (i = 1; i <= columns; i++) printf " %s |", cell[formats[i], qualities[j]]
    }
    print ""
}' "$1"
