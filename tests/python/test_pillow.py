"""like=pillow against Pillow 10 to 12, and like=pillow13 against 13: random sizes, boxes, kernels and pictures, of which no sample
may differ. Where there is no Pillow, checksums stand for it. Prints TAP. PILLOW_CASES is the number of cases, PILLOW_DEVICE the
device."""

import io
import os
import random
import unittest
import zlib

import gpufilter as gf
from support import main, optional

Image = optional("PIL.Image")
version = tuple(map(int, Image.__version__.split(".")[:2])) if Image else (0, 0)
LIKE = "pillow13" if version >= (13, 0) else "pillow"
CASES = int(os.environ.get("PILLOW_CASES", 10000))
EACH = 1000  # cases of a checksum
SUMS = {"pillow": "e2f04ed3 88ef210b 037c815a f49b9426 d3f45f41 15bde589 a09fd488 910be54a 12303a2c 3552083f",
        "pillow13": "281c9d4b f20f5d9e 48544515"}
KERNELS = {"lanczos3": "LANCZOS", "cubic": "BICUBIC", "linear": "BILINEAR", "nearest": "NEAREST", "area": "BOX", "box": "BOX",
           "hamming": "HAMMING"}
CHANNELS = {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4, "I;16": 1}
options = {"device": os.environ.get("PILLOW_DEVICE", "cpu"), "threads": 1}
needs_pillow = unittest.skipUnless(version >= (10, 0), "there is no Pillow from 10 on")


def differs(mode, width, height, kernel):
    """Returns whether this version may have other samples than Pillow 12.3: I;16 was resized by the nearest kernel before 11, the
    lower byte of its samples above 65535 was kept before 12.3, and tall pictures had their columns scaled first before 12.2."""
    if mode == "I;16" and version < (11, 0):
        return True
    return mode == "I;16" and kernel in ("lanczos3", "cubic") and version < (12, 3) or height > 50 * width and version < (12, 2)


class Draws:
    """Random numbers that are the same in every version of Python."""

    def __init__(self, seed):
        self.random = random.Random(seed).random

    def below(self, end):
        return int(self.random() * end)

    def one_of(self, *things):
        return things[self.below(len(things))]

    def side(self):
        return 1 + self.below(self.one_of(12, 60, 60, 200))

    def samples(self, size):
        """Returns noise, noise of few levels, noise in flat areas, or steps."""
        noise = random.Random(self.below(1 << 30)).getrandbits(8 * size).to_bytes(size, "little")
        kind = self.below(4)
        if kind == 1:
            return noise.translate(bytes(self.one_of((0, 255), (0, 1, 127, 128, 254, 255)))[:2] * 128)
        if kind == 2:
            period = 1 + self.below(25)
            return (noise[:period] * (size // period + 1))[:size]
        return noise.translate(bytes(range(40)) + bytes([200]) * 216) if kind else noise

    def box(self, width, height):
        """Returns a part of the picture, in sixteenths, which floats hold exactly."""
        x, y = ([self.below(8 * side), 8 * side + 1 + self.below(8 * side)] for side in (width, height))
        x = self.one_of(x, x, [0, 16 * width])
        return [number / 16 for number in (x[0], y[0], x[1], y[1])]


def pam(mode, width, height, samples):
    """Returns a PAM file, whose words are big-endian."""
    if mode == "I;16":
        words = bytearray(samples)
        words[::2], words[1::2] = samples[1::2], samples[::2]
        samples = bytes(words)
    kind = {"LA": "GRAYSCALE_ALPHA", "RGB": "RGB", "RGBA": "RGB_ALPHA"}.get(mode, "GRAYSCALE")
    return (f"P7\nWIDTH {width}\nHEIGHT {height}\nDEPTH {CHANNELS[mode]}\nMAXVAL {65535 if mode == 'I;16' else 255}\n"
            f"TUPLTYPE {kind}\nENDHDR\n").encode() + samples


class Pillow(unittest.TestCase):
    def same(self, got, expected, what):
        self.assertEqual((got.shape[1], got.shape[0]), expected.size, what)
        ours, theirs = got.tobytes(), expected.tobytes()
        if ours != theirs:
            wrong = sum(a != b for a, b in zip(ours, theirs))
            self.fail(f"{what}: {wrong} of {len(ours)} bytes differ from Pillow {Image.__version__}")

    def resized(self, case, like=LIKE):
        """Returns the bytes of a case's result, after it was compared with Pillow's."""
        draws = Draws(case)
        mode = draws.one_of("L", "LA", "RGB", "RGB", "RGBA", "RGBA", "I;16")
        width, height, columns, rows = (draws.side() for _ in range(4))
        columns, rows = draws.one_of((columns, rows), (columns, rows), (width, rows), (columns, height))
        if case % 25 == 0:
            width, height = width % 3 + 1, width % 3 * 101 + 102 + height
        samples = draws.samples(width * height * CHANNELS[mode] * (2 if mode == "I;16" else 1))
        kernel = draws.one_of(*KERNELS)
        box = draws.one_of(None, None, draws.box(width, height))
        gap = draws.one_of(None, None, draws.one_of(1, 1.1, 1.5, 2, 3)) if mode != "I;16" else None
        chain = f"resize={columns}:{rows}:{kernel}:like={like}"
        chain += ":box='" + " ".join(map(str, box)) + "'" if box else ""
        chain += f":reducing_gap={gap}" if gap else ""
        got = gf.decode(pam(mode, width, height, samples), chain, **options)
        if version >= (10, 0) and not differs(mode, width, height, kernel):
            expected = Image.frombytes(mode, (width, height), samples).resize(
                (columns, rows), getattr(Image.Resampling, KERNELS[kernel]), box, gap)
            self.same(got, expected, f"case {case}, {mode} {width}x{height}: {chain}")
        return got.tobytes()

    def resize(self, cases, like=LIKE):
        for part in range(cases // EACH):
            total = 0
            for case in range(part * EACH, part * EACH + EACH):
                total = zlib.crc32(self.resized(case, like), total)
            self.assertEqual(f"{total:08x}", dict(enumerate(SUMS[like].split())).get(part, f"{total:08x}"),
                             f"the checksum of cases from {part * EACH} on")

    @unittest.skipIf(version >= (10, 0), "Pillow itself is here")
    def test_resize_like_pillow_by_checksums(self):
        self.resize(CASES, "pillow")
        self.resize(CASES * 3 // 10, "pillow13")

    @needs_pillow
    def test_resize_like_pillow(self):
        self.resize(CASES)

    def test_refused_like_pillow(self):
        words = b"P6 4 4 65535\n" + bytes(96)
        for chain, data, why in (("resize=2:like=pillow", words, "16 bits in gray pictures"),
                                 ("resize=2:2:like=pillow:box='0 0 5 4'", b"P5 4 4 255\n" + bytes(16), "not within"),
                                 ("resize=1:1:like=pillow:reducing_gap=1", b"P5 4 4 65535\n" + bytes(32), "8 bits only")):
            with self.assertRaisesRegex(gf.Error, why):
                gf.decode(data, chain, **options)

    @needs_pillow
    def test_thumbnail_like_pillow(self):
        for case in range(CASES // 20):
            draws = Draws(case)
            mode, kind = draws.one_of(("L", "JPEG"), ("RGB", "JPEG"), ("RGB", "JPEG"), ("RGB", "PNG"), ("LA", "PNG"), ("RGBA", "PNG"))
            width, height = (1 + draws.below(draws.one_of(90, 600)) for _ in range(2))
            columns, rows = (1 + draws.below(draws.one_of(20, 100)) for _ in range(2))
            picture = Image.frombytes(mode, (width, height), draws.samples(width * height * CHANNELS[mode]))
            file = io.BytesIO()
            picture.save(file, kind, **{"subsampling": draws.below(3)} if kind == "JPEG" else {})
            file = file.getvalue()
            with Image.open(io.BytesIO(file)) as expected:
                expected.thumbnail((columns, rows))
                chain = f"thumbnail={columns}:{rows}:like={LIKE}"
                if differs(mode, width, height, "cubic"):
                    continue
                self.same(gf.decode(file, chain, **options), expected, f"case {case}, {kind}, {mode} {width}x{height}: {chain}")


if __name__ == "__main__":
    main(Pillow)
