#!/bin/sh
# Which file calls which, by the symbols of the objects that the build has made. No call goes to a folder below the
# caller's own in the list of src/README.md, and the files of one folder do not call each other in a circle: a folder's
# entry file is not also its toolbox.
. "$(dirname "$0")/tap.sh"
program=$(realpath "${GPUFILTER:-build/gpufilter}")
build=${BUILD:-$(dirname "$program")}
build=$(realpath "$build")
cd "$(dirname "$0")/.." || exit 1
calls=$(mktemp) defined=$(mktemp)
trap 'rm -f "$calls" "$defined"' EXIT
grep -rhE '^(extern "C"|GF_LAUNCHES|GF_COUNTS)' cuda --include='*.cu' | grep -oE 'gf_[a-z0-9_]+_cuda[(,]' | tr -d '(,' | sort -u >"$defined"

# Objects whose source has gone are left out.
objects=$(find src cuda \( -name '*.c' -o -name '*.cu' \) | sed "s|\(.*\)\.[a-z]*$|$build/\1.o|" | while read -r object; do
    [ ! -f "$object" ] || echo "$object"
done)
if [ -z "$objects" ] || ! command -v nm >/dev/null; then
    skipped "calls go one way" "without nm or the objects of a build"
    plan
    exit
fi

# Lines of "caller callee symbol", the files without the ends of their names.
# shellcheck disable=SC2086 # names without spaces
nm -A -P $objects 2>/dev/null | sed "s|^$build/||; s|\.o: | |" | awk '
    $3 == "U" { uses[++count] = $1 " " $2; next }
    $3 ~ /^[TDBRWV]$/ { file[$2] = $1 }
    END {
        for (i = 1; i <= count; i++) {
            split(uses[i], use, " ")
            if (use[2] in file && file[use[2]] != use[1]) print use[1], file[use[2]], use[2]
        }
    }' >"$calls"

# Tables name the kernels and microbenchmarks below them.
result "no call goes to a folder below" "$(awk '
    function layer_of(folder) {
        while (!(folder in rank) && sub(/\/[^\/]*$/, "", folder));
        return rank[folder]
    }
    FILENAME != ARGV[2] { if (split($0, part, "`") > 2 && /^\| `/) rank[part[2]] = ++ranks; next }
    $2 ~ /^src/ && layer_of($2) > layer_of($1) { print $1 " calls " $3 "() in " $2 }
    ' src/README.md "$calls")"

result "the files of a folder do not call each other in a circle" "$(awk '
    function folder_of(file) { sub(/\/[^\/]*$/, "", file); return file }
    folder_of($1) == folder_of($2) { print $1, $2 }' "$calls" | tsort 2>&1 >/dev/null |
    sed -n 's/^tsort: //; /contains a loop/!p')"

# A kernel whose row has gone from a table would never run.
result "every function that launches kernels is named by another file" "$(grep -rowE 'gf_[a-z0-9_]+' src cuda | sort -u |
    awk -F: '{ files[$2]++ } END { for (name in files) if (files[name] == 1) print name }' | sort |
    grep -xF -f /dev/stdin "$defined")"

# The linker takes the functions of one for those of both: one lab measured with the memory of another.
result "no two labs have a struct of one name" "$(grep -hoE '^struct [a-z0-9_]+ \{' cuda/study/labs/*.cu | sort | uniq -d)"
plan
