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
    luma = (77 * 65535 + 150 * 0x8888 + 128) >> 8
    golden("flatten=#ffff88880000", "ga16.pam", laid_on(ga16, (luma,), rounded), 1)


def sizes(golden, write, rounded, rgb, gray16, rgba):
    ga16 = np.dstack([gray16, rgba[:, :, 3].astype(np.uint16) * 257])
    write("ga16.pam", ga16)
    backgrounds(golden, rounded, rgb, rgba, ga16)
