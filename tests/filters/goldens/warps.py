"""The goldens of pictures sampled at real positions: scipy.ndimage, ImageMagick and numpy. make.py calls warps()."""
import math
import os
import subprocess
import tempfile

import cv2
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
           magick(rgb, "-virtual-pixel", "edge", "-filter", "point", "-interpolate", "catrom",
                  "-distort", "SRT", "-12"))
    golden("rotate=25:colour=transparent", "rgba.pam",
           rounded(premultiplied(rgba, lambda p: sampled(p, *at, beyond=0)), rgba), 255, 997)
    opaque = np.dstack([rgb, np.full(gray.shape, 255, np.uint8)])
    golden("rotate=25:colour=transparent", "rgb.ppm",
           rounded(premultiplied(opaque, lambda p: sampled(p, *at, beyond=0)), rgba), 2, 995)


# ---- affine, perspective, lens ----

def homogeneous(matrix, width, height):
    """Rows and columns of the input for each pixel of the result, by the matrix from the result to the input, in
    coordinates that begin at the picture's corner; x and y may be off the pixels' centres."""
    inverse = np.linalg.inv(matrix)

    def at(dx=0.0, dy=0.0):
        y, x = np.mgrid[0:height, 0:width] + 0.5
        u, v, w = np.moveaxis(np.dstack([x + dx, y + dy, np.ones(x.shape)]) @ inverse.T, 2, 0)
        return np.where(w > 0, v / w, -1e6) - 0.5, np.where(w > 0, u / w, -1e6) - 0.5
    return at


def mean_of(picture, at, nx, ny, **how):
    """The mean of nx x ny samples in each pixel."""
    parts = [sampled(picture, *at((2 * i + 1 - nx) / (2 * nx), (2 * j + 1 - ny) / (2 * ny)), **how)
             for j in range(ny) for i in range(nx)]
    return sum(parts) / len(parts)


def affine_at(linear, move, width, height, fit):
    """The matrix around the middle, and the size of the result."""
    linear = np.array(linear, float)
    w, h = (width, height) if fit == "keep" else [math.ceil(v - 1e-6) for v in np.abs(linear) @ (width, height)]
    matrix = np.eye(3)
    matrix[:2, :2] = linear
    matrix[:2, 2] = np.array([w, h]) / 2 + (move if fit == "keep" else 0) - linear @ np.array([width, height]) / 2
    return homogeneous(matrix, w, h)


def affines(golden, rounded, rgb, gray, gray16):
    height, width = gray.shape
    at = affine_at([[1, 0.3], [0, 1]], 0, width, height, "grow")
    golden("affine=shear-x", "rgb.ppm", rounded(sampled(rgb, *at()), rgb))
    at = affine_at([[1, 0.31], [0, 1]], 0, width, height, "grow")
    golden("affine=1 0.31/0 1:nearest:edge", "gray.pgm",
           rounded(sampled(gray, *at(), "nearest", "edge"), gray), 255, 998)
    linear = [[1.5, 0.4], [-0.3, 1.2]]
    at = affine_at(linear, np.array([4, -2.5]), width, height, "keep")
    for kernel in ("linear", "cubic", "lanczos3"):
        golden(f"affine=1.5 0.4 4/-0.3 1.2 -2.5:{kernel}:black:keep", "rgb.ppm",
               rounded(sampled(rgb, *at(), kernel, beyond=0), rgb))
    golden("affine=1.5 0.4 4/-0.3 1.2 -2.5:cubic:edge:keep", "gray16.pgm",
           rounded(sampled(gray16, *at(), "cubic", "edge"), gray16), 100, 0)
    for kernel in ("linear", "lanczos3"):
        at = affine_at([[0.5, 0], [0, 0.5]], 0, width, height, "grow")
        golden(f"affine=half:{kernel}", "rgb.ppm", rounded(mean_of(rgb, at, 2, 2, kernel=kernel), rgb))
    at = affine_at([[0.2, 0.1], [-0.05, 0.45]], 0, width, height, "grow")
    golden("affine=0.2 0.1/-0.05 0.45:linear:edge", "gray.pgm", rounded(mean_of(gray, at, 4, 2, mode="edge"), gray))
    at = affine_at([[-1, 0], [0, 1]], 0, width, height, "grow")
    golden("affine=mirror:lanczos3", "rgb.ppm", rgb[:, ::-1], 0)


def perspectives(golden, rounded, rgb, gray):
    height, width = gray.shape
    corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32)
    whole = corners * np.float32([width, height])
    quad = np.float32([[12, 3.5], [44.25, 1], [50, 36], [2, 30]])
    points = "12 3.5/44.25 1/50 36/2 30"
    matrix = cv2.getPerspectiveTransform(quad, corners * np.float32([80, 70]))
    for kernel in ("linear", "lanczos3"):
        golden(f"perspective={points}:{kernel}:unit=pixels:w=80:h=70", "rgb.ppm",
               rounded(sampled(rgb, *homogeneous(matrix, 80, 70)(), kernel), rgb), 2, 998)
    matrix = cv2.getPerspectiveTransform(whole, quad)
    at = homogeneous(matrix, width, height)
    means = mean_of(rgb, at, 2, 2, beyond=0)
    means[32:] = mean_of(rgb, at, 2, 1, beyond=0)[32:]  # the second row of cells
    golden(f"perspective={points}:unit=pixels:direction=to:colour=black", "rgb.ppm", rounded(means, rgb), 2, 998)
    keystone = corners * np.float32([width, height])
    keystone[:2, 0] = np.float32([0.15, 0.85]) * width
    matrix = cv2.getPerspectiveTransform(keystone, whole)
    golden("perspective=keystone:cubic:edge", "gray.pgm",
           rounded(mean_of(gray, homogeneous(matrix, width, height), 1, 2, kernel="cubic", mode="edge"), gray), 2, 998)


def lens_at(width, height, k1, k2, zoom):
    def at(dx=0.0, dy=0.0):
        y, x = np.mgrid[0:height, 0:width].astype(float)
        x, y = (x + dx - (width - 1) / 2) / zoom, (y + dy - (height - 1) / 2) / zoom
        r2 = (x * x + y * y) / (min(width, height) / 2) ** 2
        stretch = 1 + k1 * r2 + k2 * r2 * r2
        return y * stretch + (height - 1) / 2, x * stretch + (width - 1) / 2
    return at


def lenses(golden, rounded, rgb, gray):
    height, width = gray.shape
    golden("lens=-0.1:0.02:1.3", "rgb.ppm", rounded(sampled(rgb, *lens_at(width, height, -0.1, 0.02, 1.3)()), rgb))
    golden("lens=0.05:0:2:lanczos3:black", "gray.pgm",
           rounded(sampled(gray, *lens_at(width, height, 0.05, 0, 2)(), "lanczos3", beyond=0), gray))
    golden("lens=-0.08:0:1.1:cubic:edge", "rgb.ppm",
           magick(rgb, "-virtual-pixel", "edge", "-filter", "point", "-interpolate", "catrom", "-distort", "barrel",
                  f"0 {-0.08 / 1.1 ** 3!r} 0 {1 / 1.1!r}"))


def warps(golden, rounded, rgb, gray, gray16, rgba):
    rotations(golden, rounded, rgb, gray, gray16, rgba)
    affines(golden, rounded, rgb, gray, gray16)
    perspectives(golden, rounded, rgb, gray)
    lenses(golden, rounded, rgb, gray)
