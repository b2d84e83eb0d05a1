"""Pictures for training a network, beside torchvision: loader.py FOLDER [PICTURES [WORKERS]]

A torch DataLoader whose pictures are decoded, cut out, flipped, resized, changed in colour and normalised by gpufilter, in one call each. Prints how many pictures of the folder it loads in a second, and how many torchvision's transforms load.
Where there is a GPU, it also loads batches that never leave its memory.
"""

import collections
import concurrent.futures
import io
import os
import random
import sys
import time

import torch

import gpufilter as gf

SIZE, MEAN, STD = 224, (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
NUMBERS = {"dtype": "float32", "layout": "NCHW", "channels": 3, "mean": MEAN, "std": STD}


def files_of(folder):
    return sorted(entry.path for entry in os.scandir(folder) if entry.name.lower().endswith((".jpg", ".jpeg", ".png")))


def augmentation():
    """Returns a chain with a part of at least a quarter of the picture, flipped or not, in slightly other colours."""
    side = random.uniform(0.5, 1)
    left, top = (random.uniform(0, 1 - side) for _ in range(2))
    chain = [f"crop=w={side:.2%}:h={side:.2%}:x={left:.2%}:y={top:.2%}:gravity=northwest", f"resize={SIZE}:{SIZE}:linear"]
    if random.random() < 0.5:
        chain.append("hflip")
    chain += [f"brightness={random.uniform(-0.1, 0.1):.3f}", f"contrast={random.uniform(0.8, 1.2):.3f}",
              f"saturation={random.uniform(0.8, 1.2):.3f}"]
    return ",".join(chain + ["flatten"])


class Pictures(torch.utils.data.Dataset):
    """Tensors of 3x224x224 floats."""

    def __init__(self, files, chain=augmentation):
        self.files, self.chain = files, chain

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        pipeline = gf.Pipeline(self.chain(), device="cpu", serial=True)  # each chain is another one
        with open(self.files[index], "rb") as file:
            return torch.from_numpy(pipeline.decode(file.read(), **NUMBERS))


class OnDevice(torch.utils.data.IterableDataset):
    """Batches of such tensors, made in a GPU's memory, several at a time. The pictures of a batch are changed in one way."""

    def __init__(self, files, size=64, chain=augmentation, device="cuda:0", threads=3):
        self.files, self.size, self.chain, self.device, self.threads = files, size, chain, device, threads

    def make(self, files):
        data = []
        for path in files:
            with open(path, "rb") as file:
                data.append(file.read())
        return gf.decode(data, self.chain(), device=self.device, **NUMBERS)

    def __iter__(self):
        files, made = random.sample(self.files, len(self.files)), collections.deque()
        with concurrent.futures.ThreadPoolExecutor(self.threads) as pool:
            for at in range(0, len(files), self.size):
                made.append(pool.submit(self.make, files[at:at + self.size]))
                if len(made) > self.threads:
                    yield made.popleft().result()
            while made:
                yield made.popleft().result()


class Others(torch.utils.data.Dataset):
    """The same with Pillow and torchvision."""

    def __init__(self, files):
        from torchvision import transforms
        self.files = files
        self.transform = transforms.Compose([
            transforms.RandomResizedCrop(SIZE, scale=(0.25, 1), ratio=(1, 1)), transforms.RandomHorizontalFlip(),
            transforms.ColorJitter(0.1, 0.2, 0.2), transforms.ToTensor(), transforms.Normalize(MEAN, STD)])

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        from PIL import Image
        with open(self.files[index], "rb") as file:
            return self.transform(Image.open(io.BytesIO(file.read())).convert("RGB"))


def measure(batches):
    """Returns the pictures in a second."""
    begin, count = time.perf_counter(), 0
    for batch in batches:
        count += len(batch)
    return count / (time.perf_counter() - begin)


if __name__ == "__main__":
    torch.set_num_threads(1)
    found = files_of(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else len(found)
    files = (found * (count // len(found) + 1))[:count]
    workers = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    for name, kind in (("gpufilter", Pictures), ("torchvision", Others)):
        batches = torch.utils.data.DataLoader(kind(files), batch_size=16, num_workers=workers, shuffle=True)
        print(f"{name}: {measure(batches):.1f} pictures in a second")
    if torch.cuda.is_available():
        print(f"gpufilter on a GPU: {measure(torch.utils.data.DataLoader(OnDevice(files), batch_size=None)):.1f} pictures in a second")
