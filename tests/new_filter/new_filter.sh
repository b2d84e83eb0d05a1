#!/bin/sh
# Begins a filter: new_filter.sh NAME point|stencil writes src/filters/NAME.c, its line in src/filters/filters.def and
# tests/filters/test_NAME.c. Nothing that is there is written over.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
name=${1:-} kind=${2:-}
cd "$here/../.."

refuse()
{
    echo "new-filter: $1" >&2
    exit 2
}
case $kind in
point | stencil) ;;
*) refuse "KIND=$kind is neither point nor stencil: make new-filter NAME=glow KIND=point" ;;
esac
case $name in
'' | [!a-z]* | *[!a-z0-9]*) refuse "NAME=$name is not a name of small letters and digits: make new-filter NAME=glow KIND=point" ;;
esac
echo "struct $name { int $name; };" | ${CC:-cc} -std=c17 -x c -fsyntax-only - 2>/dev/null || refuse "NAME=$name has a meaning in C"
! grep -rq --include='*.c' "\.\(name\|alias\) = \"$name\"" src/filters || refuse "there is a filter $name"
for file in "src/filters/$name.c" tests/*/"test_$name.c"; do
    [ ! -e "$file" ] || refuse "$file is there already"
done

sed "s/NAME/$name/g" "$here/$kind.c" >"src/filters/$name.c"
sed "s/NAME/$name/g" "$here/test.c" >"tests/filters/test_$name.c"
echo "GF_FILTER($name)" >>src/filters/filters.def
cat <<END
src/filters/$name.c    the filter, which works: write your formula and your parameters into it
src/filters/filters.def  has its line
tests/filters/test_$name.c     fails until it says what $name must make of a small picture
Then: make, build/gpufilter -i in.png -o out.png $name, make filter-pages, make test
END
