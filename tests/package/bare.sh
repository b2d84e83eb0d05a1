#!/bin/sh
# Builds the packages in a bare distribution, from nothing but make, and tries the program's in another: alone it names the
# package of each library that it cannot load, and with what it recommends it opens each format. Root only, by a network.
# Arguments: a folder that debootstrap --variant=minbase made, which stays as it is, and pictures for opens.sh.
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)
bare=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# within FOLDER COMMAND
within()
{
    chroot "$work/$1" sh -ec "export DEBIAN_FRONTEND=noninteractive; $2" </dev/null
}

for folder in build use; do
    cp -a "$bare" "$work/$folder"
    cp /etc/resolv.conf "$work/$folder/etc"
    mkdir "$work/$folder/try"
    within $folder 'apt-get update -qq'
done
git -C "$source" archive HEAD | tar -x -C "$work/build/try"
within build 'apt-get install -y -qq --no-install-recommends make
    cd /try && make demo CUDA=0 BUILD=build-deb && make deb CUDA=0'

cp "$work"/build/try/build/*.deb "$source/tests/package/opens.sh" "$@" "$work/use/try"
within use 'apt-get install -y -qq --no-install-recommends /try/gpufilter_*.deb
    gpufilter --version | grep "^without" >/try/without
    cat /try/without
    ! grep -v "(apt-get install lib[^ ]*)$" /try/without || exit 1
    apt-get purge -y -qq gpufilter
    apt-get install -y -qq /try/gpufilter_*.deb
    rm /try/gpufilter*.deb /try/without
    mv /try/opens.sh /
    sh /opens.sh gpufilter $(find /try -type f) >/problems
    cat /problems
    [ ! -s /problems ]' && echo "ok - $bare: the package opens each format"
