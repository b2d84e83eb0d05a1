"""The goldens of pictures sampled at real positions: scipy.ndimage, ImageMagick and numpy. make.py calls warps()."""
import math
import os
import subprocess
import tempfile

import numpy as np
from PIL import Image
from scipy import ndimage


def lanczos3(t):
    return np.where(np.abs(t) < 3, np.sinc(t) * np.sinc(t / 3), 0)


def catmull_rom(t):
    t = np.abs(t)
    return np.where(t < 1, (1.5 * t - 2.5) * t * t + 1, np.where(t < 2, ((-0.5 * t + 2.5) * t - 4) * t + 2, 0))


def by_formula(plane, rows, columns, kernel, reach, mode, beyond):
    """The sum over a window of 2 reach x 2 reach samples, in float64: what no library has for these kernels."""
    picture = np.pad(plane, 8, mode="edge") if mode == "edge" else np.pad(plane, 8, constant_values=beyond)
    rows, columns = np.clip(rows, -5, plane.shape[0] + 4), np.clip(columns, -5, plane.shape[1] + 4)
    row, column = np.floor(rows).astype(int), np.floor(columns).astype(int)
    taps = np.arange(1 - reach, reach + 1)
    down = [kernel(rows - row - i) for i in taps]
    across = [kernel(columns - column - i) for i in taps]
    total = 0
    for i, weight in zip(taps, down):
        for j, other in zip(taps, across):
            total = total + weight * other * picture[row + i + 8, column + j + 8]
    return total / sum(down) / sum(across)


def sampled(picture, rows, columns, kernel="linear", mode="colour", beyond=255):
    """The picture at these positions, in float64."""
    planes = []
    for plane in np.moveaxis(np.atleast_3d(picture).astype(float), 2, 0):
        if kernel in ("linear", "nearest"):
            planes.append(ndimage.map_coordinates(
                plane, [rows, columns], order=kernel == "linear", cval=beyond,
                mode="nearest" if mode == "edge" else "grid-constant"))
        else:
            function, reach = {"cubic": (catmull_rom, 2), "lanczos3": (lanczos3, 3)}[kernel]
            planes.append(by_formula(plane, rows, columns, function, reach, mode, beyond))
    return np.stack(planes, axis=2) if picture.ndim == 3 else planes[0]


def premultiplied(rgba, sample):
    """RGBA through `sample`, which takes and gives one array: colour counts by its alpha. Where hardly any
    alpha is left, colours are rounding errors."""
    alpha = rgba[:, :, 3:].astype(float)
    mixed = sample(np.dstack([rgba[:, :, :3] * alpha / 255, alpha]))
    colour = np.divide(mixed[:, :, :3] * 255, mixed[:, :, 3:], out=np.zeros_like(mixed[:, :, :3]),
                       where=mixed[:, :, 3:] >= 0.5)
    return np.dstack([colour, mixed[:, :, 3]])


# ---- rotate ----

def turned(width, height, degrees, fit="grow"):
    """Rows and columns of the input for each pixel of the result, clockwise around the middle."""
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    w, h = width, height
    if fit == "grow":
        w = math.ceil(width * abs(c) + height * abs(s) - 1e-6)
        h = math.ceil(width * abs(s) + height * abs(c) - 1e-6)
    y, x = np.mgrid[0:h, 0:w].astype(float)
    x, y = x - (w - 1) / 2, y - (h - 1) / 2
    return c * y - s * x + (height - 1) / 2, c * x + s * y + (width - 1) / 2


def magick(picture, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        before, after = (os.path.join(folder, name) for name in ("before.ppm", "after.ppm"))
        Image.fromarray(picture).save(before)
        subprocess.run(["convert", before, *arguments, "-depth", "8", after], check=True)
        return np.array(Image.open(after))


def rotations(golden, rounded, rgb, gray, gray16, rgba):
    height, width = gray.shape
    for degrees, fit in [(12, "grow"), (-33.3, "keep"), (77.5, "grow"), (135, "grow"), (200.5, "keep")]:
        at = turned(width, height, degrees, fit)
        golden(f"rotate={degrees}:fit={fit}", "rgb.ppm", rounded(sampled(rgb, *at), rgb))
    at = turned(width, height, 25)
    golden("rotate=25:colour=edge", "gray.pgm", rounded(sampled(gray, *at, mode="edge"), gray))
    golden("rotate=25:colour=black", "gray16.pgm", rounded(sampled(gray16, *at, beyond=0), gray16), 20, 0)
    golden("rotate=25:nearest:black", "gray.pgm", rounded(sampled(gray, *at, "nearest", beyond=0), gray), 255, 998)
    for kernel in ("cubic", "lanczos3"):
        golden(f"rotate=25:{kernel}", "rgb.ppm", rounded(sampled(rgb, *at, kernel), rgb))
        golden(f"rotate=25:{kernel}:edge", "gray.pgm", rounded(sampled(gray, *at, kernel, "edge"), gray))
    golden("rotate=-12:cubic:edge:keep", "rgb.ppm",
           magick(rgb, "-virtual-pixel", "edge", "-filter", "point", "-interpolate", "catrom", "-distort", "SRT", "-12"))
    golden("rotate=25:colour=transparent", "rgba.pam",
           rounded(premultiplied(rgba, lambda p: sampled(p, *at, beyond=0)), rgba), 255, 997)
    opaque = np.dstack([rgb, np.full(gray.shape, 255, np.uint8)])
    golden("rotate=25:colour=transparent", "rgb.ppm",
           rounded(premultiplied(opaque, lambda p: sampled(p, *at, beyond=0)), rgba), 2, 995)


def warps(golden, rounded, rgb, gray, gray16, rgba):
    rotations(golden, rounded, rgb, gray, gray16, rgba)
