"""The goldens of lensblur, motionblur, pixelate and tile: OpenCV, scipy, scikit-image, numpy. make.py calls blurs()."""
import math

import cv2
import numpy as np
import skimage.measure
from scipy import ndimage

SCIPY_MODE = {"edge": "nearest", "reflect": "mirror", "wrap": "wrap", "constant": "constant"}


def covered(half_width, half_height, holds):
    """The part of each pixel that a shape covers, by 8 x 8 points."""
    columns, rows = (max(0, math.ceil(half - 0.5 - 1e-9)) for half in (half_width, half_height))
    y, x = (np.mgrid[-8 * rows - 4:8 * rows + 4, -8 * columns - 4:8 * columns + 4] + 0.5) / 8
    return skimage.measure.block_reduce(holds(x, y).astype(float), (8, 8), np.mean)


def disc(radius):
    return covered(radius, radius, lambda x, y: x * x + y * y <= radius * radius)


def line(length, degrees):
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return covered(abs(c) * length / 2 + abs(s) / 2, abs(s) * length / 2 + abs(c) / 2,
                   lambda x, y: (np.abs(x * c + y * s) <= length / 2) & (np.abs(y * c - x * s) <= 0.5))


def correlated(picture, kernel, border="edge"):
    planes = [ndimage.correlate(plane, kernel / kernel.sum(), mode=SCIPY_MODE[border])
              for plane in np.moveaxis(np.atleast_3d(picture).astype(float), 2, 0)]
    return np.stack(planes, axis=2) if picture.ndim == 3 else planes[0]


def opencv(picture, kernel):
    return cv2.filter2D(picture.astype(np.float64), -1, kernel / kernel.sum(), borderType=cv2.BORDER_REPLICATE)


def blurred(golden, rounded, rgb, gray, gray16):
    golden("lensblur", "rgb.ppm", rounded(opencv(rgb, disc(4)), rgb))
    golden("lensblur=8:reflect", "rgb.ppm", rounded(correlated(rgb, disc(8), "reflect"), rgb))
    golden("lensblur=1.3", "gray.pgm", rounded(correlated(gray, disc(1.3)), gray))
    golden("lensblur=15.5:wrap", "gray.pgm", rounded(correlated(gray, disc(15.5), "wrap"), gray))
    golden("lensblur=2.75:constant", "gray16.pgm", rounded(correlated(gray16, disc(2.75), "constant"), gray16))
    golden("motionblur", "rgb.ppm", rounded(opencv(rgb, np.ones((1, 9))), rgb))
    golden("motionblur=7:90", "gray.pgm", rounded(opencv(gray, np.ones((7, 1))), gray))
    for length, degrees, border in [(15, 20, "edge"), (12.5, -45, "reflect"), (30, 200, "wrap")]:
        golden(f"motionblur={length}:{degrees}:{border}", "rgb.ppm",
               rounded(correlated(rgb, line(length, degrees), border), rgb))
    golden("motionblur=6:60", "gray16.pgm", rounded(correlated(gray16, line(6, 60)), gray16))


def in_blocks(picture, size):
    result = np.zeros(picture.shape)
    for y in range(0, picture.shape[0], size):
        for x in range(0, picture.shape[1], size):
            result[y:y + size, x:x + size] = picture[y:y + size, x:x + size].mean(axis=(0, 1))
    return result


def repeated(picture, width, height):
    return np.array([[picture[y % picture.shape[0], x % picture.shape[1]] for x in range(width)] for y in range(height)])


def blurs(golden, rounded, rgb, gray, gray16, rgba):
    blurred(golden, rounded, rgb, gray, gray16)
    for size, picture, name in [(8, rgb, "rgb.ppm"), (5, gray, "gray.pgm"), (7, gray16, "gray16.pgm")]:
        golden(f"pixelate={size}", name, rounded(in_blocks(picture, size), picture))
    golden("pixelate=1", "rgba.pam", rgba, 0)
    golden("pixelate=100", "rgb.ppm", rounded(in_blocks(rgb, 100), rgb))
    golden("tile", "rgb.ppm", np.tile(rgb, (2, 2, 1)), 0)
    golden("tile=300%:50", "gray16.pgm", repeated(gray16, 159, 50), 0)
    golden("tile=70:h=40", "rgba.pam", repeated(rgba, 70, 40), 0)
