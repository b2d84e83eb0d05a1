"""The goldens of thresholds that differ from pixel to pixel: OpenCV, scikit-image. make.py calls thresholds()."""
import cv2
import numpy as np
from skimage.filters import threshold_sauvola


def thresholds(golden, luma, gray, gray16, rgb):
    for name, word, method in (("adaptive", "adaptive", cv2.ADAPTIVE_THRESH_MEAN_C),
                               ("gaussian", "gaussian", cv2.ADAPTIVE_THRESH_GAUSSIAN_C)):
        for radius, offset in ((5, 0.03), (2, -0.02), (26, 0)):
            expected = cv2.adaptiveThreshold(gray, 255, method, cv2.THRESH_BINARY, 2 * radius + 1, offset * 255)
            # OpenCV cuts the Gaussian off at the window; its mean may round to the next sample.
            golden(f"threshold={word}:{radius}:{offset:g}", "gray.pgm", expected,
                   0 if name == "adaptive" else 255, 1000 if name == "adaptive" else 985)
    for radius, k in ((12, 0.2), (3, 0.5)):
        for name, picture in (("gray.pgm", gray), ("gray16.pgm", gray16), ("rgb.ppm", luma(rgb))):
            above = picture > threshold_sauvola(picture, 2 * radius + 1, k=k)
            golden(f"threshold=sauvola:{radius}:k={k}:border=reflect", name,
                   np.where(above, np.iinfo(picture.dtype).max, 0).astype(picture.dtype), 0)
