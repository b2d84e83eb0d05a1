#!/bin/sh
# The page of all results with its plots. Arguments: the folder of results, and the one to write to.
set -eu
results=$1 folder=$2 here=$(dirname "$0")
mkdir -p "$folder"
"$here/plots.sh" "$results" "$folder"
{
    cat <<'END'
# Results

`make readme` writes this page and its plots from the newest files of this folder. They carry the date, the device, the
driver and the commit, and are made by these targets:

- `make bench`: `cpu-*`, the CPU backend beside vips, ImageMagick, GraphicsMagick and OpenCV
- `make bench-filters`: `filters-*`, filters on the CPU beside those of OpenCV and libvips that do the same
- `make bench-gpu`: `gpu-*`, the kernels beside NPP's, the pipeline, the start of the program; `h100-*`: the same on an H100
- `make bench-peers`: `peers-*`, the kernels and the JPEG codec beside those of CV-CUDA, cuCIM, kornia, nvImageCodec and NPP
- `make bench-batch`: `batch-*`, thousands of JPEGs
- `make bench-formats`: `formats-*`, kernels in gray8, RGB8, RGBA8, RGB16, RGBA16 and RGBA of floats, in multiples of the copy of each
- `make bench-small`: `small-*`, what 64 small pictures take on a GPU by ways of launching
- `make bench-jobs`: `jobs-*`, the jobs that people have most, on one GPU and several, beside the files alone and peers; `kernels-*`: some rows of `make bench-gpu`
- `make bench-thumbnail`: `thumbnail-*`, thumbnails of JPEGs beside vips, OpenCV, torchvision, Pillow and sharp
- `make bench-serve`: `serve-*`, single pictures by a server whose GPU is awake
- `make bench-kills`: `kills-*`, servers that are killed under their clients
- `make bench-auto`: `auto-*`, whether `--device=auto` takes the device that is done sooner, case by case
- `make bench-limits`: `limits-*`, what bounds each kernel, counted by Nsight Compute
- `make bench-start`: `start-*`, where the start of CUDA spends its time
- `make bench-jpeg`: `jpeg-*`, the GPU's JPEG decoder and encoder alone
- `make bench-corpora`: `corpora-*`, pictures of public test sets beside independent readers
- `make bench-encoders`: `encoders-*`, bytes of JPEGs at equal SSIMULACRA2 beside libjpeg-turbo's, cjpegli's and mozjpeg's
- `make bench-qualities`: `qualities-*`, SSIMULACRA2 and size of four formats at their qualities, the cookbook's table
- `make bench-pairs`: `pairs-*`, how long `--compare` of many pairs and of a large one takes, and a search by `--target`, on a GPU, on the CPU and by a server
- `make bench-floats`: `floats-*`, a half OpenEXR through blur and a reduction, beside oiiotool and vips; `floats-peers-*`: the rows of `make bench-peers` that had peers in November, and those of floats
- `make bench-device`: `device-*`, pictures in a GPU's memory by the Python module, and a film through pipes
- `make bench-films`: `films-*`, a film through filters beside ffmpeg's, on the CPU
- `make bench-png`: `png-*`, PNG beside libpng; `device-png-*`, PNGs of level 1 by a GPU, and whole programs beside peers
- `make compare`: `compare-*`, the variants of every filter
- `make techniques`: `techniques.md`, every technique of NVIDIA's guides

![the CPU beside its peers](cpu.svg)

![the kernels beside NPP](gpu.svg)

![the variants of each filter](variants.svg)

## The tables

END
    "$here/tables.sh" "$results"
    cat <<'END'

## What each optimisation is worth

Most filters have their kernels in several variants, from the naive one of NVIDIA's guides up to the default, each with
one technique more.

END
    "$here/worth.sh" "$results"
    cat <<'END'

| offsets: coalescing | the window of the L2 cache |
| --- | --- |
END
    printf '| ![bandwidth against offset](%s) | ![bandwidth against working set](%s) |\n' \
        "$(basename "$(ls "$results"/offset-*.png | tail -n 1)")" "$(basename "$(ls "$results"/l2-window-*.png | tail -n 1)")"
    cat <<'END'

Not every technique of the guides pays on Hopper: texture fetches are slower than plain loads (0.4 times in the lab,
0.7 in `convolve`), asynchronous copies into shared memory gain 3 % at most, a misaligned copy loses 4 % where a V100
lost a tenth, and blocks of 32x32 transpose no faster than one thread after another, since each warp still writes to 32
rows; 8x32 is what helps. [techniques.md](techniques.md) has them all.
END
} >"$folder/README.md"
