#!/bin/sh
# Prints what the build found and what it did not, and why that matters. CC: the compiler. Arguments: CUDA NVCC
# CUDAHOSTCXX CUBINS PTX ISAL LCMS FORMATS PACKAGES...
cuda=$1 nvcc=$2 host=$3 cubins=$4 ptx=$5 isal=$6 lcms=$7 formats=$8
shift 8
missing=$(CUDA=0 sh "$(dirname "$0")/packages.sh" missing)
if [ -n "$missing" ]; then
    echo "missing: on Debian and Ubuntu: apt-get install$missing" >&2
    exit 1
fi
for package in "$@"; do
    found="$found $package $(pkg-config --modversion "$package"),"
done
echo "found:${found%,}"
if [ "$isal" = 1 ]; then
    echo "PNG is unpacked by: ISA-L $(pkg-config --modversion libisal)"
else
    echo "PNG is unpacked by: zlib (ISA-L takes half its time: apt-get install libisal-dev)"
fi
if [ "$lcms" = 1 ]; then
    echo "colours are converted by profiles made with: Little CMS $(pkg-config --modversion lcms2)"
else
    echo "colours: no Little CMS: icc and --to-icc are refused (apt-get install liblcms2-dev)"
fi
# The formats in the order of their list, with the packages that bring them.
present="" absent="" packages=""
for format in $(sh "$(dirname "$0")/formats.sh" --packages); do
    name=${format%%:*}
    case " $formats" in
    *" $name:"*) present="$present $name" ;;
    *) absent="$absent $name" packages="$packages $(echo "${format#*:}" | tr , ' ')" ;;
    esac
done
echo "formats: png jpeg pnm pam$present"
[ -z "$absent" ] || echo "left out:$absent (apt-get install$packages)"
[ -z "$absent" ] && [ "$isal$lcms" = 11 ] || echo "what is installed later is found by the next make"
if [ "$cuda" != 1 ] && [ -z "$nvcc" ]; then
    echo "CUDA: no nvcc found: the program will have the CPU backend only"
elif [ "$cuda" != 1 ]; then
    echo "CUDA: left out (CUDA=0): the program will have the CPU backend only"
elif [ -z "$host" ]; then
    echo "CUDA: $nvcc takes none of the C++ compilers here: install g++, an older g++-12 or g++-11, or make CUDA=0" >&2
    exit 1
elif [ -z "$ptx" ]; then
    echo "CUDA: $nvcc knows no architecture from sm_75 on (CUDA=0 leaves it out)" >&2
    exit 1
elif [ -n "$cubins" ]; then
    echo "CUDA: $nvcc, machine code for sm_$(echo "$cubins" | sed 's/ /, sm_/g'), PTX for compute_$ptx"
else
    echo "CUDA: $nvcc, no GPU here: PTX for compute_$ptx, which every supported GPU runs"
    echo "      It is slower there than a build for that GPU, and has no labs: make CUDA_ARCHS=90 for an sm_90"
fi
[ "$cuda" != 1 ] || pkg-config --exists ffnvcodec ||
    echo "HEIC: decoded by the CPU alone; by a GPU's NVDEC with the headers of ffnvcodec (apt-get install libffmpeg-nvenc-dev)"
