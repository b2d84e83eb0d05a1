"""The goldens of shape and edges: OpenCV, scipy. make.py calls shapes()."""
import cv2
import numpy as np
from scipy import ndimage

SCIPY_MODE = {"edge": "nearest", "reflect": "mirror", "wrap": "wrap", "constant": "constant"}


def diamond(rx, ry):
    y, x = np.mgrid[-ry:ry + 1, -rx:rx + 1]
    return (abs(x) * ry + abs(y) * rx <= rx * ry).astype(np.uint8)


def elements(golden, rgb, gray, gray16):
    for name, rx, ry, shape in [("rectangle", 1, 1, cv2.MORPH_RECT), ("rectangle", 9, 3, cv2.MORPH_RECT),
                                ("ellipse", 5, 3, cv2.MORPH_ELLIPSE), ("cross", 2, 4, cv2.MORPH_CROSS)]:
        element = cv2.getStructuringElement(shape, (2 * rx + 1, 2 * ry + 1))
        golden(f"dilate={rx}:{ry}:{name}", "rgb.ppm", cv2.dilate(rgb, element), 0)
        golden(f"erode={rx}:{ry}:{name}", "gray16.pgm", cv2.erode(gray16, element), 0)
    for border, mode in SCIPY_MODE.items():
        golden(f"dilate=6:2:diamond:{border}", "gray.pgm",
               ndimage.grey_dilation(gray, footprint=diamond(6, 2), mode=mode, cval=0), 0)
        golden(f"erode=3:border={border}", "gray16.pgm",
               ndimage.grey_erosion(gray16, size=(7, 7), mode=mode, cval=0), 0)
    # Not symmetrical: dilation takes the element mirrored, as scipy does, and OpenCV does not.
    element = np.array([[0, 1, 0, 0, 0], [1, 1, 0, 1, 0], [0, 0, 0, 0, 1]])
    text = "0 1 0 0 0/1 1 0 1 0/0 0 0 0 1"
    golden(f"dilate=shape={text}", "gray.pgm", ndimage.grey_dilation(gray, footprint=element, mode="nearest"), 0)
    golden(f"erode=shape={text}", "gray.pgm", ndimage.grey_erosion(gray, footprint=element, mode="nearest"), 0)


def distances(golden, rgb, gray, gray16):
    golden("distance=6", "gray.pgm", far(ndimage.distance_transform_edt(gray >= 127.5) * 6, 255))
    golden("distance=50:0.6", "gray16.pgm",
           far(ndimage.distance_transform_edt(gray16 >= 0.6 * 65535) * 50, 65535))
    luma = ((rgb.astype(int) @ [77, 150, 29] + 128) >> 8) >= 0.4 * 255
    precise = cv2.distanceTransform(luma.astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    golden("distance=20:0.4", "rgb.ppm", far(precise.astype(float) * 20, 255))
    golden("distance=0.1:0", "gray.pgm", np.full_like(gray, 255), 0)


def far(distance, peak):
    return np.minimum(np.floor(distance + 0.5), peak).astype(np.uint8 if peak == 255 else np.uint16)


def shapes(golden, rgb, gray, gray16, rgba):
    elements(golden, rgb, gray, gray16)
    distances(golden, rgb, gray, gray16)
    element = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (7, 5))
    for make, operation in [("open", cv2.MORPH_OPEN), ("close", cv2.MORPH_CLOSE), ("tophat", cv2.MORPH_TOPHAT),
                            ("blackhat", cv2.MORPH_BLACKHAT), ("gradient", cv2.MORPH_GRADIENT)]:
        golden(f"morphology={make}:3:2:ellipse", "rgb.ppm", cv2.morphologyEx(rgb, operation, element), 0)
        golden(f"morphology={make}:2", "gray16.pgm",
               cv2.morphologyEx(gray16, operation, np.ones((5, 5), np.uint8)), 0)
    edges(golden, rgb, gray, gray16)
    canny(golden, rgb, gray, gray16, rgba)


def correlated(picture, kernel, bias=0.0):
    peak = np.iinfo(picture.dtype).max
    result = cv2.filter2D(picture.astype(float), cv2.CV_64F, kernel, borderType=cv2.BORDER_REPLICATE)
    return np.clip(np.floor(result + bias + 0.5), 0, peak).astype(picture.dtype)


def edges(golden, rgb, gray, gray16):
    for kernel, differences in [("scharr", (3, 10, 3)), ("prewitt", (1, 1, 1))]:
        for source, picture in [("rgb.ppm", rgb), ("gray16.pgm", gray16)]:
            slope = np.outer(differences, (-1, 0, 1)).astype(float)
            gx, gy = [cv2.filter2D(picture.astype(float), cv2.CV_64F, k, borderType=cv2.BORDER_REPLICATE)
                      for k in (slope, slope.T)]
            expected = np.floor(0.2 * np.hypot(gx, gy) + 0.5)
            golden(f"sobel=0.2:kernel={kernel}", source,
                   np.clip(expected, 0, np.iinfo(picture.dtype).max).astype(picture.dtype))
    laplacian = cv2.Laplacian(gray, cv2.CV_64F, ksize=1, borderType=cv2.BORDER_REPLICATE)
    golden("laplace=1:128", "gray.pgm", np.clip(laplacian + 128, 0, 255).astype(np.uint8), 0)
    eight = np.array([[1, 1, 1], [1, -8, 1], [1, 1, 1]], float)
    golden("laplace=-0.5:0:8", "gray16.pgm", correlated(gray16, eight * -0.5))
    across = np.outer((1, 2, 1), (-1, 0, 1)) / 4
    for angle in (135, 20):
        light = np.cos(np.radians(angle)), -np.sin(np.radians(angle))
        relief = -(light[0] * across + light[1] * across.T)
        golden(f"emboss={angle}", "rgb.ppm", correlated(rgb, relief, 128))
    relief[1, 1] += 1
    golden("emboss=20:1:picture", "gray16.pgm", correlated(gray16, relief))


def thin_and_linked(picture, low, high):
    """OpenCV has no Canny of 16 bits: its rules by numpy, and the hysteresis by scipy's labels."""
    gx, gy = [cv2.Sobel(picture.astype(float), cv2.CV_64F, *order, borderType=cv2.BORDER_REPLICATE)
              for order in ((1, 0), (0, 1))]
    square = np.pad(gx * gx + gy * gy, 1)
    here = square[1:-1, 1:-1]
    x, y = abs(gx), abs(gy)
    across, down = y * 32768 < x * 13573, y * 32768 > x * (13573 + 65536)

    def beside(dx, dy):
        return square[1 + dy:square.shape[0] - 1 + dy, 1 + dx:square.shape[1] - 1 + dx]
    same = (gx >= 0) == (gy >= 0)
    first, second = [np.select([across, down, same], [beside(s, 0), beside(0, s), beside(s, s)], beside(-s, s))
                     for s in (-1, 1)]
    thin = (here > low ** 2) & (here > first) & ((here > second) | ((here == second) & (across | down)))
    parts = ndimage.label(thin, np.ones((3, 3)))[0]
    strong = np.unique(parts[thin & (here > high ** 2)])
    return np.where(thin & np.isin(parts, strong), 65535, 0).astype(np.uint16)


def canny(golden, rgb, gray, gray16, rgba):
    for low, high in [(50, 150), (20, 300.5), (400, 90)]:
        for source, picture in [("rgb.ppm", rgb), ("gray.pgm", gray)]:
            golden(f"canny={low}:{high}", source, cv2.Canny(picture, low, high, L2gradient=True), 0)
        golden(f"canny={low}:{high}", "gray16.pgm",
               thin_and_linked(gray16, 257 * min(low, high), 257 * max(low, high)), 0)
    over_black = np.floor(rgba[:, :, :3] * rgba[:, :, 3:].astype(float) / 255 + 0.5).astype(np.uint8)
    golden("canny", "rgba.pam", cv2.Canny(over_black, 50, 150, L2gradient=True), 0)
