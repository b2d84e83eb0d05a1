"""OpenCV's part of `make bench-batch` and `make bench`: blur=2,equalize on every JPEG of a folder, in a process for each
processor.

Arguments: the folder, and the one for the results.
"""
import multiprocessing
import os
import sys

import cv2


def filter_file(paths):
    cv2.setNumThreads(1)
    picture = cv2.GaussianBlur(cv2.imread(paths[0]), (0, 0), 2)
    luma = cv2.cvtColor(picture, cv2.COLOR_BGR2YCrCb)
    luma[:, :, 0] = cv2.equalizeHist(luma[:, :, 0])
    picture = cv2.cvtColor(luma, cv2.COLOR_YCrCb2BGR)
    if not cv2.imwrite(paths[1], picture, [cv2.IMWRITE_JPEG_QUALITY, 90]):
        raise OSError(paths[1])


if __name__ == "__main__":
    source, target = sys.argv[1:]
    os.makedirs(target, exist_ok=True)
    files = [(os.path.join(source, name), os.path.join(target, name)) for name in sorted(os.listdir(source))]
    with multiprocessing.Pool() as pool:
        pool.map(filter_file, files, chunksize=1)
