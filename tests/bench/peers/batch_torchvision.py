"""torchvision's part of `make bench-batch`: blur=2,equalize on every JPEG of a folder, decoded, filtered and encoded on
CUDA, in groups.

Arguments: the folder, and the one for the results.
"""
import os
import sys

import torch
from torchvision.io import ImageReadMode, decode_jpeg, encode_jpeg, read_file, write_file
from torchvision.transforms.functional import equalize, gaussian_blur

GROUP = 32


def filter_group(source, target, names):
    files = [read_file(os.path.join(source, name)) for name in names]
    pictures = decode_jpeg(files, mode=ImageReadMode.RGB, device="cuda")
    results = [equalize(gaussian_blur(picture, kernel_size=13, sigma=2.0)) for picture in pictures]
    for name, data in zip(names, encode_jpeg(results, quality=90)):
        write_file(os.path.join(target, name), data.cpu())


if __name__ == "__main__":
    source, target = sys.argv[1:]
    os.makedirs(target, exist_ok=True)
    names = sorted(os.listdir(source))
    with torch.inference_mode():
        for first in range(0, len(names), GROUP):
            filter_group(source, target, names[first : first + GROUP])
