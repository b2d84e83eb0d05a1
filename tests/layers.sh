#!/bin/sh
# The order of the layers stands in src/README.md. No include points to a folder below its own in that list, every
# folder with sources is in the list or is a room of one that is, and every header compiles by itself.
. "$(dirname "$0")/tap.sh"
root=${1:-$(cd "$(dirname "$0")/.." && pwd)}
cd "$root" || exit 1
list=$(mktemp)
trap 'rm -f "$list"' EXIT
sed -n 's/^| `\([^`]*\)` |.*/\1/p' src/README.md >"$list"

sources=$(find src cuda -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.def' | sort)

# The layer of a folder is the longest name of the list that it begins with.
# shellcheck disable=SC2086 # names without spaces
result "includes point to folders above" "$(awk '
    FILENAME == ARGV[1] { rank[$0] = ++ranks; next }
    function layer_of(folder) {
        while (!(folder in rank) && sub(/\/[^\/]*$/, "", folder));
        return folder
    }
    FNR == 1 {
        from = FILENAME
        sub(/\/[^\/]*$/, "", from)
        if (!(layer_of(from) in rank)) print FILENAME ": " from " is not in the list"
    }
    match($0, /^ *# *include *"[^"]+"/) {
        name = substr($0, RSTART, RLENGTH)
        sub(/^[^"]*"/, "", name); sub(/"$/, "", name)
        if (name !~ /\//) { print FILENAME ": \"" name "\" names no folder"; next }
        to = name; sub(/\/[^\/]*$/, "", to)
        if (to == "gpufilter") to = "include/gpufilter"
        else if (to !~ /^cuda\//) to = "src/" to
        if (!(layer_of(to) in rank)) print FILENAME ": \"" name "\": " to " is not in the list"
        else if (rank[layer_of(to)] > rank[layer_of(from)]) print FILENAME ": \"" name "\" points downwards"
    }' "$list" $sources)"

# The third column is the lines that a folder may have, pages included. Who needs more changes the number, and says why in the commit.
# shellcheck disable=SC2046 # names without spaces
result "no folder has more lines than src/README.md says" "$(wc -l $(find src cuda include -type f) | awk '
    FILENAME == ARGV[1] { if (split($0, part, "|") > 3 && split(part[2], name, "`") > 1) { most[name[2]] = part[4]; gsub(/[^0-9]/, "", most[name[2]]) }; next }
    $2 != "total" {
        sub(/^\.\//, "", $2)
        for (folder = $2; !(folder in most) && sub(/\/[^\/]*$/, "", folder); );
        if (folder in most) lines[folder] += $1
    }
    END {
        for (folder in lines)
            if (lines[folder] > most[folder] + 0) print folder " has " lines[folder] " lines, more than " most[folder] + 0
    }' src/README.md -)"

# What people study CUDA with can be left out of a build: of its headers the product includes the two joints alone. The
# Makefile looks for them, and for GF_WITH_STUDY, in C files.
result "the product includes nothing of the study" "$(grep -rnE '^ *# *include "(cuda/)?(cli/)?study/' src cuda |
    grep -vE '^(src/study|src/cli/study|cuda/study)/|\.c:.*"(cli/study/study|cuda/study/variants/variants)\.h"')"
result "nothing else asks whether there is a study" "$(grep -rl GF_WITH_STUDY src cuda tests --include='*.h' --include='*.cu*' |
    grep -vx -e src/cli/study/study.h -e cuda/study/variants/variants.h)"
result "the names in src/DESIGN.md are where it says" "$(sed -n 's/^| .* | `\([a-z_]*\)` | `\([^`]*\)` |.*/\1 \2/p' src/DESIGN.md |
    while read -r name file; do
        grep -q "^\([a-z_].*[ *]\)\{0,1\}$name(" "$file" || echo "$name is not in $file"
    done)"
result "src/DESIGN.md has the whole way" "$(grep -c '^| [0-9]* | `[a-z_]*` | `src/' src/DESIGN.md | grep -vx 15)"

# Headers that are included several times with other macros begin without a guard. Some libraries' own lie in folders
# that pkg-config names.
flags=$(for library in freetype2 harfbuzz lcms2 libopenjp2 OpenEXR; do pkg-config --cflags $library 2>/dev/null; done)
# shellcheck disable=SC2086 # several words
result "headers compile by themselves" "$(find src include -name '*.h' | sort | while read -r header; do
    grep -q -e '^#pragma once' -e '^#ifndef GP\{0,1\}' "$header" || continue
    name=${header#src/}
    said=$(printf '#include "%s"\n' "${name#include/}" |
        ${CC:-cc} -std=c17 -D_GNU_SOURCE -Iinclude -Isrc -I. $flags -Wall -Werror -x c -fsyntax-only - 2>&1)
    # An optional library's header, of a library that is not here; the headers by way of which it is included stand before it.
    lacking=$(printf '%s\n' "$said" | sed -n "s/.*fatal error: '\{0,1\}\([^:']*\)'\{0,1\}\(: No such file\| file not found\).*/\1/p")
    [ -n "$lacking" ] && grep -rq "#include <$lacking>" src || printf '%s' "${said:+$(printf '%s\n' "$said" | head -n 5)
}"
done)"
plan
