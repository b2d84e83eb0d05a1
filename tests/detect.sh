#!/bin/sh
# Prints what the build found and what it did not, and why that matters. Arguments: CUDA NVCC ARCHS ISAL PACKAGES...
cuda=$1 nvcc=$2 archs=$3 isal=$4
shift 4
missing=
for package in "$@"; do
    version=$(pkg-config --modversion "$package" 2>/dev/null) && found="$found $package $version," || missing="$missing $package"
done
echo "found:${found%,}"
if [ -n "$missing" ]; then
    echo "missing:$missing (Debian, Ubuntu: apt-get install pkg-config libpng-dev libjpeg-dev zlib1g-dev)" >&2
    exit 1
fi
if [ "$isal" = 1 ]; then
    echo "PNG is unpacked by: ISA-L $(pkg-config --modversion libisal)"
else
    echo "PNG is unpacked by: zlib (ISA-L takes half its time: apt-get install libisal-dev)"
fi
if [ "$cuda" = 1 ]; then
    echo "CUDA: $nvcc, cubins for sm_$(echo "$archs" | sed 's/ /, sm_/g'), PTX for the newest"
elif [ -n "$nvcc" ]; then
    echo "CUDA: left out (CUDA=0): the program will have the CPU backend only"
else
    echo "CUDA: no nvcc found: the program will have the CPU backend only"
fi
