#!/bin/sh
# Writes what is generated for readers into FOLDER, laid out as the repository: README.md and the cookbook with the parts
# between their marks, the gallery, the page of results, and the arithmetic of clusters. Usage: readme.sh PROGRAM FOLDER
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../.. program=$1 folder=$2
mkdir -p "$folder/samples"
"$root/samples/gallery.sh" "$program" "$folder/samples"
"$here/results.sh" "$here/results" "$folder/tests/bench/results"
if command -v python3 >/dev/null; then
    mkdir -p "$folder/samples/cluster"
    python3 "$root/samples/cluster/arithmetic.py" "$here/results" >"$folder/arithmetic.md"
    mv "$folder/arithmetic.md" "$folder/samples/cluster"
fi

# five pictures a row, which is a line, each a link to its line of the gallery
gallery()
{
    echo '<table>'
    "$program" --list=markdown | sed -n 's/^| `\([a-z0-9_]*\)`.*/\1/p' | awk '
        NR % 5 == 1 { printf "%s", (NR > 1 ? "</tr>\n<tr>" : "<tr>") }
        { printf "<td align=\"center\"><a href=\"samples/gallery/README.md\"><img src=\"samples/gallery/%s.jpg\" height=\"87\" alt=\"%s\"></a><br><code>%s</code></td>", $1, $1, $1 }
        END { print "</tr>" }'
    echo '</table>'
}

# part NAME PAGE: what stands between the marks of that name is taken from standard input instead
part()
{
    cat >"$folder/part"
    awk -v name="$1" -v part="$folder/part" '
        $0 ~ "^<!-- /" name { skip = 0 }
        !skip { print }
        $0 ~ "^<!-- " name { while ((getline line < part) > 0) print line; skip = 1 }' "$folder/$2" >"$folder/next"
    mv "$folder/next" "$folder/$2"
    rm "$folder/part"
}

# The folder may be the repository itself.
for page in README.md samples/README.md; do
    cp "$root/$page" "$folder/next"
    mv "$folder/next" "$folder/$page"
done
gallery | part gallery README.md
"$here/figures.sh" "$here/results" | part figures README.md
qualities=$(ls "$here/results"/qualities-*.json | tail -n 1)
"$here/qualities_table.sh" "$qualities" | part qualities samples/README.md
