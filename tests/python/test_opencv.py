"""like=opencv against OpenCV's cv2.resize() with INTER_LINEAR and INTER_AREA: random sizes and pictures, of which no sample may
differ. Where there is no cv2, checksums stand for it. Prints TAP. OPENCV_CASES is the number of cases, OPENCV_DEVICE the device."""

import os
import unittest
import zlib

import gpufilter as gf
from support import main, optional
from test_pillow import CHANNELS, Draws, pam

cv2 = optional("cv2")
CASES = int(os.environ.get("OPENCV_CASES", 6000))
EACH = 1000  # cases of a checksum
SUMS = "88d31e58 303102d7 7c7e3095 0e80b769 64a08e47 1eeab9f4"
options = {"device": os.environ.get("OPENCV_DEVICE", "cpu"), "threads": 1}


def sizes(draws):
    """Returns the sides of a picture and of its result: any, one kept, or one or both divided by whole numbers."""
    columns, rows = draws.side(), draws.side()
    width, height = (draws.one_of(draws.side(), draws.side(), side, side * (1 + draws.below(9)), side * 2) for side in (columns, rows))
    by_two = draws.below(12) == 0
    return (2 * columns, 2 * rows, columns, rows) if by_two else (width, height, columns, rows)


class OpenCV(unittest.TestCase):
    def resized(self, case):
        """Returns the bytes of a case's result, after it was compared with OpenCV's."""
        draws = Draws(case)
        mode = draws.one_of("L", "LA", "RGB", "RGB", "RGBA")
        width, height, columns, rows = sizes(draws)
        samples = draws.samples(width * height * CHANNELS[mode])
        kernel = draws.one_of("linear", "area")
        chain = f"resize={columns}:{rows}:{kernel}:like=opencv"
        ours = gf.decode(pam(mode, width, height, samples), chain, **options).tobytes()
        if cv2:
            import numpy
            picture = numpy.frombuffer(samples, "u1").reshape(height, width, CHANNELS[mode])
            theirs = cv2.resize(picture, (columns, rows), interpolation=getattr(cv2, f"INTER_{kernel.upper()}")).tobytes()
            wrong = sum(a != b for a, b in zip(ours, theirs)) if ours != theirs else 0
            self.assertEqual((len(ours), wrong), (len(theirs), 0),
                             f"case {case}, {mode} {width}x{height}: {chain}: samples that differ from OpenCV {cv2.__version__}")
        return ours

    def resize(self):
        for part in range(CASES // EACH):
            total = 0
            for case in range(part * EACH, part * EACH + EACH):
                total = zlib.crc32(self.resized(case), total)
            self.assertEqual(f"{total:08x}", dict(enumerate(SUMS.split())).get(part, f"{total:08x}"),
                             f"the checksum of cases from {part * EACH} on")

    @unittest.skipIf(cv2, "OpenCV itself is here")
    def test_resize_like_opencv_by_checksums(self):
        self.resize()

    @unittest.skipUnless(cv2, "there is no cv2")
    def test_resize_like_opencv(self):
        self.resize()

    def test_sums_of_wide_blocks(self):
        wide = gf.decode(b"P5 600000 1 255\n" + b"\xfe" * 600000, "resize=1:1:area:like=opencv", **options)
        self.assertEqual(wide.tobytes(), b"\xfe")

    def test_refused_like_opencv(self):
        gray = b"P5 4 4 255\n" + bytes(16)
        for chain, data, why in (("resize=2:2:linear:like=opencv", b"P5 4 4 65535\n" + bytes(32), "8 bits only"),
                                 ("resize=2:2:like=opencv", gray, "needs kernel=linear or kernel=area"),
                                 ("resize=1:1:area:like=cv2", b"P5 4096 2060 255\n" + bytes(4096 * 2060), "overflow"),
                                 ("resize=2:2:area:like=opencv:reducing_gap=2", gray, "reducing_gap needs like=pillow")):
            with self.assertRaisesRegex(gf.Error, why):
                gf.decode(data, chain, **options)


if __name__ == "__main__":
    main(OpenCV)
