"""The goldens of tone and colour: scikit-image, scipy, OpenCV, Pillow, ImageMagick, colour-science, numpy. make.py calls tone()."""
import os
import subprocess
import tempfile

import colour
import cv2
import numpy as np
import skimage.color
import skimage.exposure
from PIL import Image, ImageDraw, ImageOps
from scipy.interpolate import PchipInterpolator

HERE = os.path.dirname(os.path.abspath(__file__))


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


def matrices(golden, rounded, rgb, gray, rgb16, rgba):
    def transformed(picture, matrix):
        peak = np.iinfo(picture.dtype).max
        matrix = np.array(matrix, dtype=float)
        if matrix.shape[1] == 4:
            matrix[:, 3] *= peak
        return rounded(cv2.transform(picture.astype(float), matrix), picture)

    sepia = np.array([[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]])
    golden("colormatrix=sepia", "rgb.ppm", transformed(rgb, sepia))
    golden("colormatrix=sepia:0.4", "rgb16.ppm", transformed(rgb16, 0.4 * sepia + 0.6 * np.eye(3)))
    golden("colormatrix=sepia", "gray.pgm", transformed(np.dstack([gray] * 3), sepia))
    golden("colormatrix=bgr", "rgba.pam", rgba[:, :, [2, 1, 0, 3]], 0)
    golden("colormatrix=gbr", "rgb16.ppm", rgb16[:, :, [1, 2, 0]], 0)
    golden("colormatrix=0.5 0.5 0/0 0.5 0.5/0.5 0 0.5", "gray.pgm", gray, 0)
    golden("colormatrix=1.2 -0.3 0 0.1/0 0.9 0.2 -0.05/-0.1 0 1.1 0", "rgb.ppm",
           transformed(rgb, [[1.2, -0.3, 0, 0.1], [0, 0.9, 0.2, -0.05], [-0.1, 0, 1.1, 0]]))
    # hue-rotate() at 90 and 180 degrees, as browsers list its matrices.
    golden("hue=90", "rgb.ppm", transformed(rgb, [[0, 0, 1], [0.356, 0.855, -0.211], [-0.574, 1.43, 0.144]]))
    golden("hue=-180", "rgb16.ppm",
           transformed(rgb16, [[-0.574, 1.43, 0.144], [0.426, 0.43, 0.144], [0.426, 1.43, -0.856]]))
    golden("hue=77", "gray.pgm", gray, 0)
    toned = ImageOps.colorize(Image.fromarray(gray), "#1b2a63", "#ffe7b3")
    golden("duotone", "gray.pgm", np.array(toned))
    y = (rgb @ np.array([77, 150, 29]) / 256)[:, :, None] / 255
    golden("duotone=red:white", "rgb.ppm", rounded(255 * (np.array([1, 0, 0]) * (1 - y) + y), rgb))
    for amount, picture in ((0.8, rgb), (-0.6, rgb16)):
        peak = np.iinfo(picture.dtype).max
        part = picture / peak
        luma = (part @ np.array([0.2126, 0.7152, 0.0722]))[:, :, None]
        factor = 1 + amount * (1 - (part.max(axis=2) - part.min(axis=2)))[:, :, None]
        golden(f"vibrance={amount}", "rgb.ppm" if picture is rgb else "rgb16.ppm",
               rounded((luma + (part - luma) * factor) * peak, picture))
    # Behind a matrix, levels of one channel and curves are operations.
    swapped = rgb[:, :, ::-1] / 255
    swapped[:, :, 2] = skimage.exposure.adjust_gamma(swapped[:, :, 2], 1 / 1.5)
    x, to = np.array([(0, 0.1), (0.4, 0.6), (1, 0.8)]).T
    swapped[:, :, 1] = PchipInterpolator(x, to)(swapped[:, :, 1])
    golden("colormatrix=bgr,levels=gamma=1.5:channel=blue,curves=green=0 0.1/0.4 0.6/1 0.8", "rgb.ppm",
           rounded(swapped * 255, rgb))


def light_of(kelvin, tint):
    """Linear sRGB of luminance 1, by the library colour-science."""
    uv = colour.UCS_to_uv(colour.XYZ_to_UCS(colour.xy_to_XYZ(colour.temperature.CCT_to_xy_Kang2002(kelvin))))
    near = colour.temperature.CCT_to_xy_Kang2002(kelvin * 1.0001)
    step = colour.UCS_to_uv(colour.XYZ_to_UCS(colour.xy_to_XYZ(near))) - uv
    uv = uv + tint * 0.05 * np.array([-step[1], step[0]]) / np.linalg.norm(step)
    xyz = colour.xy_to_XYZ(colour.UCS_uv_to_xy(uv))
    return np.maximum(colour.models.RGB_COLOURSPACE_sRGB.matrix_XYZ_to_RGB @ xyz, 0)


def light(golden, rounded, rgb, rgb16):
    weights = np.array([0.2126, 0.7152, 0.0722])

    def with_gain(picture, gain):
        peak = np.iinfo(picture.dtype).max
        linear = colour.cctf_decoding(picture / peak, function="sRGB")
        return rounded(colour.cctf_encoding(np.clip(linear * gain, 0, 1), function="sRGB") * peak, picture)

    for kelvin, tint, name, picture in [(4200, 0, "rgb.ppm", rgb), (9000, 0.3, "rgb.ppm", rgb),
                                        (2000, -0.5, "rgb16.ppm", rgb16)]:
        gain = light_of(kelvin, tint) / light_of(6500, 0)
        golden(f"temperature={kelvin}:{tint}", name, with_gain(picture, gain / (gain @ weights)))
    gain = light_of(4200, 0) / light_of(6500, 0)
    golden("colormatrix=bgr,temperature=4200", "rgb.ppm", with_gain(rgb[:, :, ::-1], gain / (gain @ weights)))

    mean = colour.cctf_decoding(rgb / 255, function="sRGB").mean(axis=(0, 1))
    golden("whitebalance", "rgb.ppm", with_gain(rgb, mean @ weights / mean))
    brightest = np.percentile(rgb16, 98, axis=(0, 1), method="higher")
    high = colour.cctf_decoding(brightest / 65535, function="sRGB")
    golden("whitebalance=white:2", "rgb16.ppm", with_gain(rgb16, high.max() / high))


def keys(golden, rounded, rgb, rgba):
    ycc = cv2.cvtColor((rgb / 255).astype(np.float32), cv2.COLOR_RGB2YCrCb)
    key = cv2.cvtColor(np.array([[[191 / 255, 46 / 255, 15 / 255]]], np.float32), cv2.COLOR_RGB2YCrCb)
    distance = np.linalg.norm((ycc - key)[:, :, 1:], axis=2)
    for similarity, blend in ((0.1, 0.2), (0.25, 0.0)):
        kept = np.clip((distance - similarity) / max(blend, 1e-9), 0, 1)
        alpha = rounded(kept * 255, rgb)
        golden(f"chromakey=#bf2e0f:{similarity}:{blend}", "rgb.ppm", np.dstack([rgb, alpha]))
        alpha = rounded(kept * rgba[:, :, 3], rgb)
        golden(f"chromakey=#bf2e0f:{similarity}:{blend}", "rgba.pam", np.dstack([rgb, alpha]))


def write_cube(name, keyword, size, values, domain=None):
    with open(os.path.join(HERE, name), "w") as file:
        file.write(f'# made by tone.py\nTITLE "{name}"\n{keyword} {size}\n')
        if domain:
            for word, row in zip(("DOMAIN_MIN", "DOMAIN_MAX"), domain):
                file.write(f"{word} {row[0]} {row[1]} {row[2]}\n")
        for row in values:
            file.write(f"{row[0]:.6f} {row[1]:.6f} {row[2]:.6f}\n")
    return os.path.join(HERE, name)


def tables(golden, rounded, rgb, gray, rgb16):
    def looked_up(path, picture):
        peak = np.iinfo(picture.dtype).max
        table = colour.io.read_LUT_IridasCube(path)
        how = {}
        if isinstance(table, colour.LUT3D):
            how["interpolator"] = colour.algebra.table_interpolation_tetrahedral
        return table.apply(np.clip(picture / peak, table.domain[0], table.domain[1]), **how) * peak

    rng = np.random.default_rng(4)
    size = 5
    b, g, r = np.meshgrid(*[np.linspace(0, 1, size)] * 3, indexing="ij")
    nodes = np.stack([r, g, b], axis=3).reshape(-1, 3) * 0.6 + 0.4 * rng.random((size ** 3, 3))
    path = write_cube("cube.cube", "LUT_3D_SIZE", size, nodes)
    name = "lut=tests/filters/goldens/cube.cube"
    golden(name, "rgb.ppm", rounded(looked_up(path, rgb), rgb))
    golden(name, "rgb16.ppm", rounded(looked_up(path, rgb16), rgb16), 1)
    golden(name, "gray.pgm", rounded(looked_up(path, np.dstack([gray] * 3)), gray))
    golden(name + ":0.3", "rgb.ppm", rounded(0.3 * looked_up(path, rgb) + 0.7 * rgb, rgb))
    path = write_cube("domain.cube", "LUT_3D_SIZE", 3, nodes[:27], ((-0.1, 0.1, 0), (1.2, 0.9, 0.8)))
    golden("lut=tests/filters/goldens/domain.cube", "rgb.ppm", rounded(looked_up(path, rgb), rgb))
    points = np.sort(rng.random((17, 3)), axis=0)
    path = write_cube("curves.cube", "LUT_1D_SIZE", 17, points)
    golden("lut=tests/filters/goldens/curves.cube", "rgb16.ppm", rounded(looked_up(path, rgb16), rgb16))
    golden("lut=tests/filters/goldens/curves.cube", "gray.pgm", rounded(looked_up(path, np.dstack([gray] * 3)), gray))
    golden("colormatrix=bgr,lut=tests/filters/goldens/curves.cube", "rgb.ppm",
           rounded(looked_up(path, np.ascontiguousarray(rgb[:, :, ::-1])), rgb))


def generated(golden, rounded, rgb, gray16):
    height, width = gray16.shape
    y, x = np.mgrid[0:height, 0:width]
    distance = np.hypot((x + 0.5) / width * 2 - 1, (y + 0.5) / height * 2 - 1) / np.sqrt(2)
    for name, picture, strength, radius, tint in [("rgb.ppm", rgb, 0.6, 0.3, (0, 0, 0)),
                                                  ("rgb.ppm", rgb, 1, 0, (1, 136 / 255, 0)),
                                                  ("gray16.pgm", gray16, 0.8, 0.5, (1,))]:
        t = np.maximum(distance - radius, 0) / (1 - radius)
        part = (strength * t * t * (3 - 2 * t))[:, :, None]
        peak = np.iinfo(picture.dtype).max
        v = picture.reshape(height, width, -1).astype(float)
        word = {(0, 0, 0): "black", (1,): "white"}.get(tint, "#ff8800")
        expected = rounded(v + (np.array(tint) * peak - v) * part, picture)
        golden(f"vignette={strength}:{radius}:{word}", name, expected[:, :, 0] if picture is gray16 else expected,
               1 if picture is rgb else 4, 1000 if picture is rgb else 900)
    framed = ImageOps.expand(Image.fromarray(rgb[4:-4, 4:-4]), 4, (255, 0, 0))
    golden("frame=4:red", "rgb.ppm", np.array(framed), 0)
    golden("frame=100:navy", "rgb.ppm", np.zeros_like(rgb) + np.array([0, 0, 128], np.uint8), 0)
    for radius in (10, 18.5):
        # Drawn sixteen times as large: the part of a pixel that is covered, where the filter has a distance.
        large = Image.new("L", (width * 16, height * 16))
        ImageDraw.Draw(large).rounded_rectangle((0, 0, width * 16 - 1, height * 16 - 1), radius * 16, 255)
        alpha = np.array(large.resize((width, height), Image.BOX))
        golden(f"round={'50%' if radius > 18 else radius}", "rgb.ppm", np.dstack([rgb, alpha]), 32, 985)


def tone(golden, write, rounded, rgb, gray, gray16, rgb16, rgba):
    levels(golden, rounded, rgb, gray16)
    curves(golden, rounded, rgb, gray16)
    exposure(golden, rounded, rgb)
    few_levels(golden, rounded, rgb, gray16)
    after_another(golden, rounded, rgb)
    write("rgb16.ppm", rgb16)
    matrices(golden, rounded, rgb, gray, rgb16, rgba)
    light(golden, rounded, rgb, rgb16)
    keys(golden, rounded, rgb, rgba)
    tables(golden, rounded, rgb, gray, rgb16)
    generated(golden, rounded, rgb, gray16)
