#!/bin/sh
# Formats the sources with clang-format; with "check" it changes nothing, and names what is not formatted. Each version
# formats in another way, so that it works with the version alone that the tree is formatted with.
set -eu
version=14
cd "$(dirname "$0")/.."
options=-i
[ "${1:-}" != check ] || options="--dry-run -Werror"
for tool in "clang-format-$version" clang-format ''; do
    ! "$tool" --version 2>/dev/null | grep -q "version $version\." || break
done
if [ -z "$tool" ]; then
    echo "format: left out, clang-format $version is missing" >&2
    [ "${1:-}" = check ]
    exit
fi
# shellcheck disable=SC2086 # several words
find include src cuda samples tests \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' \) -exec "$tool" $options {} +
