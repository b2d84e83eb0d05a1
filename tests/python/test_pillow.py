"""like=pillow against Pillow itself: random sizes, boxes, kernels and pictures, of which no sample may differ. Prints TAP.
PILLOW_CASES is the number of cases, PILLOW_DEVICE the device."""

import io
import os
import random
import sys
import unittest

import gpufilter as gf
from support import main, optional

Image = optional("PIL.Image")
features = Image and __import__("PIL.features", fromlist=["features"])
has_words = Image and int(Image.__version__.split(".")[0]) >= 11
CASES = int(os.environ.get("PILLOW_CASES", 10000))
KERNELS = {"lanczos3": "LANCZOS", "cubic": "BICUBIC", "linear": "BILINEAR", "nearest": "NEAREST", "area": "BOX", "box": "BOX",
           "hamming": "HAMMING"}
CHANNELS = {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4, "I;16": 1}
options = {"device": os.environ.get("PILLOW_DEVICE", "cpu"), "threads": 2}


def picture(rand, mode, width, height):
    """Returns the samples of noise, of noise of few levels, or of steps."""
    step = 2 if mode == "I;16" else 1
    size = width * height * CHANNELS[mode] * step
    kind = rand.randrange(4)
    if kind == 0:
        return rand.randbytes(size)
    if kind == 1:
        return bytes(rand.choices((0, 255) if rand.randrange(2) else (0, 1, 127, 128, 254, 255), k=size))
    if kind == 2:
        period = rand.randrange(1, 9) * CHANNELS[mode] * step
        return (rand.randbytes(period) * (size // period + 1))[:size]
    return bytes(rand.choices(range(256), [1] * 255 + [200], k=size))


def pam(mode, width, height, samples):
    """Returns a PAM file, whose words are big-endian."""
    if mode == "I;16":
        samples = b"".join(bytes((high, low)) for low, high in zip(samples[::2], samples[1::2]))
    kind = {"L": "GRAYSCALE", "LA": "GRAYSCALE_ALPHA", "RGB": "RGB", "RGBA": "RGB_ALPHA", "I;16": "GRAYSCALE"}[mode]
    return (f"P7\nWIDTH {width}\nHEIGHT {height}\nDEPTH {CHANNELS[mode]}\nMAXVAL {65535 if mode == 'I;16' else 255}\n"
            f"TUPLTYPE {kind}\nENDHDR\n").encode() + samples


def side(rand):
    return rand.choice((rand.randrange(1, 12), rand.randrange(1, 80), rand.randrange(1, 250)))


def box_of(rand, width, height):
    """Returns a part of the picture, in sixteenths, which floats hold exactly."""
    x, y = (sorted(rand.sample(range(16 * limit + 1), 2)) for limit in (width, height))
    if rand.randrange(3) == 0:
        x = [0, 16 * width]
    return [number / 16 for number in (x[0], y[0], x[1], y[1])]


@unittest.skipUnless(Image, "there is no Pillow")
class Pillow(unittest.TestCase):
    def differs(self, chain, data, expected, what):
        got = gf.decode(data, chain, **options)
        self.assertEqual((got.shape[1], got.shape[0]), expected.size, what)
        if got.tobytes() != expected.tobytes():
            wrong = sum(a != b for a, b in zip(got.tobytes(), expected.tobytes()))
            self.fail(f"{what}: {chain}: {wrong} of {len(expected.tobytes())} bytes differ from Pillow {Image.__version__}")

    def test_resize(self):
        for case in range(CASES):
            rand = random.Random(case)
            mode = rand.choice(("L", "LA", "RGB", "RGB", "RGBA", "RGBA") + (("I;16",) if has_words else ()))
            width, height, columns, rows = (side(rand) for _ in range(4))
            columns, rows = rand.choice(((columns, rows), (columns, rows), (width, rows), (columns, height)))
            samples = picture(rand, mode, width, height)
            kernel = rand.choice(list(KERNELS))
            box = box_of(rand, width, height) if rand.randrange(3) == 0 else None
            gap = rand.choice((1, 1.1, 1.5, 2, 3)) if rand.randrange(3) == 0 and mode != "I;16" else None
            chain = f"resize={columns}:{rows}:{kernel}:like=pillow"
            chain += ":box='" + " ".join(map(str, box)) + "'" if box else ""
            chain += f":reducing_gap={gap}" if gap else ""
            expected = Image.frombytes(mode, (width, height), samples).resize(
                (columns, rows), getattr(Image.Resampling, KERNELS[kernel]), box, gap)
            self.differs(chain, pam(mode, width, height, samples), expected, f"case {case}, {mode} {width}x{height}")


if __name__ == "__main__":
    main(Pillow)
