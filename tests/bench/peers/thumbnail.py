"""The peers of `make bench-thumbnail` that Python has: every JPEG of a folder to a thumbnail, as JPEG of quality 75.

Arguments: opencv, pillow, vips, torchvision,cpu or torchvision,cuda; the folder, the one for the results, and the side of the
square that a thumbnail fits. All but torchvision,cuda run in a process for each processor, each on one thread.
"""
import multiprocessing
import os
import sys

GROUP = 32  # pictures that torchvision decodes and encodes on CUDA at once


def fitted(width, height, side):
    scale = side / max(width, height)
    return max(1, round(width * scale)), max(1, round(height * scale))


def opencv(source, target, side):
    import cv2

    cv2.setNumThreads(1)
    picture = cv2.imread(source)
    size = fitted(picture.shape[1], picture.shape[0], side)
    result = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    if not cv2.imwrite(target, result, [cv2.IMWRITE_JPEG_QUALITY, 75]):
        raise OSError(target)


def pillow(source, target, side):
    from PIL import Image

    with Image.open(source) as picture:
        picture.thumbnail((side, side), Image.LANCZOS)
        picture.save(target, quality=75)


def vips(source, target, side):
    import pyvips

    pyvips.Image.thumbnail(source, side, height=side).jpegsave(target, Q=75)


def torchvision_cpu(source, target, side):
    import torch
    from torchvision.io import ImageReadMode, decode_jpeg, read_file, write_jpeg
    from torchvision.transforms.functional import resize

    torch.set_num_threads(1)
    with torch.inference_mode():
        picture = decode_jpeg(read_file(source), mode=ImageReadMode.RGB)
        width, height = fitted(picture.shape[2], picture.shape[1], side)
        write_jpeg(resize(picture, [height, width], antialias=True), target, quality=75)


def torchvision_cuda(files, side):
    import torch
    from torchvision.io import ImageReadMode, decode_jpeg, encode_jpeg, read_file, write_file
    from torchvision.transforms.functional import resize

    with torch.inference_mode():
        for first in range(0, len(files), GROUP):
            group = files[first : first + GROUP]
            pictures = decode_jpeg([read_file(name) for name, _ in group], mode=ImageReadMode.RGB, device="cuda")
            results = []
            for picture in pictures:
                width, height = fitted(picture.shape[2], picture.shape[1], side)
                results.append(resize(picture, [height, width], antialias=True))
            for (_, target), data in zip(group, encode_jpeg(results, quality=75)):
                write_file(target, data.cpu())


def run(job):
    tool, source, target, side = job
    {"opencv": opencv, "pillow": pillow, "vips": vips, "torchvision,cpu": torchvision_cpu}[tool](source, target, side)


if __name__ == "__main__":
    os.environ["VIPS_CONCURRENCY"] = "1"  # a thread for each process
    tool, folder, results, side = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    os.makedirs(results, exist_ok=True)
    files = [(os.path.join(folder, name), os.path.join(results, name)) for name in sorted(os.listdir(folder))]
    if tool == "torchvision,cuda":
        torchvision_cuda(files, side)
    else:
        with multiprocessing.Pool(len(os.sched_getaffinity(0))) as pool:
            pool.map(run, [(tool, *names, side) for names in files], chunksize=8)
