"""The goldens of conversions between colour spaces: from IEC 61966-2-1 and the primaries. make.py calls colours()."""
import numpy as np

D65 = (0.3127, 0.3290)
SRGB = ((0.64, 0.33), (0.30, 0.60), (0.15, 0.06))
DISPLAY_P3 = ((0.680, 0.320), (0.265, 0.690), (0.150, 0.060))


def to_xyz(primaries):
    """The matrix from linear RGB: its columns are the primaries, and their sum is the white."""
    columns = np.array([(x, y, 1 - x - y) for x, y in primaries]).T
    white = np.array([D65[0] / D65[1], 1, (1 - D65[0] - D65[1]) / D65[1]])
    return columns * np.linalg.solve(columns, white)


def converted(picture, source, target):
    peak = float(np.iinfo(picture.dtype).max)
    v = picture / peak
    light = np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)
    light = np.clip(light @ (np.linalg.inv(to_xyz(target)) @ to_xyz(source)).T, 0, 1)
    return peak * np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)


def colours(golden, rounded, rgb):
    golden("icc=display-p3", "rgb.ppm", rounded(converted(rgb, SRGB, DISPLAY_P3), rgb), 1)
    golden("icc=srgb:from=display-p3", "rgb.ppm", rounded(converted(rgb, DISPLAY_P3, SRGB), rgb), 1)
