"""What people type who know Pillow, numpy, OpenCV and torchvision: floats, attributes, files of pictures in memory, Control-C. Prints TAP."""

import os
import pickle
import pathlib
import re
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

import gpufilter as gf
from gpufilter import _files, _pictures
from support import main, optional, ppm, ramp

numpy, torch, ml_dtypes = map(optional, ("numpy", "torch", "ml_dtypes"))
needs_numpy = unittest.skipUnless(numpy, "there is no numpy")
CHAIN = "blur=2,levels=0.1:0.9"


def by_words(numbers, black=0, white=1):
    """Returns what the filters make of numbers, by samples that numpy rounds."""
    parts = 65535 * (numbers.astype("f8") - black) / (white - black)
    return gf.run(CHAIN, numpy.rint(parts.clip(0, 65535)).astype("u2")).astype("f4") * numpy.float32(white - black) / numpy.float32(65535) + numpy.float32(black)


class Strided:
    """Floats of an unknown package, whose rows are no rows of pixels."""
    dtype = "float32"

    def __init__(self, array):
        self.array, self.__dlpack_device__ = array[:, ::2], array.__dlpack_device__

    def __dlpack__(self, **_):
        return self.array.__dlpack__()


class Slow:
    """A file object that nothing ends."""

    def read(self, size):
        time.sleep(2)
        return b""


class Habits(unittest.TestCase):
    @needs_numpy
    def test_floats_come_back_as_they_were(self):
        array = numpy.frombuffer(ramp(), numpy.uint8).reshape(40, 60, 3) / 255
        kinds = ["f2", "f4", "f8"] + ([ml_dtypes.bfloat16] if ml_dtypes else [])
        for kind in kinds:
            given = array.astype(kind)
            for view in (given, given[:, :, 0], given[:, :, :1], given[::2, ::-1], given.transpose(1, 0, 2)):
                result = gf.run(CHAIN, view)
                self.assertEqual((result.dtype, result.shape), (view.dtype, view.shape))
                numpy.testing.assert_array_equal(result, by_words(view).reshape(view.shape).astype(kind))
        wide = (array * 2 - 1).astype("f4")
        numpy.testing.assert_array_equal(gf.run(CHAIN, wide, value_range=(-1, 1)), by_words(wide, -1, 1))
        self.assertEqual(gf.blur(array.astype("f2"), 2, device="cpu").dtype, numpy.float16)
        self.assertEqual(gf.run("blur", numpy.stack([array] * 2)).shape, (2, 40, 60, 3))
        self.assertEqual(gf.decode(gf.encode(array.astype("f4"), "png")).bits, 16)
        for wrong, options, words in ((array * 255, {}, r"value_range=\(0, 255\)"), (array * float("nan"), {}, "nan at"),
                                      (array, {"value_range": 7}, "value_range takes two numbers"),
                                      (array, {"value_range": (1, 1)}, "range 1..1"), (array, {"value_range": (0, 10**400)}, "two numbers"),
                                      (array, {"dtype": "f4", "scale": array[0, 0]}, "scale takes"), (array, {"dtype": "f4", "mean": 10**400}, "too large"),
                                      (array.astype(">f4"), {}, "newbyteorder"), (Strided(array.astype("f4")), {}, "strides"),
                                      (numpy.moveaxis(array, -1, 0), {}, "permute"),
                                      (ramp(), {"value_range": (0, 1)}, "for arrays of floats")):
            with self.assertRaisesRegex(ValueError, words):
                gf.run("blur", wrong, **options)

    @needs_numpy
    def test_floats_that_stay_floats(self):
        array = numpy.linspace(-1, 5, 40 * 60 * 3, dtype="f4").reshape(40, 60, 3)
        array[3, 4], array[5, 6, 1] = float("inf"), float("nan")
        for kind in ["f2", "f4", "f8"] + ([ml_dtypes.bfloat16] if ml_dtypes else []):
            given = array.astype(kind)
            for view in (given, given[:, :, 0], given[:, :, :1], given[::2, ::-1], given.transpose(1, 0, 2)):
                result = gf.run("invert", view, value_range="float")
                self.assertEqual((result.dtype, result.shape), (view.dtype, view.shape))
                numpy.testing.assert_array_equal(result.astype("f4"), (1 - view.astype("f4")).astype(kind).astype("f4"))
        self.assertEqual(gf.run("blur", numpy.stack([array] * 2), value_range="float").shape, (2, 40, 60, 3))
        self.assertEqual(gf.blur(array, 2, value_range="float").dtype, numpy.float32)
        self.assertEqual(gf.run("integer", array, value_range="float").dtype, numpy.uint16)
        planes = gf.run("", array, value_range="float", dtype="float16", layout="NCHW")
        numpy.testing.assert_array_equal(planes, numpy.moveaxis(array, -1, 0).astype("f2"))
        self.assertEqual(gf.run("float", numpy.zeros((4, 4), "u1")).dtype, numpy.float32)
        for chain, kind, view in (("", "f4", "f"), ("float=16", "f2", "H")):
            image = gf.decode(gf.encode(array, "pfm", value_range="float"), chain)
            self.assertEqual((image.dtype, image.view().format), (numpy.dtype(kind).name, view))
            for given in (image, pickle.loads(pickle.dumps(image)), gf.run("", image)):
                numpy.testing.assert_array_equal(numpy.asarray(given), array.astype(kind))
            numpy.testing.assert_array_equal(numpy.from_dlpack(image), array.astype(kind))
            numpy.testing.assert_array_equal(image[3:6], array.astype(kind)[3:6])
        for wrong, value_range, words in ((array, "floats", "two numbers"), (ramp(), "float", "for arrays of floats"), (array.astype(">f4"), "float", "byte order")):
            with self.assertRaisesRegex(ValueError, words):
                gf.run("blur", wrong, value_range=value_range)

    @unittest.skipUnless(torch, "there is no torch")
    def test_tensors_of_floats(self):
        bytes_of = torch.frombuffer(bytearray(ramp()), dtype=torch.uint8).reshape(40, 60, 3)
        for kind in (torch.float16, torch.bfloat16, torch.float32):
            tensor = (bytes_of.double() / 255).to(kind)
            self.assertTrue(torch.equal(gf.run("", tensor[:, ::2]), tensor[:, ::2]) or kind == torch.float16)
            self.assertEqual(gf.run("blur", tensor).dtype, kind)
            self.assertTrue(torch.equal(gf.run("invert", tensor * 4, value_range="float"), (1 - (tensor * 4).float()).to(kind)))
            made = gf.decode([ppm()] * 2, dtype=kind, layout="NCHW", mean=0.5, std=0.25)
            expected = (bytes_of.permute(2, 0, 1).float() / 255 - 0.5) / 0.25
            self.assertTrue(torch.equal(made[1], expected.to(kind)))
        with self.assertRaisesRegex(gf.UsageError, "detach"):
            gf.run("blur", tensor.requires_grad_())

    @needs_numpy
    def test_types_of_numbers(self):
        array = numpy.frombuffer(ramp(), numpy.uint8).reshape(40, 60, 3)
        for kind in ("float16", "f2", numpy.float16, numpy.dtype("f2"), "half"):
            numbers = gf.run("", array, dtype=kind, scale=255, mean=(1, 2, 3))
            numpy.testing.assert_array_equal(numbers, (array.astype("f4") - numpy.float32([1, 2, 3])).astype("f2"))
        numpy.testing.assert_array_equal(gf.decode([ppm()] * 2, dtype="uint8", layout="NCHW")[1], numpy.moveaxis(array, -1, 0))
        with self.assertRaisesRegex(gf.UsageError, "none of float32, float16, bfloat16, uint8"):
            gf.run("", array, dtype="int32")

    def test_an_image(self):
        image = gf.decode(ppm())
        self.assertEqual((image.size, image.width, image.height, image.format, image.dtype, image.shape),
                         ((60, 40), 60, 40, "RGB", "uint8", (40, 60, 3)))
        self.assertEqual((gf.decode(b"P5 1 1 255\n0").format, gf.run("round=5", image).format), ("gray", "RGBA"))
        self.assertEqual(gf.decode(image._repr_png_()).tobytes(), image.tobytes())
        self.assertEqual((image.icc, image.exif), (None, None))
        if numpy:
            self.assertEqual(image[3, 4, 1], ramp()[(3 * 60 + 4) * 3 + 1])
            self.assertEqual(image[::2, 5].shape, (20, 3))
        with self.assertRaisesRegex(AttributeError, r"gf.resize\(image, ...\)"):
            image.resize((3, 3))
        self.assertFalse(hasattr(image, "no_such_attribute"))
        with tempfile.TemporaryDirectory() as folder:
            for name in (f"{folder}/a.JPG", os.fsencode(f"{folder}/b.png"), pathlib.Path(folder, "c.qoi")):
                image.save(name)
                self.assertEqual(gf.open(name).shape, image.shape)
            self.assertEqual(sorted(os.listdir(folder)), ["a.JPG", "b.png", "c.qoi"])
            with self.assertRaisesRegex(gf.UsageError, "format= is one of png"):
                image.save(f"{folder}/a.xyz")
            found = gf.info(pathlib.Path(folder, "a.JPG"))
            self.assertEqual((found["format"], found["width"], len(gf.info(folder))), ("JPEG", 60, 3))
            self.assertTrue(gf.compare(image, f"{folder}/b.png")["equal"])
            self.assertGreater(gf.compare(gf.invert(image), image)["largest"], 0.5)
            self.assertEqual(gf.compare(image, image, ["mean", "psnr"]), {"mean": 0, "psnr": None, "equal": True})
            self.assertEqual(gf.compare(image, image, "deltae2000,psnr-hvs-m"), {"deltae2000": 0, "psnr_hvs_m": None, "equal": True})
            with self.assertRaisesRegex(gf.Error, "'vmaf' is none of"):
                gf.compare(image, image, measures="vmaf")
            with self.assertRaisesRegex(TypeError, "measures takes a name or a list"):
                gf.compare(image, image, measures=5)
            gf.save(image, f"{folder}/film.png")
            for a, b, file in ((f"{folder}/film.png[all]", f"{folder}/b.png", f"{folder}/b.png[0]"), (folder, folder, f"{folder}/a.JPG")):
                rows = gf.compare(a, b, "psnr")
                self.assertEqual((rows[0]["file"], rows[0]["equal"], rows[-1]["pairs"]), (file, True, len(rows) - 1))
            for a, b, words in ((f"{folder}/none.png", image, "none.png: No such"), (f"{folder}/b.png", gf.resize(image, 9, 9), "b.png is 60x40 .* b is 9x9")):
                with self.assertRaisesRegex(gf.Error, words):
                    gf.compare(a, b)
            pathlib.Path(folder, "x.pfm").write_bytes(b"Pf\n2 1\n-1\n" + struct.pack("<2f", 2, -1))
            with self.assertWarnsRegex(gf.PictureWarning, "^" + re.escape(folder) + "/x.pfm: 2 samples were NaN or outside"):
                gf.compare(f"{folder}/x.pfm", f"{folder}/x.pfm")
            os.mkfifo(f"{folder}/pipe")
            reader = os.open(f"{folder}/pipe", os.O_RDONLY | os.O_NONBLOCK)
            image.save(f"{folder}/pipe", "pnm")
            self.assertEqual(os.read(reader, 9000), gf.encode(image, "pnm"))
            os.close(reader)
            with self.assertRaisesRegex(gf.TryAgainError, "none/a.png: No such file"):
                image.save(f"{folder}/none/a.png")
            with self.assertRaises(gf.Error):
                gf.info(f"{folder}/none.png")

    def test_metadata(self):
        exif = b"II*\0\x08\0\0\0\x01\0\x0f\x01\x02\0\x04\0\0\0Abc\0\0\0\0\0"
        jpeg = gf.encode(gf.decode(ppm()), "jpeg")
        marked = gf.decode(jpeg[:2] + b"\xff\xe1" + (len(exif) + 8).to_bytes(2, "big") + b"Exif\0\0" + exif + jpeg[2:])
        self.assertIn(b"Abc", marked.exif)
        for options, kept in (({}, True), ({"strip": True}, False), ({"strip": "exif"}, False), ({"strip": ["gps"]}, True),
                              ({"keep": "icc"}, False), ({"keep": ["exif"]}, True)):
            self.assertEqual(bool(gf.decode(gf.encode(marked, "jpeg", **options)).exif), kept, options)

    @needs_numpy
    def test_pictures_as_files(self):
        image = gf.decode(ppm())
        array = numpy.asarray(image)
        numpy.testing.assert_array_equal(gf.overlay(array, array), array)
        numpy.testing.assert_array_equal(gf.overlay(image, gf.invert(image))[:], 255 - array)
        half = numpy.zeros((40, 60), bool)
        half[:20] = True
        numpy.testing.assert_array_equal(gf.invert(image, region=half)[:], numpy.where(half[..., None], 255 - array, array))
        self.assertEqual(gf.mask(image, half)[:, :, 3].tolist(), (half * 255).tolist())
        curve = numpy.arange(256, dtype="u1")
        numpy.testing.assert_array_equal(gf.lut(image, 255 - curve)[:], 255 - array)
        cube = numpy.stack(numpy.meshgrid(*[numpy.linspace(0, 1, 5)] * 3, indexing="ij"), -1)
        numpy.testing.assert_array_equal(gf.lut(image, cube * [0, 1, 1])[:], array * numpy.uint8([0, 1, 1]))
        for table, words in ((array, r"\(N, N, N, 3\)"), (curve.astype("i8"), "not int64"), (image, "an array of numbers")):
            with self.assertRaisesRegex(gf.UsageError, words):
                gf.lut(image, table)

    @needs_numpy
    def test_files_in_memory(self):
        """They last as long as the calls that are about to open them; a process leaves none behind, however it ends."""
        files = [_files.file_of(numpy.full((1, 1), each, "u1")) for each in range(2 * _files._MOST)]
        self.assertEqual([gf.open(file)[0, 0] for file in files], list(range(len(files))))
        self.assertIs(_files.file_of(numpy.full((1, 1), len(files) - 1, "u1")), files[-1])
        self.assertEqual(len(_files._kept), _files._MOST)
        number, name = len(os.listdir("/proc/self/fd")), os.fspath(files[0])
        del files
        self.assertEqual(len(os.listdir("/proc/self/fd")), number - _files._MOST)
        self.assertFalse(os.path.exists(name))
        array = numpy.full((9, 9), 7, "u1")
        with mock.patch.object(_files, "_MOST", 0):
            self.assertEqual(gf.overlay(array, array + 1)[0, 0], 8)
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, "-c", "import os, numpy, gpufilter as gf\ngf.overlay(*[numpy.zeros((2, 2), 'u1')] * 2)\nos._exit(0)"],
                           env={**os.environ, "TMPDIR": folder}, check=True)
            self.assertEqual(os.listdir(folder), [])

    def test_wrong_types(self):
        image = gf.decode(ppm())
        for call, words in ((lambda: gf.open(3.5), "a name as str"), (lambda: gf.encode(image, "jpeg", quality="high"), "an integer"),
                            (lambda: gf.overlay(image, 3), "an Image or an array"), (lambda: gf.batch(7, "x"), "a list of names"),
                            (lambda: gf.blur("photo.jpg"), r"gf.open\(\) reads files"), (lambda: gf.encode(image, 7), "one of auto, png"),
                            (lambda: gf.resize(image, (9, 9)), "one number"), (lambda: gf.encode(image, keep=1.5), "keep|kept takes")):
            with self.assertRaisesRegex(TypeError, words):
                call()
        self.assertEqual(gf.encode(image, "jpeg", subsampling=444), gf.encode(image, "jpeg", subsampling="444"))

    def test_control_c(self):
        """Also of calls that cannot be ended, which go on in a thread of their own."""
        large = gf.run("resize=3000:2000", gf.decode(ppm()))
        for call in (lambda: gf.nlmeans(large, search=10), lambda: gf.encode(large, "png", png_level=9), lambda: gf.decode(Slow()),
                     lambda: gf.encode([large] * 9, "jpeg"), lambda: gf.compare(large, large)):
            at = []
            timer = threading.Timer(0.05, lambda: (at.append(time.monotonic()), os.kill(os.getpid(), signal.SIGINT)))
            timer.start()
            timer_end = time.monotonic() + 20
            with self.assertRaises(KeyboardInterrupt):
                while time.monotonic() < timer_end:
                    call()
            self.assertLess(time.monotonic() - at[0], 1)  # 0.1 on a machine that does nothing else
            timer.join()
        self.assertEqual(gf.blur(large).size, (3000, 2000))

    def test_a_handler_that_raises(self):
        """Also an exception that a call could raise itself, and of lists."""
        def late(*_):
            raise ValueError("late")

        before = signal.signal(signal.SIGALRM, late)
        try:
            begin = time.monotonic()
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            with self.assertRaisesRegex(ValueError, "late"):
                gf.decode([Slow(), Slow()], workers=2)
            self.assertLess(time.monotonic() - begin, 1.5)
        finally:
            signal.signal(signal.SIGALRM, before)

    def test_names_of_types(self):
        for given, name in (("<f4", "float32"), ("single", "float32"), ("uint8", "uint8"), (float, "float64")):
            self.assertEqual(_pictures.type_name(given), name)


if __name__ == "__main__":
    main(Habits)
