"""The goldens of thresholds that differ from pixel to pixel: OpenCV, scikit-image. make.py calls thresholds()."""
import cv2
import numpy as np
from skimage.filters import threshold_sauvola


def thresholds(golden, luma, gray, gray16, rgb):
    def local(word, method, *cases):
        for radius, offset in cases:
            expected = cv2.adaptiveThreshold(gray, 255, method, cv2.THRESH_BINARY, 2 * radius + 1, offset * 255)
            golden(f"threshold={word}:{radius}:{offset:g}", "gray.pgm", expected, 0)

    for word, method in (("adaptive", cv2.ADAPTIVE_THRESH_MEAN_C), ("gaussian", cv2.ADAPTIVE_THRESH_GAUSSIAN_C)):
        local(word, method, (5, 0.03), (2, -0.02), (26, 0))
    for radius, k in ((12, 0.2), (3, 0.5)):
        for name, picture in (("gray.pgm", gray), ("gray16.pgm", gray16), ("rgb.ppm", luma(rgb))):
            above = picture > threshold_sauvola(picture, 2 * radius + 1, k=k)
            golden(f"threshold=sauvola:{radius}:k={k}:border=reflect", name,
                   np.where(above, np.iinfo(picture.dtype).max, 0).astype(picture.dtype), 0)
    # OpenCV has tables of weights up to radius 4. It rounds a half to the even sample: none decides here.
    local("gaussian", cv2.ADAPTIVE_THRESH_GAUSSIAN_C, (1, 0.05), (3, 0), (4, -0.02))
