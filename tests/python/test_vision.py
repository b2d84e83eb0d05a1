"""gpufilter.vision against the image processors of transformers that work by Pillow, and by checksums. Prints TAP.

Compared bit by bit, on 2026-11-30: transformers 5.24.0 (backend="pil") and 4.57.6 (the slow ones) with Pillow 12.3.0. Older ones,
5.17.0 among them, drop transparency without a look at it; transparent pictures are left out there. Pillow 13 scales the height first
where that shrinks more than the width; pictures for which it does are left out there.
"""

import functools
import importlib
import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest
import warnings
import zlib

import gpufilter as gf
from gpufilter import vision
from support import main, optional

Image, numpy, torch = optional("PIL.Image"), optional("numpy"), optional("torch")
transformers = optional("transformers") if Image and numpy else None
SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "samples", "python")
RAW = {"dtype": "uint8", "mean": None, "std": None}
#: (width, height, channels)
SIZES = ((301, 203, 3), (97, 411, 3), (180, 60, 3), (33, 29, 3), (411, 57, 3), (123, 77, 1), (99, 123, 4), (28, 28, 3))
KINDS = {1: "L", 3: "RGB", 4: "RGBA"}
CHECKSUMS = {"qwen2_vl": 212057434, "qwen2_vl merge=1": 3536118309, "clip": 1986035706, "clip crop=31": 923095356,
             "siglip": 2091528608, "llava": 1848881286, "llava_next": 1865482685}


def _sizes(size, crop):
    return {"size": {"shortest_edge": size}, "crop_size": {"height": crop, "width": crop}}


POINTS = [[112, 56], [56, 168], [112, 112]]
#: Names of functions, what their processors are given, and what they are.
BESIDE = (
    # The limits are named: those of one processor became the next one's defaults in transformers 5.17.
    ("qwen2_vl", {"min_pixels": 56 * 56, "max_pixels": 28 * 28 * 1280}, {}),
    ("qwen2_vl", {"min_pixels": 20000, "max_pixels": 40000}, {"min_pixels": 20000, "max_pixels": 40000}),
    ("clip", {}, {}), ("clip", _sizes(50, 61), {"size": 50, "crop": 61}),
    ("clip", {**_sizes(50, 37), "resample": 2}, {"size": 50, "crop": 37, "resample": "bilinear"}),
    ("siglip", {"do_convert_rgb": True}, {}), ("llava", {"do_pad": True, **_sizes(336, 336)}, {}), ("llava_next", _sizes(336, 336), {}),
    ("llava_next", {**_sizes(56, 56), "image_grid_pinpoints": POINTS}, {"size": 56, "pinpoints": POINTS}))
TITLES = {"qwen2_vl": "Qwen2VL", "clip": "CLIP", "siglip": "Siglip", "llava": "Llava", "llava_next": "LlavaNext"}


def picture(width, height, channels):
    """Returns an Image with soft shapes and some noise."""
    few, kind = random.Random(width * height), {1: b"P5", 3: b"P6"}.get(channels)
    columns, rows = width // 7 + 2, height // 7 + 2
    head = b"%s %d %d 255\n" % (kind, columns, rows) if kind else (
        b"P7\nWIDTH %d\nHEIGHT %d\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n" % (columns, rows))
    return gf.decode(head + few.randbytes(columns * rows * channels), f"resize={width}:{height}:linear:like=pillow", device="cpu")


def bytes_of(numbers):
    return memoryview(numbers).tobytes()


def drops_alpha():
    """Returns whether this transformers makes transparent pictures RGB by dropping their alpha."""
    convert = importlib.import_module("transformers.image_transforms").convert_to_rgb
    return convert(Image.new("RGBA", (1, 1))).getpixel((0, 0)) == (0, 0, 0)


def processor(model, name):
    """Returns an image processor that works by Pillow."""
    package, version = f"transformers.models.{model}.image_processing_", int(transformers.__version__.split(".")[0])
    if version >= 5:
        return getattr(importlib.import_module(f"{package}pil_{model}"), f"{name}ImageProcessorPil")
    return getattr(importlib.import_module(package + model), f"{name}ImageProcessor")


class Vision(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pictures = [picture(*size) for size in SIZES]

    def made(self, **form):
        """Returns what each function makes of the pictures."""
        few = self.pictures[:7]
        return {"qwen2_vl": vision.qwen2_vl(few, device="cpu", **form)[0],
                "qwen2_vl merge=1": vision.qwen2_vl(few, min_pixels=5000, max_pixels=20000, patch=16, merge=1, temporal=1, device="cpu", **form)[0],
                "clip": vision.clip(few, 56, device="cpu", **form), "clip crop=31": vision.clip(few, 24, 31, device="cpu", **form),
                "siglip": vision.siglip(few, (48, 64), device="cpu", **form), "llava": vision.llava(few, 56, device="cpu", **form),
                "llava_next": vision.llava_next(few, 28, ((56, 56), (28, 84), (56, 28)), device="cpu", **form)[0]}

    def test_vision_by_checksums(self):
        sums = {name: zlib.crc32(bytes_of(numbers)) for name, numbers in self.made(**RAW).items()}
        self.assertEqual(sums, CHECKSUMS)

    def test_vision_numbers(self):
        raw, floats, halves = self.made(**RAW), self.made(), self.made(dtype="float16")
        for name in raw:
            single = struct.unpack(f"={len(bytes_of(raw[name]))}f", bytes_of(floats[name]))
            self.assertEqual(struct.pack(f"={len(single)}e", *single), bytes_of(halves[name]), name)
        rows, grid = vision.patches(self.pictures[7], **RAW)
        samples = self.pictures[7].tobytes()
        expected = bytes(samples[((part // 2 * 14 + y) * 28 + part % 2 * 14 + x) * 3 + c] for part in range(4) for c in range(3)
                         for _ in range(2) for y in range(14) for x in range(14))
        self.assertEqual((bytes_of(rows), [list(each) for each in grid]), (expected, [[1, 2, 2]]))

    def test_smart_resize(self):
        for size, expected in (((203, 301), (196, 308)), ((28, 28), (56, 56)), ((14, 28), (56, 84)), ((4000, 6000), (812, 1204)),
                               ((42, 70), (56, 56)), ((10, 2000), (28, 812))):
            self.assertEqual(vision.smart_resize(*size), expected)
        for wrong in ((1, 201), (0, 5), (5, 5, 0)):
            with self.assertRaisesRegex(gf.UsageError, "^smart_resize: "):
                vision.smart_resize(*wrong)

    def test_vision_mistakes(self):
        long = gf.decode(b"P5 201 1 255\n" + bytes(201))
        for wrong, words in ((lambda: vision.qwen2_vl([self.pictures[0], long]), r"^\[1\]: smart_resize: of 1x201 pixels"),
                             (lambda: vision.patches(self.pictures[0]), "301x203 pixels are no multiples of patch=14 x merge=2"),
                             (lambda: vision.patches(self.pictures[7], patch=0), "patch=0"),
                             (lambda: vision.clip(self.pictures[0], resample="area"), "resample='area' is none of lanczos, bicubic"),
                             (lambda: vision.siglip([]), "no pictures"),
                             (lambda: vision.llava_next([], 25), "in multiples of size=25"),
                             (lambda: vision.llava_next([], 28, [(28,)]), r"pinpoints=\[\(28,\)\] are no .height, width. in multiples of size=28"),
                             (lambda: vision.siglip(self.pictures, dtype="int8"), "dtype='int8'"),
                             (lambda: vision.llava(self.pictures, dtype="uint8"), "bytes have no scale")):
            with self.assertRaisesRegex((gf.UsageError, gf.InputError), words):
                wrong()

    def compare(self, name, ours, theirs):
        ours, theirs = numpy.asarray(ours), numpy.asarray(theirs)
        self.assertEqual(ours.shape, theirs.shape, name)
        wrong = numpy.count_nonzero(ours.astype(numpy.float32) != theirs.astype(numpy.float32))
        self.assertEqual(wrong, 0, f"{name}: {wrong} of {ours.size} numbers differ from transformers {transformers.__version__} "
                                   f"with Pillow {Image.__version__}")

    def both(self, name, theirs):
        """Yields lists of pictures, and the processor's samples and numbers for each. `theirs` are its settings."""
        images = [Image.frombytes(KINDS[size[2]], size[:2], picture.tobytes()) for size, picture in zip(SIZES, self.pictures)]
        rule = lambda width, height: True
        if int(Image.__version__.split(".")[0]) >= 13:
            rule = {"qwen2_vl": lambda width, height: numpy.divide(*vision.smart_resize(height, width)) >= height / width,
                    "llava": rule}.get(name, lambda width, height: width >= height)
        old = int(transformers.__version__.split(".")[0]) < 5  # takes no gray arrays
        images = [image for image in images if rule(*image.size) and not (image.mode == "RGBA" and drops_alpha())]
        self.assertGreater(len(images), 3)
        its = processor(name, TITLES[name])(**theirs)
        for given in [images] + [[image] for image in images] + ([] if old else [[numpy.asarray(image) for image in images]]):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield given, *(its(images if len(given) > 1 else given, return_tensors="np", **only) for only in (
                    {"do_normalize": False, "do_rescale": False}, {}))

    def numbers(self, name, made, its):
        """Returns the numbers of a function and of its processor, which pads LLaVA-NeXT's tiles."""
        theirs = numpy.asarray(its["pixel_values"])
        if name == "qwen2_vl":
            self.assertEqual(made[1].tolist(), its["image_grid_thw"].tolist())
        if name == "llava_next":
            self.assertEqual(max(made[1]), theirs.shape[1])
            theirs = numpy.concatenate([tiles[:count] for tiles, count in zip(theirs, made[1])])
        return made[0] if isinstance(made, tuple) else made, theirs

    @unittest.skipUnless(transformers, "there is no transformers with numpy and Pillow")
    def test_vision_beside_transformers(self):
        for name, theirs, settings in BESIDE:
            for given, bare, full in self.both(name, theirs):
                function = functools.partial(getattr(vision, name), given, device="cpu", **settings)
                self.compare(name, *self.numbers(name, function(**RAW), bare))
                self.compare(name, *self.numbers(name, function(), full))
                ours, single = self.numbers(name, function(dtype="float16"), full)
                self.compare(name, ours, single.astype(numpy.float16))

    @unittest.skipUnless(transformers and torch, "there is no transformers with numpy, Pillow and torch")
    def test_halves_beside_transformers(self):
        for name, theirs, settings in BESIDE:
            given, _, full = next(self.both(name, theirs))
            tensors = [torch.from_numpy(numpy.array(image)) for image in given]
            for dtype in (torch.float16, torch.bfloat16):
                made = getattr(vision, name)(tensors, device="cpu", dtype=dtype, **settings)
                ours, theirs_full = self.numbers(name, made, full)
                nearest = torch.from_numpy(theirs_full).to(dtype)
                self.assertEqual((ours.dtype, ours.shape), (dtype, nearest.shape), name)
                wrong = torch.count_nonzero(ours.view(torch.int16) != nearest.view(torch.int16))
                self.assertEqual(wrong, 0, f"{name}: {wrong} of {ours.numel()} numbers of {dtype} aren't the nearest")

    @unittest.skipUnless(numpy, "there is no numpy")
    def test_pinpoints_of_numpy(self):
        tiles, counts = vision.llava_next(self.pictures[0], 56, numpy.array(POINTS), device="cpu")
        self.assertEqual((bytes_of(tiles), counts), (bytes_of(vision.llava_next(self.pictures[0], 56, POINTS, device="cpu")[0]), [len(tiles)]))

    @unittest.skipUnless(transformers, "there is no transformers with numpy and Pillow")
    def test_palettes_beside_transformers(self):
        its = processor("clip", "CLIP")()
        for clear in (False,) if drops_alpha() else (False, True):
            image = Image.frombytes("RGB", (301, 203), self.pictures[0].tobytes()).quantize(50)
            if clear:
                image.info["transparency"] = 7
            bare = its(image, do_normalize=False, do_rescale=False, return_tensors="np")
            self.compare(f"palette, {clear}", vision.clip(image, device="cpu", **RAW), bare["pixel_values"])

    @unittest.skipUnless(transformers, "there is no transformers with numpy and Pillow")
    def test_image_processor_of_samples(self):
        sys.path.insert(0, SAMPLES)
        import image_processor
        files = [gf.encode(picture, "png") for picture in self.pictures]
        with tempfile.TemporaryDirectory() as folder:
            image_processor.GpufilterImageProcessor(max_pixels=20000, patch_size=16).save_pretrained(folder)
            made = image_processor.GpufilterImageProcessor.from_pretrained(folder, dtype="float16")
            rows, grid = vision.qwen2_vl(self.pictures, max_pixels=20000, patch=16, dtype="float16")
            for images in (files, [files[:2], *self.pictures[2:]]):
                got = made(images, return_tensors="np")
                self.assertEqual((bytes_of(got["pixel_values"]), got["image_grid_thw"].tolist()), (bytes_of(rows), grid.tolist()))
            counts = [made.get_number_of_image_patches(height, width) for width, height, _ in SIZES]
            self.assertEqual(counts, [rows * columns for _, rows, columns in grid.tolist()])
            path = os.path.join(folder, "a.png")
            with open(path, "wb") as file:
                file.write(files[0])
            said = subprocess.run([sys.executable, os.path.join(SAMPLES, "image_processor.py"), path], stdout=subprocess.PIPE, check=True)
            self.assertEqual(said.stdout.decode(), f"{path}: 14 x 22 patches\n")

    @unittest.skipUnless(transformers, "there is no transformers with numpy and Pillow")
    def test_smart_resize_beside_transformers(self):
        theirs = importlib.import_module(processor("qwen2_vl", "Qwen2VL").__module__).smart_resize
        for case in range(2000):
            rand = random.Random(case)
            height = rand.randrange(14, 5000)
            width = min(max(int(height * 2 ** rand.uniform(-7, 7)), 14), 5000)
            if max(height, width) / min(height, width) <= 200:
                arguments = height, width, rand.choice((28, 32, 14)), rand.choice((3136, 4 * 28 * 28)), rand.choice((28 * 28 * 1280, 10**5))
                self.assertEqual(vision.smart_resize(*arguments), theirs(*arguments), arguments)

    @unittest.skipUnless(torch and torch.cuda.is_available(), "there is no torch with a GPU")
    def test_vision_on_a_device(self):
        here = [torch.from_dlpack(picture) for picture in self.pictures]
        there = [tensor.cuda() for tensor in here]
        for function in (vision.clip, vision.siglip, vision.llava, lambda pictures: vision.qwen2_vl(pictures, dtype="bfloat16")[0]):
            self.assertTrue(torch.equal(function(there).cpu(), function(here)))


if __name__ == "__main__":
    main(Vision)
