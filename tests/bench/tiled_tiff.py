#!/usr/bin/env python3
"""Writes a TIFF of JPEG tiles, for measuring: tiled_tiff.py OUT WIDTH HEIGHT [TILE [PICTURE]].

The tiles are cut from a PICTURE that repeats (noise on shades without one), and are encoded by
Pillow as 4:2:0 of quality 75. A BigTIFF is written, with a copy of the tables in each tile."""
import io
import struct
import sys

import numpy
from PIL import Image


def shades(side):
    """Shades with some noise."""
    y, x = numpy.mgrid[0:side, 0:side]
    noise = numpy.random.default_rng(1).normal(0, 6, (side, side, 3))
    waves = [128 + 90 * numpy.sin(x / a) * numpy.cos(y / b) for a, b in ((37, 53), (71, 29), (19, 97))]
    return numpy.clip(numpy.stack(waves, 2) + noise, 0, 255).astype("uint8")


def main(out, width, height, tile=512, picture=None):
    """Writes the file. As many different tiles as the picture has are repeated."""
    width, height, tile = int(width), int(height), int(tile)
    pixels = numpy.asarray(Image.open(picture).convert("RGB")) if picture else shades(4 * tile)
    coded = []
    for top in range(0, pixels.shape[0] - tile + 1, tile):
        for left in range(0, pixels.shape[1] - tile + 1, tile):
            file = io.BytesIO()
            part = Image.fromarray(pixels[top:top + tile, left:left + tile])
            part.save(file, "jpeg", quality=75, subsampling="4:2:0")
            coded.append(file.getvalue())
    count = -(-width // tile) * -(-height // tile)
    with open(out, "wb") as file:
        file.write(b"II" + struct.pack("<HHHQ", 43, 8, 0, 0))
        offsets = []
        for i in range(count):
            offsets.append(file.tell())
            file.write(coded[i % len(coded)])
        sizes = [len(coded[i % len(coded)]) for i in range(count)]
        lists = file.tell()
        file.write(struct.pack(f"<{count}Q", *offsets) + struct.pack(f"<{count}Q", *sizes))
        directory = file.tell()
        inline = count == 1
        tags = [(256, 4, 1, width), (257, 4, 1, height), (258, 3, 3, 8 | 8 << 16 | 8 << 32),
                (259, 3, 1, 7), (262, 3, 1, 6), (277, 3, 1, 3), (322, 4, 1, tile), (323, 4, 1, tile),
                (324, 16, count, offsets[0] if inline else lists),
                (325, 16, count, sizes[0] if inline else lists + 8 * count),
                (530, 3, 2, 2 | 2 << 16)]
        file.write(struct.pack("<Q", len(tags)))
        for tag in tags:
            file.write(struct.pack("<HHQQ", *tag))
        file.write(struct.pack("<Q", 0))
        file.seek(8)
        file.write(struct.pack("<Q", directory))


main(*sys.argv[1:])
