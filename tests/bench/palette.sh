#!/bin/sh
# Compares the sizes of PNGs with reduced colours (--png-palette=N --png-level=9) with pngquant's, at equal SSIM.
# Arguments: the program, and a folder of PNGs (without it, the sample picture). Both programs write each picture with several
# numbers of colours, and sizes between them are interpolated. Alpha is laid on gray before SSIM is measured.
set -e
program=$1 pictures=${2:-samples/harbour.png}
command -v pngquant >/dev/null || { echo "palette.sh: needs pngquant" >&2; exit 3; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# line PROGRAM N FILE: the picture, the program, the bytes and the SSIM.
line()
{
    "$program" -q --device=cpu -i "$3" -o "$folder/flat.ppm" flatten=gray
    echo "$name $1 $(stat -c %s "$3") $("$program" --compare="$folder/whole.ppm" "$folder/flat.ppm" | awk '$1 == "ssim" {print $2; exit}')"
}

find "$pictures" -name '*.png' | sort | while read -r picture; do
    name=$(basename "$picture" .png)
    "$program" -q --device=cpu -i "$picture" -o "$folder/whole.ppm" flatten=gray
    for colours in 256 192 128 96 64 48 32 24 16; do
        pngquant --force $colours --output "$folder/a.png" "$picture"
        line theirs $colours "$folder/a.png"
        "$program" -q --device=cpu -i "$picture" -o "$folder/a.png" --png-palette=$colours --png-level=9
        line ours $colours "$folder/a.png"
    done
done | awk '
    { key = $1 " " $2; n[key]++; size[key, n[key]] = log($3); quality[key, n[key]] = -log(1 - $4 + 1e-6); names[$1] = 1 }
    # The logarithm of our size at this quality; "" if none of our files is as good or as bad.
    function at(key, wanted,   i, a, b)
    {
        for (i = 1; i < n[key]; i++) {
            a = quality[key, i]; b = quality[key, i + 1]
            if (a >= wanted && wanted >= b)
                return size[key, i] + (a > b ? (a - wanted) / (a - b) : 0) * (size[key, i + 1] - size[key, i])
        }
        return ""
    }
    END {
        for (name in names) {
            sum = count = 0
            for (i = 1; i <= n[name " theirs"]; i++) {
                own = at(name " ours", quality[name " theirs", i])
                if (own != "") { sum += own - size[name " theirs", i]; count++ }
            }
            if (!count) continue
            printf "%-24s %.3f\n", name, exp(sum / count) | "sort"
            all += sum / count; pictures++
        }
        close("sort")
        if (pictures) printf "%-24s %.3f\n", "geometric mean", exp(all / pictures)
    }'
