"""The goldens of noise and local contrast: scipy, OpenCV, scikit-image. make.py calls local()."""
import cv2
import numpy as np
from scipy.ndimage import uniform_filter
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


def equalised_by_place(golden, rgb, gray, gray16, rgb16):
    for clip, columns, rows, name, picture in [(2, 8, 8, "gray.pgm", gray), (0, 3, 5, "gray.pgm", gray),
                                               (40, 16, 1, "gray.pgm", gray), (3.5, 4, 2, "gray16.pgm", gray16)]:
        golden(f"clahe={clip}:{columns}:{rows}", name, cv2.createCLAHE(clip, (columns, rows)).apply(picture), 0)
    for name, picture in (("rgb.ppm", rgb), ("rgb16.ppm", rgb16)):
        ycc = cv2.cvtColor(picture, cv2.COLOR_RGB2YCrCb)
        # The project's own luma: OpenCV's differs by one where 77/256 is not 0.299.
        weights = np.array([77, 150, 29] if name == "rgb.ppm" else [19595, 38470, 7471])
        y = (2 * (picture.astype(np.int64) @ weights) + weights.sum()) // (2 * weights.sum())
        ycc[:, :, 0] = cv2.createCLAHE(3, (4, 4)).apply(y.astype(picture.dtype))
        expected = picture.astype(np.int64) + (ycc[:, :, 0] - y)[:, :, None]
        golden("clahe=3:4:4", name, np.clip(expected, 0, np.iinfo(picture.dtype).max).astype(picture.dtype), 0)
        if name == "rgb.ppm":
            golden("clahe=3:4:4", name, cv2.cvtColor(ycc, cv2.COLOR_YCrCb2RGB), 3, 950)


def guided(golden, rounded, rgb, gray, gray16):
    def filtered(plane, radius, sigma, mode):
        peak = np.iinfo(plane.dtype).max
        v = plane.astype(np.float64)

        def box(values):
            return uniform_filter(values, 2 * radius + 1, mode=mode)
        mean = box(v)
        variance = box(v * v) - mean * mean
        a = variance / (variance + (sigma * peak) ** 2)
        return box(a) * v + box(mean * (1 - a))

    for radius, sigma, border, mode, name, plane in [
            (4, 0.1, "edge", "nearest", "gray.pgm", gray), (2, 0.02, "reflect", "mirror", "gray.pgm", gray),
            (9, 0.3, "wrap", "wrap", "gray.pgm", gray), (50, 0.1, "constant", "constant", "gray.pgm", gray),
            (3, 0.05, "edge", "nearest", "gray16.pgm", gray16)]:
        expected = filtered(plane, radius, sigma, mode)
        golden(f"guided={radius}:{sigma}:{border}", name, rounded(expected, plane))
        if plane is gray and radius < 9:
            # OpenCV's has another border: it must agree where windows of windows do not reach it.
            peer = cv2.ximgproc.guidedFilter(plane, plane, radius, (sigma * 255) ** 2)
            inner = slice(2 * radius, -2 * radius)
            assert np.abs(peer[inner, inner] - expected[inner, inner]).max() < 1
    channels = [filtered(rgb[:, :, c], 4, 0.1, "nearest") for c in range(3)]
    golden("guided", "rgb.ppm", rounded(np.dstack(channels), rgb))


def like_places(golden, rounded, rgb, gray, rgb16):
    def mean(picture, h, search, patch, border):
        peak = np.iinfo(picture.dtype).max
        v = picture.reshape(*picture.shape[:2], -1) / peak
        height, width = v.shape[:2]
        reach, side = search + patch, 2 * patch + 1
        wide = np.pad(v, ((reach, reach), (reach, reach), (0, 0)), mode=border)
        total, weights = np.zeros_like(v), np.zeros((height, width, 1))
        for dy in range(-search, search + 1):
            for dx in range(-search, search + 1):
                other = wide[search + dy:, search + dx:][:height + 2 * patch, :width + 2 * patch]
                apart = ((wide[search:, search:][:height + 2 * patch, :width + 2 * patch] - other) ** 2).mean(axis=2)
                distance = np.lib.stride_tricks.sliding_window_view(apart, (side, side)).mean(axis=(2, 3))
                weight = np.exp(-distance / h ** 2)[:, :, None]
                total += weight * other[patch:-patch, patch:-patch]
                weights += weight
        return (total / weights * peak).reshape(picture.shape)

    for h, search, patch, border, name, picture in [(0.1, 10, 3, "edge", "gray.pgm", gray),
                                                    (0.05, 5, 1, "reflect", "rgb.ppm", rgb),
                                                    (0.2, 4, 2, "wrap", "rgb16.ppm", rgb16)]:
        expected = mean(picture, h, search, patch, border)
        most = 1 if picture.dtype == np.uint8 else 40
        golden(f"nlmeans={h}:{search}:{patch}:{border}", name, rounded(expected, picture), most,
               1000 if most == 1 else 0)
    golden("nlmeans", "rgb.ppm", rounded(mean(rgb, 0.1, 10, 3, "edge"), rgb))
    # OpenCV leaves small weights out, and the weights of others are coarser.
    wide = cv2.copyMakeBorder(gray, 20, 20, 20, 20, cv2.BORDER_REPLICATE)
    peer = cv2.fastNlMeansDenoising(wide, None, 0.15 * 255, 7, 21)[20:-20, 20:-20]
    golden("nlmeans=0.15", "gray.pgm", peer, 2, 990)


def local(golden, rounded, rgb, gray, gray16, rgb16, rgba):
    noise(golden, rounded, rgb, gray16, rgba)
    equalised_by_place(golden, rgb, gray, gray16, rgb16)
    guided(golden, rounded, rgb, gray, gray16)
    like_places(golden, rounded, rgb, gray, rgb16)
