"""The goldens of tone and colour: scikit-image, scipy, Pillow, ImageMagick and numpy. make.py calls tone()."""
import os
import subprocess
import tempfile

import numpy as np
import skimage.color
import skimage.exposure
from PIL import Image, ImageOps
from scipy.interpolate import PchipInterpolator


def magick(rgb, *arguments):
    """What ImageMagick 6 makes of the picture."""
    with tempfile.TemporaryDirectory() as folder:
        before, after = (os.path.join(folder, name) for name in ("before.ppm", "after.ppm"))
        Image.fromarray(rgb).save(before)
        subprocess.run(["convert", before, *arguments, "-depth", "8", after], check=True)
        return np.array(Image.open(after))


def levels(golden, rounded, rgb, gray16):
    def scaled(values, peak, black, white, gamma):
        part = skimage.exposure.rescale_intensity(values / peak, (black, white), (0.0, 1.0))
        return skimage.exposure.adjust_gamma(part, 1 / gamma) * peak

    golden("levels=0.1:0.8:1.3", "rgb.ppm", rounded(scaled(rgb, 255, 0.1, 0.8, 1.3), rgb))
    golden("levels=0.2:0.6", "gray16.pgm", rounded(scaled(gray16, 65535, 0.2, 0.6, 1), gray16))
    green = rgb.astype(float)
    green[:, :, 1] = scaled(rgb[:, :, 1], 255, 0.3, 1, 0.7)
    golden("levels=black=0.3:gamma=0.7:channel=green", "rgb.ppm", rounded(green, rgb))
    golden("levels=0.2:0.6:2:blue", "gray16.pgm", gray16, 0)
    golden("levels=1:0", "rgb.ppm", 255 - rgb, 0)


def curves(golden, rounded, rgb, gray16):
    def through(points, values):
        x, y = np.array(points).T
        return PchipInterpolator(x, y)(np.clip(values, x[0], x[-1]))

    bumpy = [(0, 0.1), (0.2, 0.1), (0.35, 0.6), (0.5, 0.55), (0.9, 1), (1, 0.9)]
    text = "/".join(f"{x} {y}" for x, y in bumpy)
    golden(f"curves={text}", "gray16.pgm", rounded(through(bumpy, gray16 / 65535) * 65535, gray16))
    inner = [(0.2, 0), (0.8, 1)]
    golden("curves=0.2 0/0.8 1", "rgb.ppm", rounded(through(inner, rgb / 255) * 255, rgb))
    lighter, blue = [(0, 0), (0.4, 0.5), (1, 1)], [(0, 0.1), (0.5, 0.3), (1, 0.9)]
    both = rgb / 255
    both[:, :, 2] = through(blue, both[:, :, 2])
    golden("curves=lighter:blue=0 0.1/0.5 0.3/1 0.9", "rgb.ppm", rounded(through(lighter, both) * 255, rgb))


def exposure(golden, rounded, rgb):
    for stops in (0.7, -1.5):
        light = skimage.color.rgb2xyz(rgb) * 2 ** stops
        golden(f"exposure={stops}", "rgb.ppm", rounded(skimage.color.xyz2rgb(light) * 255, rgb))


# Bayer's matrix of side 8 as it is printed everywhere.
BAYER8 = np.array([[0, 32, 8, 40, 2, 34, 10, 42], [48, 16, 56, 24, 50, 18, 58, 26],
                   [12, 44, 4, 36, 14, 46, 6, 38], [60, 28, 52, 20, 62, 30, 54, 22],
                   [3, 35, 11, 43, 1, 33, 9, 41], [51, 19, 59, 27, 49, 17, 57, 25],
                   [15, 47, 7, 39, 13, 45, 5, 37], [63, 31, 55, 23, 61, 29, 53, 21]])
BAYER4 = np.array([[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]])


def few_levels(golden, rounded, rgb, gray16):
    golden("posterize=4", "rgb.ppm", magick(rgb, "+dither", "-posterize", "4"), 0)
    golden("posterize=5", "gray16.pgm", rounded(np.floor(gray16 / 65535 * 4 + 0.5) * 65535 / 4, gray16), 0)
    for chain, matrix, steps, picture in [("posterize=4:bayer8", BAYER8, 3, rgb),
                                          ("posterize=2:bayer4", BAYER4, 1, gray16)]:
        peak = np.iinfo(picture.dtype).max
        height, width = picture.shape[:2]
        side = len(matrix)
        limit = np.tile((matrix + 0.5) / side ** 2, (height // side + 1, width // side + 1))[:height, :width]
        limit = limit[:, :, None] if picture.ndim == 3 else limit
        dithered = np.floor(picture / peak * steps + limit) * peak / steps
        golden(chain, "rgb.ppm" if picture is rgb else "gray16.pgm", rounded(dithered, picture), 0)
    golden("solarize", "rgb.ppm", np.array(ImageOps.solarize(Image.fromarray(rgb), 128)), 0)
    golden("solarize=0.7", "rgb.ppm", np.array(ImageOps.solarize(Image.fromarray(rgb), 179)), 0)


def after_another(golden, rounded, rgb):
    """Behind a filter that mixes channels the same are operations, not tables, on its unrounded result."""
    y = rgb @ np.array([77, 150, 29]) / 256 / 255
    bumpy = [(0, 0.1), (0.2, 0.1), (0.35, 0.6), (0.5, 0.55), (0.9, 1), (1, 0.9)]
    x, to = np.array(bumpy).T
    text = "/".join(f"{a} {b}" for a, b in bumpy)
    golden(f"grayscale,curves={text}", "rgb.ppm", rounded(PchipInterpolator(x, to)(y) * 255, rgb))
    golden("grayscale,posterize=6", "rgb.ppm", rounded(np.floor(y * 5 + 0.5) * 51, rgb))
    bright = np.floor(y * 255 + 0.5) >= 127.5
    golden("grayscale,solarize", "rgb.ppm", rounded(np.where(bright, 1 - y, y) * 255, rgb))
    scaled = skimage.exposure.adjust_gamma(skimage.exposure.rescale_intensity(y, (0.1, 0.8), (0.0, 1.0)), 1 / 1.3)
    golden("grayscale,levels=0.1:0.8:1.3", "rgb.ppm", rounded(scaled * 255, rgb))
    light = skimage.color.rgb2xyz(np.dstack([y, y, y])) * 2 ** 0.7
    golden("grayscale,exposure=0.7", "rgb.ppm", rounded(skimage.color.xyz2rgb(light)[:, :, 1] * 255, rgb))


def tone(golden, write, rounded, rgb, gray, gray16, rgba):
    levels(golden, rounded, rgb, gray16)
    curves(golden, rounded, rgb, gray16)
    exposure(golden, rounded, rgb)
    few_levels(golden, rounded, rgb, gray16)
    after_another(golden, rounded, rgb)
