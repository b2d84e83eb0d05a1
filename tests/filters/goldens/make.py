#!/usr/bin/env python3
"""Makes the goldens: what numpy, scipy, OpenCV, Pillow and scikit-image compute for small pictures.

Not needed to run the tests. Writes the pictures (PNM, PAM) and list.txt beside this file; each line of the
list is a chain, an input, the expected result, and how far results may be from it: the largest difference,
and the share of samples (per mille) that must lie within one step.
"""
import functools
import math
import os

import cv2
import numpy as np
import skimage.color
import skimage.filters
from PIL import Image
from scipy import ndimage

from blurs import blurs
from colours import colours
from local import local
from shapes import shapes
from layers import make as layers
from sizes import sizes
from thresholds import thresholds
from tone import tone
from warps import warps

HERE = os.path.dirname(os.path.abspath(__file__))
WIDTH, HEIGHT = 53, 37
LIST = []


# ---- pictures ----

def write(name, picture):
    """PGM, PPM, or PAM with alpha; 16 bits big-endian."""
    if picture.ndim == 2:
        picture = picture[:, :, None]
    height, width, channels = picture.shape
    peak = 65535 if picture.dtype == np.uint16 else 255
    if channels in (1, 3):
        head = f"P{5 if channels == 1 else 6}\n{width} {height}\n{peak}\n"
    else:
        kind = "GRAYSCALE_ALPHA" if channels == 2 else "RGB_ALPHA"
        head = (f"P7\nWIDTH {width}\nHEIGHT {height}\nDEPTH {channels}\nMAXVAL {peak}\n"
                f"TUPLTYPE {kind}\nENDHDR\n")
    data = picture.astype(">u2") if peak == 65535 else picture
    with open(os.path.join(HERE, name), "wb") as file:
        file.write(head.encode() + np.ascontiguousarray(data).tobytes())


def landscape():
    """Sky, hills, a sun and leaves: smooth shades, edges, texture and saturated colour, in 0..1."""
    rng = np.random.default_rng(21)
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(float)
    sky = 1 - y / HEIGHT
    picture = np.stack([0.35 + 0.4 * (1 - sky), 0.5 + 0.3 * (1 - sky), 0.75 + 0.2 * sky], axis=2)
    sun = np.hypot(x - 38, y - 8) < 5
    picture[sun] = [1.0, 0.93, 0.45]
    for base, height, length, colour in [(20, 5, 17, (0.32, 0.40, 0.45)), (26, 3, 9, (0.20, 0.42, 0.16))]:
        hill = y > base + height * np.sin(x / length * 2 + base)
        texture = ndimage.gaussian_filter(rng.normal(size=x.shape), 0.7)
        picture[hill] = np.array(colour) * (1 + 0.5 * texture[hill])[:, None]
    trunk = (np.abs(x - 12 + 0.1 * y) < 1.5) & (y > 12)
    picture[trunk] = [0.25, 0.13, 0.05]
    leaves = (np.hypot(x - 11, (y - 11) * 1.2) < 7) & (rng.random(x.shape) < 0.7)
    picture[leaves] = [0.75, 0.18, 0.06]
    picture += rng.normal(scale=0.015, size=picture.shape)
    return np.clip(picture, 0, 1)


def quantise(picture, dtype):
    peak = np.iinfo(dtype).max
    return np.clip(np.floor(picture * peak + 0.5), 0, peak).astype(dtype)


def luma(picture):
    r, g, b = (picture[:, :, c].astype(np.int64) for c in range(3))
    return ((77 * r + 150 * g + 29 * b + 128) >> 8).astype(picture.dtype)


def rounded(values, like):
    """Half up, clamped: what the project does at the end of a stage."""
    peak = np.iinfo(like.dtype).max
    return np.clip(np.floor(values + 0.5), 0, peak).astype(like.dtype)


def golden(chain, source, expected, most=1, within_one=1000, series=""):
    """most: the largest difference allowed; 0: bit for bit. Each series of files is numbered from 0."""
    number = sum(line.split("\t")[2].split(".")[0].rstrip("0123456789") == series for line in LIST)
    channels = 1 if expected.ndim == 2 else expected.shape[2]
    name = f"{series}{number:02d}.{['pgm', 'pam', 'ppm', 'pam'][channels - 1]}"
    write(name, expected)
    LIST.append(f"{chain}\t{source}\t{name}\t{most}\t{within_one}")


def by_channel(function, picture):
    if picture.ndim == 2:
        return function(picture.astype(np.float64))
    planes = [function(picture[:, :, c].astype(np.float64)) for c in range(picture.shape[2])]
    return np.stack(planes, axis=2)


# ---- stencils ----

SCIPY_MODE = {"edge": "nearest", "reflect": "mirror", "wrap": "wrap", "constant": "constant"}


def gauss(picture, sigma, border="edge"):
    radius = math.ceil(3 * sigma)
    return by_channel(lambda plane: ndimage.gaussian_filter(
        plane, sigma, mode=SCIPY_MODE[border], cval=0.0, radius=radius), picture)


def stencils(rgb, gray, gray16, rgba):
    golden("blur", "rgb.ppm", rounded(gauss(rgb, 1.5), rgb))
    golden("blur=3:reflect", "gray.pgm", rounded(gauss(gray, 3, "reflect"), gray))
    golden("blur=sigma=0.8:border=wrap", "gray.pgm", rounded(gauss(gray, 0.8, "wrap"), gray))
    golden("blur=8:border=constant", "gray.pgm", rounded(gauss(gray, 8, "constant"), gray))
    golden("blur=2", "gray16.pgm", rounded(gauss(gray16, 2), gray16))
    golden("blur=40", "gray.pgm", rounded(gauss(gray, 40), gray))

    # Transparent pixels do not bleed: colour is weighted with its alpha.
    alpha = rgba[:, :, 3:].astype(float)
    weighted = gauss(rgba[:, :, :3] * alpha, 2)
    blurred = gauss(alpha, 2)
    colour = np.divide(weighted, blurred, out=np.zeros_like(weighted), where=blurred > 0)
    visible = np.concatenate([colour, blurred], axis=2)
    golden("blur=2", "rgba.pam", rounded(visible, rgba), 2, 995)

    for radius, border in [(1, "edge"), (7, "reflect"), (3, "wrap"), (2, "constant")]:
        mean = by_channel(lambda plane: ndimage.uniform_filter(
            plane, 2 * radius + 1, mode=SCIPY_MODE[border]), gray)
        golden(f"boxblur={radius}:border={border}", "gray.pgm", rounded(mean, gray))
    mean = by_channel(lambda plane: ndimage.uniform_filter(plane, 7, mode="nearest"), rgb)
    golden("boxblur=3", "rgb.ppm", rounded(mean, rgb))

    # Not symmetrical, so that a flipped kernel shows; OpenCV correlates too.
    kernel = np.array([[1, 2, 0], [0, 4, -1], [-2, 0, 5]], dtype=float)
    filtered = cv2.filter2D(rgb, cv2.CV_64F, kernel / kernel.sum(), borderType=cv2.BORDER_REPLICATE)
    golden("convolve=1 2 0/0 4 -1/-2 0 5", "rgb.ppm", rounded(filtered, rgb))
    kernel = np.array([[0, 1, 0, 0, 2], [3, 0, 0, -1, 0], [0, 0, 7, 0, 1]], dtype=float)
    filtered = ndimage.correlate(gray.astype(float), kernel / 16, mode="mirror")
    golden("convolve=0 1 0 0 2|3 0 0 -1 0|0 0 7 0 1:divisor=16:border=reflect", "gray.pgm",
           rounded(filtered, gray))

    kernel = np.array([[-2, -1, 0], [-1, 0, 1], [0, 1, 2]], dtype=float)
    filtered = cv2.filter2D(gray, cv2.CV_64F, kernel, borderType=cv2.BORDER_REPLICATE)
    golden("convolve=-2 -1 0/-1 0 1/0 1 2:bias=128", "gray.pgm", rounded(filtered + 128, gray))

    # scikit-image's border and taps are others: it gets the picture with its edge drawn out, and taps as long.
    margin = 30
    wide = np.pad(gray, margin, mode="edge").astype(float) / 255
    sharp = skimage.filters.unsharp_mask(wide, radius=1.0, amount=0.8)[margin:-margin, margin:-margin]
    golden("unsharp=sigma=1:amount=0.8", "gray.pgm", rounded(sharp * 255, gray))
    golden("unsharp=1.5:1.2", "rgb.ppm", rounded(rgb + 1.2 * (rgb - gauss(rgb, 1.5)), rgb))

    gx = cv2.Sobel(rgb, cv2.CV_64F, 1, 0, ksize=3, borderType=cv2.BORDER_REPLICATE)
    gy = cv2.Sobel(rgb, cv2.CV_64F, 0, 1, ksize=3, borderType=cv2.BORDER_REPLICATE)
    golden("sobel", "rgb.ppm", rounded(np.hypot(gx, gy), rgb))
    golden("sobel=0.25", "rgb.ppm", rounded(0.25 * np.hypot(gx, gy), rgb))

    height = rgb @ np.array([77, 150, 29]) / 256 / 255
    for strength in (1, 4):
        gx = strength * ndimage.sobel(height, axis=1, mode="nearest") / 8
        gy = strength * ndimage.sobel(height, axis=0, mode="nearest") / 8
        length = np.sqrt(gx * gx + gy * gy + 1)
        normal = np.stack([-gx, -gy, np.ones_like(gx)], axis=2) / length[:, :, None]
        golden(f"normalmap={strength}", "rgb.ppm", rounded((normal * 0.5 + 0.5) * 255, rgb))

    golden("median", "rgb.ppm", np.stack(
        [ndimage.median_filter(rgb[:, :, c], 3, mode="nearest") for c in range(3)], axis=2), 0)
    golden("median=2", "gray16.pgm", ndimage.median_filter(gray16, 5, mode="nearest"), 0)
    golden("median=4:border=reflect", "gray.pgm", ndimage.median_filter(gray, 9, mode="mirror"), 0)
    golden("bilateral", "rgb.ppm", rounded(bilateral(rgb, 2, 0.1), rgb))
    golden("bilateral=1:0.3", "gray.pgm", rounded(bilateral(gray[:, :, None], 1, 0.3)[:, :, 0], gray))


def bilateral(picture, sigma_s, sigma_r):
    radius = math.ceil(2 * sigma_s)
    colour = picture.astype(float) / 255
    padded = np.pad(colour, ((radius, radius), (radius, radius), (0, 0)), mode="edge")
    total, weights = np.zeros_like(colour), np.zeros(colour.shape[:2])
    for dy in range(2 * radius + 1):
        for dx in range(2 * radius + 1):
            near = padded[dy:dy + HEIGHT, dx:dx + WIDTH]
            distance = (dx - radius) ** 2 + (dy - radius) ** 2
            difference = ((near - colour) ** 2).sum(axis=2)
            weight = np.exp(-distance / (2 * sigma_s ** 2) - difference / (2 * sigma_r ** 2))
            total += near * weight[:, :, None]
            weights += weight
    return total / weights[:, :, None] * 255


# ---- tone ----

def equalising(counts):
    cdf = np.cumsum(counts).astype(float)
    first = cdf[np.nonzero(cdf)[0][0]]
    if first == cdf[-1]:
        return np.arange(256, dtype=np.uint8)
    return np.clip(np.floor((cdf - first) * 255 / (cdf[-1] - first) + 0.5), 0, 255).astype(np.uint8)


def histogram(samples):
    return np.bincount(samples.ravel(), minlength=256)


def tones(rgb, gray, gray16):
    expected = cv2.equalizeHist(gray)
    assert np.array_equal(expected, equalising(histogram(gray))[gray])
    golden("equalize", "gray.pgm", expected, 0)
    golden("equalize", "rgb.ppm", equalising(histogram(luma(rgb)))[rgb])
    golden("equalize=joint", "rgb.ppm", cv2.equalizeHist(rgb.reshape(HEIGHT, -1)).reshape(rgb.shape), 0)
    golden("equalize=mode=channel", "rgb.ppm", np.stack(
        [cv2.equalizeHist(np.ascontiguousarray(rgb[:, :, c])) for c in range(3)], axis=2), 0)

    lab = skimage.color.rgb2lab(rgb)
    lightness = np.clip(np.floor(lab[:, :, 0] * 2.55 + 0.5), 0, 255).astype(np.uint8)
    lab[:, :, 0] = equalising(histogram(lightness))[lightness] / 2.55
    golden("equalize=lightness", "rgb.ppm",
           rounded(np.clip(skimage.color.lab2rgb(lab), 0, 1) * 255, rgb))

    dim = (rgb // 3 + 40).astype(np.uint8)
    write("dim.ppm", dim)
    least, most = dim.min(axis=(0, 1)).astype(float), dim.max(axis=(0, 1)).astype(float)
    golden("normalize", "dim.ppm", rounded((dim - least) * 255 / (most - least), dim))

    golden("threshold=otsu", "gray.pgm",
           np.where(gray > skimage.filters.threshold_otsu(gray), 255, 0).astype(np.uint8), 0)
    y = luma(rgb)
    golden("threshold=otsu", "rgb.ppm",
           np.where(y > skimage.filters.threshold_otsu(y), 255, 0).astype(np.uint8), 0)
    golden("threshold=0.4", "gray.pgm", np.where(gray >= 0.4 * 255, 255, 0).astype(np.uint8), 0)

    golden("grayscale", "rgb.ppm", luma(rgb), 0)
    golden("grayscale", "rgb.ppm", cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY), 1)
    golden("grayscale=bt709", "rgb.ppm", rounded(rgb @ np.array([0.2126, 0.7152, 0.0722]), rgb))
    golden("invert", "gray16.pgm", 65535 - gray16, 0)
    golden("gamma=2.2", "gray.pgm", rounded(255 * (gray / 255) ** (1 / 2.2), gray))
    golden("gamma=0.45", "gray16.pgm", rounded(65535 * (gray16 / 65535) ** (1 / 0.45), gray16))
    golden("brightness=0.1", "gray.pgm", rounded(gray + 0.1 * 255, gray))
    golden("contrast=1.5", "gray.pgm", rounded((gray - 127.5) * 1.5 + 127.5, gray))
    # One rounding at the end of a run of point filters, not one a filter.
    fused = 65535 - ((gray16 * 0.6 - 0.6 * 32767.5 + 32767.5) + 0.05 * 65535)
    golden("contrast=0.6,brightness=0.05,invert", "gray16.pgm", rounded(fused, gray16))

    for factor in (0.3, 1.5):
        lab = skimage.color.rgb2lab(rgb)
        lab[:, :, 1:] *= factor
        golden(f"saturation={factor}", "rgb.ppm",
               rounded(np.clip(skimage.color.lab2rgb(lab), 0, 1) * 255, rgb))


# ---- geometry ----

def resize_floats(picture, width, height):
    planes = [Image.fromarray(picture[:, :, c].astype(np.float32)).resize((width, height), Image.LANCZOS)
              for c in range(3)]
    return np.stack([np.array(plane) for plane in planes], axis=2).astype(float)


def geometry(rgb, gray, gray16, rgba):
    golden("transpose", "gray.pgm", gray.T, 0)
    golden("transpose", "rgba.pam", rgba.transpose(1, 0, 2), 0)
    for degrees in (90, 180, 270):
        golden(f"rotate={degrees}", "gray.pgm", np.rot90(gray, -degrees // 90), 0)
    golden("hflip", "gray16.pgm", gray16[:, ::-1], 0)
    golden("vflip", "gray.pgm", gray[::-1], 0)
    golden("crop=20:11:7:13", "rgb.ppm", rgb[13:24, 7:27], 0)
    golden("crop=w=21:h=17", "rgb.ppm", rgb[10:27, 16:37], 0)

    pillow = Image.fromarray(rgb)
    for kernel, how in [("lanczos3", Image.LANCZOS), ("cubic", Image.BICUBIC), ("linear", Image.BILINEAR),
                        ("area", Image.BOX)]:
        golden(f"resize=23:16:kernel={kernel}", "rgb.ppm",
               np.array(pillow.resize((23, 16), how)), 2, 999)
        golden(f"resize=70:50:kernel={kernel}", "gray.pgm",
               np.array(Image.fromarray(gray).resize((70, 50), how)), 2, 999)
    golden("resize=23:60:kernel=nearest", "gray.pgm",
           np.array(Image.fromarray(gray).resize((23, 60), Image.NEAREST)), 0)
    golden("resize=w=106:kernel=linear", "gray.pgm",
           np.array(Image.fromarray(gray).resize((106, 74), Image.BILINEAR)), 2, 999)

    light = np.where(rgb <= 0.04045 * 255, rgb / 255 / 12.92, ((rgb / 255 + 0.055) / 1.055) ** 2.4)
    # Columns, clamped, then rows: so does Pillow with 8 bits, but not with floats.
    light = np.clip(resize_floats(light, 23, HEIGHT), 0, 1)
    light = np.clip(resize_floats(light, 23, 16), 0, 1)
    back = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    golden("resize=23:16:light=linear", "rgb.ppm", rounded(back * 255, rgb))


def main():
    picture = landscape()
    rgb = quantise(picture, np.uint8)
    gray, gray16 = luma(rgb), luma(quantise(picture, np.uint16))
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    alpha = quantise(np.clip(1.6 - np.hypot((x - 26) / 20, (y - 18) / 14), 0, 1), np.uint8)
    rgba = np.dstack([rgb, alpha])
    for name, source in [("rgb.ppm", rgb), ("gray.pgm", gray), ("gray16.pgm", gray16), ("rgba.pam", rgba)]:
        write(name, source)
    stencils(rgb, gray, gray16, rgba)
    tones(rgb, gray, gray16)
    geometry(rgb, gray, gray16, rgba)
    sizes(golden, write, rounded, rgb, gray16, rgba)
    tone(functools.partial(golden, series="tone"), write, rounded, rgb, gray, gray16,
         quantise(picture, np.uint16), rgba)
    local(functools.partial(golden, series="local"), rounded, rgb, gray, gray16,
          quantise(picture, np.uint16), rgba)
    colours(functools.partial(golden, series="icc"), rounded, rgb)
    warps(functools.partial(golden, series="warp"), rounded, rgb, gray, gray16, rgba)
    shapes(functools.partial(golden, series="shape"), rgb, gray, gray16, rgba)
    LIST.extend(layers())
    blurs(functools.partial(golden, series="soft"), rounded, rgb, gray, gray16, rgba)
    thresholds(functools.partial(golden, series="bw"), luma, gray, gray16, rgb)
    with open(os.path.join(HERE, "list.txt"), "w") as file:
        file.write("\n".join(LIST) + "\n")


main()
