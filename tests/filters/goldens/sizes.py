"""The goldens of sizes and backgrounds: numpy and Pillow. make.py calls sizes()."""
import numpy as np
from PIL import Image


def laid_on(picture, colour, rounded):
    """colour: in samples; the last channel is alpha."""
    peak = float(np.iinfo(picture.dtype).max)
    alpha = picture[:, :, -1:].astype(float) / peak
    flat = rounded(picture[:, :, :-1] * alpha + np.array(colour, dtype=float) * (1 - alpha), picture)
    return flat[:, :, 0] if flat.shape[2] == 1 else flat


def backgrounds(golden, rounded, rgb, rgba, ga16):
    golden("flatten", "rgba.pam", laid_on(rgba, (255, 255, 255), rounded), 0)
    golden("flatten=#ff8800", "rgba.pam", laid_on(rgba, (255, 136, 0), rounded), 0)
    pillow = Image.new("RGBA", rgba.shape[1::-1], (0, 0, 128, 255))
    pillow.alpha_composite(Image.fromarray(rgba))
    golden("flatten=navy", "rgba.pam", np.array(pillow.convert("RGB")), 1)
    golden("flatten=none", "rgba.pam", rgb, 0)
    golden("flatten=black", "rgb.ppm", rgb, 0)
    golden("flatten", "ga16.pam", laid_on(ga16, (65535,), rounded), 1)
    luma = (19595 * 65535 + 38470 * 0x8888 + 32768) >> 16
    golden("flatten=#ffff88880000", "ga16.pam", laid_on(ga16, (luma,), rounded), 1)


def with_border(picture, width, height, x, y, **how):
    """np.pad to width x height, with the picture at x, y."""
    rows, columns = picture.shape[:2]
    margins = [(y, height - rows - y), (x, width - columns - x)] + [(0, 0)] * (picture.ndim - 2)
    return np.pad(picture, margins, **how)


def on_colour(picture, width, height, x, y, colour):
    result = np.zeros((height, width, picture.shape[2]), picture.dtype) + np.array(colour, picture.dtype)
    result[y:y + picture.shape[0], x:x + picture.shape[1]] = picture
    return result


def padding(golden, rgb, gray16, rgba, ga16):
    height, width = gray16.shape
    golden("pad=60:50", "rgb.ppm", on_colour(rgb, 60, 50, 3, 6, (255, 255, 255)), 0)
    golden("pad=w=60:gravity=west:colour=#ff8800", "rgb.ppm", on_colour(rgb, 60, height, 0, 0, (255, 136, 0)), 0)
    golden("pad=70:50:southeast:edge", "gray16.pgm", with_border(gray16, 70, 50, 17, 13, mode="edge"), 0)
    golden("pad=64:64:north:edge", "rgba.pam", with_border(rgba, 64, 64, 5, 0, mode="edge"), 0)
    golden("pad=54:38:colour=black", "rgba.pam", on_colour(rgba, 54, 38, 0, 0, (0, 0, 0, 255)), 0)
    alpha = np.full(rgb.shape[:2], 255, np.uint8)
    golden("pad=80:40:east:transparent", "rgb.ppm",
           on_colour(np.dstack([rgb, alpha]), 80, 40, 27, 1, (0, 0, 0, 0)), 0)
    golden("pad=60:37:colour=transparent", "ga16.pam", on_colour(ga16, 60, 37, 3, 0, (0, 0)), 0)
    golden("pad=10:10:colour=black", "rgb.ppm", rgb, 0)
    golden("pad=200%:h=100%:gravity=northeast", "rgb.ppm",
           on_colour(rgb, 2 * width, height, width, 0, (255, 255, 255)), 0)


def gravities(golden, rgb):
    for gravity, x, y in [("north", 16, 0), ("southeast", 33, 26), ("west", 0, 13), ("center", 16, 13)]:
        golden(f"crop=20:11:gravity={gravity}", "rgb.ppm", rgb[y:y + 11, x:x + 20], 0)
    golden("crop=20:11:x=4:gravity=south", "rgb.ppm", rgb[26:37, 4:24], 0)


def fits(golden, rgb):
    pillow = Image.fromarray(rgb)

    def scaled(width, height, box=None):
        return np.array(pillow.resize((width, height), Image.LANCZOS, box))

    golden("resize=100:20:only=shrink", "rgb.ppm", scaled(53, 20), 2, 999)
    golden("resize=100:20:only=enlarge", "rgb.ppm", scaled(100, 37), 2, 999)
    golden("resize=60:40:fit=inside:only=shrink", "rgb.ppm", rgb, 0)
    golden("resize=w=200%:only=shrink", "rgb.ppm", rgb, 0)
    golden("resize=w=30:only=enlarge", "rgb.ppm", rgb, 0)
    golden("resize=60:20:fit=cover:only=shrink:gravity=south", "rgb.ppm", rgb[17:], 0)
    golden("resize=30:30:fit=contain", "rgb.ppm", on_colour(scaled(30, 21), 30, 30, 0, 4, (255,) * 3), 2, 999)
    golden("resize=30:30:fit=contain:gravity=north:colour=navy", "rgb.ppm",
           on_colour(scaled(30, 21), 30, 30, 0, 0, (0, 0, 128)), 2, 999)
    golden("resize=80:80:fit=contain:only=shrink", "rgb.ppm", on_colour(rgb, 80, 80, 13, 21, (255,) * 3), 0)
    golden("thumbnail=30", "rgb.ppm", scaled(30, 21), 2, 999)
    golden("thumbnail=80", "rgb.ppm", rgb, 0)
    golden("thumbnail=50%:10", "rgb.ppm", scaled(14, 10), 2, 999)
    # The picture is scaled to 29x20, of which 20 columns are kept.
    for gravity, x in [("west", 0), ("centre", 4), ("northeast", 9)]:
        golden(f"resize=20:20:fit=cover:gravity={gravity}", "rgb.ppm", scaled(29, 20)[:, x:x + 20], 2, 999)


def trimmed(golden, write, rgb, rgba):
    """A frame of 10, 20, 30 with noise of 8 steps; and one of hidden colours below an alpha of 0 to 4."""
    rng = np.random.default_rng(14)
    height, width = rgb.shape[:2]
    framed = np.array([10, 20, 30]) + rng.integers(-4, 5, (height, width, 3))
    framed[0, 0] = 10, 20, 30
    framed[5:20, 9:41] = rgb[5:20, 9:41]
    framed = framed.astype(np.uint8)
    write("framed.ppm", framed)
    for tolerance in (0.0, 0.016, 0.04, 0.1, 1.0):
        far = (np.abs(framed.astype(int) - framed[0, 0].astype(int)) > int(tolerance * 255 + 0.5)).any(axis=2)
        golden(f"trim=tolerance={tolerance}", "framed.ppm", cut(framed, far), 0)
    far = (np.abs(framed.astype(int) - np.array([0, 0, 0])) > 34).any(axis=2)
    golden("trim=black:0.1333", "framed.ppm", cut(framed, far), 0)
    golden("invert,trim", "framed.ppm",
           255 - cut(framed, (np.abs(framed.astype(int) - framed[0, 0].astype(int)) > 10).any(axis=2)), 0)
    hidden = rgba.copy()
    hidden[:4, :, 3] = rng.integers(0, 5, (4, width))
    hidden[:, 47:, 3] = 0
    write("hidden.pam", hidden)
    golden("trim=transparent", "hidden.pam", cut(hidden, hidden[:, :, 3] > 10), 0)
    golden("trim=transparent:0", "hidden.pam", cut(hidden, hidden[:, :, 3] > 0), 0)
    golden("trim=transparent", "rgb.ppm", rgb, 0)


def cut(picture, content):
    """The rectangle around what is content; everything where nothing is."""
    rows, columns = content.any(axis=1).nonzero()[0], content.any(axis=0).nonzero()[0]
    if not rows.size:
        return picture
    return picture[rows[0]:rows[-1] + 1, columns[0]:columns[-1] + 1]


def sizes(golden, write, rounded, rgb, gray16, rgba):
    ga16 = np.dstack([gray16, rgba[:, :, 3].astype(np.uint16) * 257])
    write("ga16.pam", ga16)
    backgrounds(golden, rounded, rgb, rgba, ga16)
    padding(golden, rgb, gray16, rgba, ga16)
    gravities(golden, rgb)
    fits(golden, rgb)
    trimmed(golden, write, rgb, rgba)
