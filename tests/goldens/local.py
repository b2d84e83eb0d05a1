"""The goldens of noise and local contrast: scipy, OpenCV, scikit-image. make.py calls local()."""
import numpy as np
from scipy.special import ndtri


def pcg3d(x, y, seed):
    """The hash of M. Jarzynski and M. Olano, as their listing has it."""
    v = [(np.asarray(a, np.uint64) * 1664525 + 1013904223) & 0xffffffff for a in (x, y, seed)]

    def mix():
        for a, b, c in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            v[a] = (v[a] + v[b] * v[c]) & 0xffffffff
    mix()
    for i in range(3):
        v[i] = v[i] ^ (v[i] >> np.uint64(16))
    mix()
    return np.stack(v, axis=-1)


def noise(golden, rounded, rgb, gray16, rgba):
    height, width = gray16.shape
    y, x = np.mgrid[0:height, 0:width]

    def part(seed):
        return ((pcg3d(x, y, np.full_like(x, seed)) >> np.uint64(8)) + 0.5) / 2 ** 24

    golden("addnoise=0.1", "rgb.ppm", rounded(rgb + 25.5 * ndtri(part(1)), rgb))
    golden("addnoise=0.02:seed=999999", "gray16.pgm",
           rounded(gray16 + 0.02 * 65535 * ndtri(part(999999))[:, :, 0], gray16))
    even = (2 * part(7) - 1) * np.sqrt(3)
    golden("addnoise=0.2:uniform:7:same", "rgb.ppm", rounded(rgb + 51 * even[:, :, :1], rgb))
    noisy = rgba.copy()
    noisy[:, :, :3] = rounded(rgba[:, :, :3] + 51 * even, rgba)
    golden("addnoise=0.2:uniform:7", "rgba.pam", noisy)
    golden("invert,addnoise=0.2:uniform:7,invert", "rgb.ppm", rounded(rgb - 51 * even, rgb))


def local(golden, rounded, rgb, gray, gray16, rgb16, rgba):
    noise(golden, rounded, rgb, gray16, rgba)
