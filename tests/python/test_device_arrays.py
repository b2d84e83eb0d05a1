#!/usr/bin/env python3
"""Arrays in a device's memory, without a device: the arrays of a package that looks like cupy lie in the host's memory, and the
library's functions for devices are replaced by one that filters there."""

import contextlib
import ctypes
import math
import struct
import sys
import types
import unittest

import gpufilter as gf
from gpufilter import _abi, _batches, _device, _dlpack
from gpufilter._library import lib
from support import main, ppm, ramp


FORMATS = {"float16": "e", "float32": "f", "float64": "d"}


class Device(contextlib.nullcontext):
    id = 0


class Array:
    """Bytes with a shape and strides, as far as the module asks for them."""

    __module__ = "cupy"
    device = Device()

    def __init__(self, block, shape, strides=None, offset=0, dtype="uint8"):
        self.block, self.shape, self.offset, self.dtype = block, tuple(shape), offset, dtype
        self.size = {"uint8": 1, "float32": 4, "float64": 8}.get(dtype, 2)
        self.strides = strides or tuple(self.size * math.prod(shape[axis + 1:]) for axis in range(len(shape)))
        self.data = types.SimpleNamespace(ptr=ctypes.addressof(block) + offset)
        self.nbytes = self.size * math.prod(shape)

    @property
    def __cuda_array_interface__(self):
        return {"shape": self.shape, "strides": self.strides, "typestr": f"={self.dtype[0]}{self.size}", "data": (self.data.ptr, False), "version": 3}

    def __len__(self):
        return self.shape[0]

    def part(self, shape, strides, offset=0):
        return Array(self.block, shape, strides, self.offset + offset, self.dtype)

    def __getitem__(self, key):
        if key == (..., 0):
            return self.part(self.shape[:-1], self.strides[:-1])
        if isinstance(key, slice):
            first, end, step = key.indices(len(self))
            return self.part((len(range(first, end, step)),) + self.shape[1:], (self.strides[0] * step,) + self.strides[1:], first * self.strides[0])
        if key >= len(self):
            raise IndexError
        return self.part(self.shape[1:], self.strides[1:], key % len(self) * self.strides[0])

    def tobytes(self):
        return b"".join(each.tobytes() for each in self) if self.shape else self.block[self.offset:self.offset + self.size]

    def copy(self, order="C"):
        return array_of(self.tobytes(), self.shape, self.dtype)


def numbers_of(floats):
    return struct.unpack(f"={math.prod(floats.shape)}{FORMATS[floats.dtype]}", floats.tobytes())


def array_of(data, shape, dtype="uint8"):
    return Array(ctypes.create_string_buffer(bytes(data), len(data)), shape, dtype=dtype)


class Cupy(types.ModuleType):
    ndarray = Array
    cuda = types.SimpleNamespace(Device=contextlib.nullcontext,
                                 get_current_stream=lambda: types.SimpleNamespace(ptr=0))
    empty = staticmethod(lambda shape, kind: array_of(bytes(8 * math.prod(shape)), shape, kind))

    @staticmethod
    def ascontiguousarray(array, kind):
        return array_of(struct.pack(f"={math.prod(array.shape)}{FORMATS[kind]}", *numbers_of(array)), array.shape, kind)

    @staticmethod
    def stack(arrays):
        if len({getattr(each, "shape", None) for each in arrays}) > 1:
            raise ValueError("these are no arrays of one shape")
        return array_of(b"".join(each.tobytes() for each in arrays), (len(arrays),) + arrays[0].shape, arrays[0].dtype)


def picture(number, height=20, width=30, channels=3):
    return array_of(bytes((sample + 40 * number) % 256 for sample in ramp(height, width, channels)),
                    (height, width, channels) if channels > 1 else (height, width))


class Arrays(unittest.TestCase):
    def setUp(self):
        self.batches = []

        def run_batch(pipeline, sources, results, count, stream, failure):
            self.batches.append(count)
            size = ctypes.sizeof(_abi.gf_image)
            return max(run(pipeline, sources + i * size, results + i * size, stream, failure) for i in range(count))

        def run(pipeline, source, result, stream, failure):
            return lib.gf_pipeline_run_image(*(ctypes.cast(address, ctypes.POINTER(kind)) for address, kind in (
                (pipeline, _abi.gf_pipeline), (source, _abi.gf_image), (result, _abi.gf_image), (failure, _abi.gf_error))))

        for name, value in (("_run", run), ("_run_batch", run_batch)):
            self.addCleanup(setattr, _device, name, getattr(_device, name))
            setattr(_device, name, value)
        self.pipeline = gf.Pipeline("resize=50%,blur=1", device="cpu")

    def expected(self, pixels):
        image = self.pipeline.run(memoryview(pixels.tobytes()).cast("B", pixels.shape))
        return image.tobytes(), image.shape

    def check(self, result, pixels):
        self.assertEqual((result.tobytes(), result.shape), self.expected(pixels))

    def check_list(self, pictures):
        results = self.pipeline.run(pictures)
        self.assertEqual(len(results), len(pictures))
        for result, pixels in zip(results, pictures):
            self.check(result, pixels)

    def test_one(self):
        for pixels in (picture(1), picture(2, channels=1), picture(3)[::2], picture(4)[::-1], picture(5, 21, 33, 4)):
            for _ in range(2):
                self.check(self.pipeline.run(pixels), pixels)
        self.assertEqual(self.batches, [])

    def test_lists(self):
        for pictures in ([picture(i) for i in range(5)], (picture(1), picture(2, 10)), [picture(3, channels=1)],
                         [picture(1), picture(2, channels=1)], [picture(i, 400, 900) for i in range(2)],
                         [picture(i, 800, 1800) for i in range(2)]):
            self.check_list(pictures)
        self.assertEqual(self.batches, [5, 2])
        self.assertEqual(self.pipeline.run([]), [])

    def test_results_that_are_kept(self):
        """Their memory is other memory each time, more often than places of results are kept."""
        pictures, kept = [picture(i) for i in range(3)], []
        for _ in range(2 * _device._LINES):
            kept.append(self.pipeline.run(pictures))
        for results in kept:
            for result, pixels in zip(results, pictures):
                self.check(result, pixels)

    def test_lists_in_shared_launches(self):
        """Of other pictures each time, of rows that lie apart, and of those that the library cannot read."""
        for first in 0, 7:
            self.check_list([picture(first + i) for i in range(3)])
            self.check_list([picture(first + i, channels=1) for i in range(4)])
            self.check_list([picture(first + i)[::2] for i in range(5)])
            self.check_list([Array(picture(first + i).block, (20, 30, 3), (30, 1, 600)) for i in range(6)])
        self.assertEqual(self.batches, 2 * [3, 4, 5, 6])
        self.check_list([picture(1), Array(picture(2).block, (20, 30, 3), (30, 1, 600))])
        self.assertEqual(len(self.batches), 8)

    def test_arrays_of_pictures(self):
        whole = Cupy.stack([picture(i) for i in range(6)])
        for pixels in (whole, whole[::2], whole[::-1], whole[2:3]):
            for _ in range(2):
                results = self.pipeline.run(pixels)
                self.assertEqual(results.shape, (len(pixels), 10, 15, 3))
                for result, each in zip(results, pixels):
                    self.check(result, each)
        same = Array(whole.block, (4, 20, 30, 3), (0, 90, 3, 1))
        self.assertEqual(self.pipeline.run(same).tobytes(), 4 * self.expected(whole[0])[0])
        self.assertEqual(set(self.batches), {6, 3, 1, 4})

    def test_pictures_of_the_library(self):
        counts, freed = [], []

        def filter_batch(pipeline, count, inputs, outputs, stream, failure):
            counts.append(count)
            return max(lib.gf_pipeline_run_image(pipeline, ctypes.byref(inputs[i]), ctypes.byref(outputs[i]), failure) for i in range(count))

        def free_images(pipeline, images, count):
            for image in images:
                freed.append(image.data)
                lib.gf_image_free(ctypes.byref(image))

        for name, value in (("gf_filter_batch", filter_batch), ("gf_pipeline_free_images", free_images)):
            self.addCleanup(setattr, lib, name, getattr(lib, name))
            setattr(lib, name, value)
        hosts = [gf.decode(ppm(20 + number, 30)) for number in range(3)]
        there = [gf.DeviceImage(None, host._image, 0) for host in hosts]
        expected = [self.pipeline.run(host) for host in hosts]
        one, several = self.pipeline.run(there[0]), self.pipeline.run(there)
        chained = gf.run("invert", several[1], device="cpu")
        for result, host in ((one, expected[0]), *zip(several, expected), (chained, gf.run("invert", expected[1]))):
            self.assertIs(type(result), gf.DeviceImage)
            data = ctypes.string_at(result._image.data, result._image.pitch * result._image.format.height)
            self.assertEqual((result.shape, data), (host.shape, host.tobytes()))
        self.assertEqual(counts, [1, 3, 1])
        for call in (lambda: self.pipeline.run([there[0], picture(1)]), lambda: self.pipeline.run([picture(1), there[0]]),
                     lambda: self.pipeline.run(there, dtype="float32", mean="x"), lambda: gf.run("trim=x", there[0], device="cpu")):
            with self.assertRaises(gf.UsageError):
                call()
        del one, several, chained, result
        self.assertEqual(len(freed), len(set(freed)))
        self.assertGreaterEqual(len(freed), 5)

    def convert_on_host(self):
        """Replaces the functions that convert numbers in a device's memory by those of the host."""
        def from_numbers(pipeline, values, kind, black, white, image, stream, failure):
            return lib.gf_image_from_numbers(values, kind, black, white, image, failure)

        def to_numbers(pipeline, count, images, form, values, stream, failure):
            self.conversions.append(count)
            size = 4 if form.type == _abi.ENUMS["gf_number"]["GF_NUMBER_FLOAT32"] else 2
            for i, image in enumerate(images):
                place = values + i * size * image.format.width * image.format.height * image.format.channels
                self.assertEqual(lib.gf_image_to_numbers(ctypes.byref(image), form, place, failure), 0)
            return 0

        self.conversions = []
        for name, value in (("gf_pipeline_from_numbers", from_numbers), ("gf_pipeline_to_numbers", to_numbers)):
            self.addCleanup(setattr, lib, name, getattr(lib, name))
            setattr(lib, name, value)

    def test_floats(self):
        """They become samples, and come back, by functions that do so in the host's memory."""
        self.convert_on_host()
        for kind, format in FORMATS.items():
            for shape in ((20, 30), (20, 30, 1), (20, 30, 3), (3, 20, 30, 3)):
                single = len(shape) < 4
                parts = [sample / 200 - 0.125 for sample in ramp(math.prod(shape), 1, 1)]
                pixels = array_of(struct.pack(f"={len(parts)}{format}", *parts), shape, kind)
                for given in (pixels, pixels[::-1]):
                    result = self.pipeline.run(given, value_range=(-0.125, 1.25))
                    self.assertEqual((result.dtype, result.shape), (kind, shape[:-3] + (10, 15) + shape[3 - single:] if len(shape) > 2 else (10, 15)))
                    self.assertEqual(result.tobytes(), self.of_host(given))
                    self.assertEqual(self.pipeline.run([given], value_range=(-0.125, 1.25))[0].tobytes(), result.tobytes())
                    self.assertEqual(set(self.conversions), {1 if single else 3})
                self.conversions.clear()
        whole = array_of(struct.pack("=600e", *(i / 600 for i in range(600))), (20, 30), "float16")
        mixed = self.pipeline.run([whole, picture(1)])
        self.assertEqual(([each.dtype for each in mixed], mixed[0].tobytes()), (["float16", "uint8"], self.pipeline.run(whole).tobytes()))
        self.check(mixed[1], picture(1))
        as_numbers = self.pipeline.run(whole, dtype="float32", layout="NCHW")
        self.assertEqual((as_numbers.dtype, as_numbers.shape), ("float32", (1, 10, 15)))
        far = array_of(struct.pack("=4f", 0, 255, 1, 0), (2, 2), "float32")
        for wrong, options, words in ((far, {}, r"255 at 1,0 is far outside the range 0..1: value_range=\(0, 255\)"), (picture(1), {"value_range": (0, 1)}, "for arrays of floats"),
                                      ([picture(1), whole], {}, "lists that begin with floats"), (whole[0], {}, "picture's shape")):
            with self.assertRaisesRegex(gf.UsageError, words):
                self.pipeline.run(wrong, **options)

    def test_floats_that_stay_floats(self):
        """They are filtered as they are, beyond all limits; those of 64 bits as 32. Only these are converted."""
        self.convert_on_host()
        for kind, format in FORMATS.items():
            for shape in ((20, 30), (20, 30, 1), (20, 30, 3), (3, 20, 30, 3)):
                parts = [sample / 40 - 2.5 for sample in ramp(math.prod(shape), 1, 1)]
                pixels = array_of(struct.pack(f"={len(parts)}{format}", *parts), shape, kind)
                for given in (pixels, pixels[::-1], pixels[::2]):
                    for result in (self.pipeline.run(given, value_range="float"), self.pipeline.run([given], value_range="float")[0]):
                        self.assertEqual((result.dtype, len(result.shape)), (kind, len(shape)))
                        self.assertEqual(result.tobytes(), self.of_host(given, "float"))
        self.assertTrue(self.conversions)
        self.conversions.clear()
        self.batches.clear()
        pictures = [array_of(struct.pack("=600e", *(i - k for i in range(600))), (20, 10, 3), "float16") for k in range(4)]
        turned = [Array(each.block, (20, 10, 3), (30 * 2, 2, 20), dtype="float16") for each in pictures]
        for given in (pictures, turned, [pictures[0], turned[1]]):
            for result, each in zip(self.pipeline.run(given, value_range="float"), given):
                self.assertEqual((result.dtype, result.tobytes()), ("float16", self.of_host(each, "float")))
        self.assertEqual((self.batches, self.conversions), ([4, 4], []))
        # What is kept of floats that stay is not taken for others, nor without the word.
        samples = self.pipeline.run(array_of(struct.pack("=600e", *(i / 600 for i in range(600))), (20, 10, 3), "float16"))
        self.assertLessEqual(max(numbers_of(samples)), 1)
        for wrong, value_range, words in (([picture(1), pictures[0]], None, "lists that begin with floats"), ([pictures[0], picture(1)], "float", "for arrays of floats"),
                                          (picture(1), "float", "for arrays of floats"), (pictures[0], "floats", "two numbers"),
                                          (array_of(bytes(40), (2, 2, 5), "float16"), "float", "picture's shape")):
            with self.assertRaisesRegex(gf.UsageError, words):
                self.pipeline.run(wrong, value_range=value_range)
        planes = self.pipeline.run(pictures[1], value_range="float", dtype="float32", layout="NCHW")
        self.assertEqual((planes.dtype, planes.shape), ("float32", (3, 10, 5)))
        flat = numbers_of(self.pipeline.run(pictures[1], value_range="float"))
        self.assertEqual(numbers_of(planes), flat[::3] + flat[1::3] + flat[2::3])
        for chain, given, dtype, value_range in (("float", picture(1), "float32", None), ("float=16", picture(1), "float16", None),
                                                 ("integer", pictures[0], "uint16", "float"), ("float=32", pictures[0], "float16", "float")):
            result = gf.Pipeline(chain, device="cpu").run(given, value_range=value_range)
            self.assertEqual((result.dtype, result.shape), (dtype, given.shape))

    def test_encoded_floats(self):
        """Files of floats have their bits."""
        def encode(pipeline, count, images, format, results, sizes, stream, errors, failure):
            for i in range(count):
                result, size = ctypes.c_void_p(), ctypes.c_size_t()
                self.assertEqual(lib.gf_pipeline_encode(pipeline, ctypes.byref(images[i]), format, ctypes.byref(result), ctypes.byref(size), failure), 0)
                ctypes.memmove(results[i], result, size.value)
                sizes[i] = size.value
                lib.gf_free(result)
            return 0

        self.addCleanup(setattr, lib, "gf_encode_batch", lib.gf_encode_batch)
        lib.gf_encode_batch = encode
        given = array_of(struct.pack("=600f", *(i / 10 - 9 for i in range(600))), (20, 10, 3), "float32")
        for pictures in ([given], [given, given]):
            for data in gf.encode(pictures, "npy", value_range="float", device="cpu"):
                self.assertTrue(data.endswith(given.tobytes()))
        near = array_of(struct.pack("=600e", *(i / 600 for i in range(600))), (20, 10, 3), "float16")
        self.assertEqual(gf.encode(near, "png", value_range="float", device="cpu"), gf.encode(self.host_of(near), "png", value_range="float", device="cpu"))

    def test_floats_of_the_library(self):
        """A picture of floats that was decoded on a device says its type to others."""
        host = gf.decode(ppm(20, 30), "float=16")
        there = gf.DeviceImage(None, host._image, 0)
        self.assertEqual((there.dtype, there.__cuda_array_interface__["typestr"][1:]), ("float16", "f2"))
        self.assertEqual(there.__cuda_array_interface__["typestr"], host.__array_interface__["typestr"])
        capsule = there.__dlpack__()
        tensor = _dlpack._Managed.from_address(_dlpack._pointer(capsule, b"dltensor")).tensor
        self.assertEqual((tensor.code, tensor.bits, tensor.device_type), (2, 16, _dlpack.CUDA))

    @staticmethod
    def host_of(given):
        return types.SimpleNamespace(dtype=given.dtype, shape=given.shape, kept=given, __array_interface__={
            "shape": given.shape, "strides": None, "typestr": f"=f{given.size}", "data": (given.data.ptr, False), "version": 3})

    def of_host(self, floats, value_range=(-0.125, 1.25)):
        """Returns the bytes of the host's result for such floats."""
        if len(floats.shape) == 4:
            return b"".join(self.of_host(each, value_range) for each in floats)
        given = Cupy.ascontiguousarray(floats, "float32") if floats.dtype == "float64" else floats.copy()
        result = self.pipeline.run(self.host_of(given), value_range=value_range)
        result = result.tobytes() if isinstance(result, gf.Image) else memoryview(result).tobytes()
        return struct.pack(f"={len(result) // 4}d", *struct.unpack(f"={len(result) // 4}f", result)) if given is not floats and floats.size == 8 else result

    def test_wrong_arrays(self):
        for pixels in (array_of(bytes(24), (24,)), array_of(b"", (0, 20, 30, 3)), array_of(bytes(40), (2, 2, 2, 5)),
                       array_of(bytes(16), (1, 1, 2, 2, 4))):
            with self.assertRaises(gf.UsageError):
                self.pipeline.run(pixels)
        with self.assertRaises(gf.UsageError):
            self.pipeline.run([picture(1), 5])


class Exchange(ctypes.Structure):
    """DLPack's DLPackExchangeAPI."""
    _fields_ = [("version", ctypes.c_uint32 * 2), ("others", ctypes.c_void_p * 4), ("describe", ctypes.c_void_p), ("stream", ctypes.c_void_p)]


class Exchanged(unittest.TestCase):
    def test_places(self):
        """Objects of a type with DLPack's exchange API are asked by C."""
        @ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(_dlpack._Tensor))
        def describe(made, out):
            if not made.shape:
                return -1
            made.sizes, made.steps = (ctypes.c_int64 * 2)(*made.shape), (ctypes.c_int64 * 2)(made.shape[1], 1)
            out[0] = _dlpack._Tensor(made.address, 2, 0, 2, 1, 8, 1, made.sizes, made.steps, 1)
            return 0

        class Made:
            def __init__(self, address, shape):
                self.address, self.shape = address, shape

        self.assertIsNone(_dlpack.exchange_of(Made))
        exchange = Exchange((1, 3), describe=ctypes.cast(describe, ctypes.c_void_p))
        Made.__dlpack_c_exchange_api__ = _dlpack._new(ctypes.addressof(exchange), b"dlpack_exchange_api", None)
        api = _dlpack.exchange_of(Made)
        self.assertEqual(api, ctypes.addressof(exchange))
        for shapes, status in ((3 * [(4, 5)], _abi.GF_OK), ([(4, 5), (4, 5), (4, 6)], _abi.GF_ERROR_UNFIT), ([(4, 5), ()], _abi.GF_ERROR_UNFIT)):
            made, images = tuple(Made(1000 * i, shape) for i, shape in enumerate(shapes)), _device.Images(_abi.gf_image(), len(shapes))
            self.assertEqual(_dlpack.place(api, id(made) + _device._ITEMS, len(made), images.at, None), status)
            if not status:
                self.assertEqual([image.data for image in images.images], [1000 * i + 1 for i in range(len(made))])
        for name, value in (("version", (2, 0)), ("describe", None)):  # which the library does not know
            other = Exchange((1, 3), describe=exchange.describe)
            setattr(other, name, value)
            Made.__dlpack_c_exchange_api__ = _dlpack._new(ctypes.addressof(other), b"dlpack_exchange_api", None)
            self.assertIsNone(_dlpack.exchange_of(Made))


class Parts(unittest.TestCase):
    """Decoding that threads share, by a function that decodes to the host's memory."""

    def setUp(self):
        def decode(pipeline, count, data, sizes, images, stream, errors, failure):
            self.counts.append(count)
            for i in range(count):
                status = lib.gf_pipeline_decode(pipeline, data[i], sizes[i], ctypes.byref(images[i]), failure)
                if status:
                    failure._obj.text = b"[%d]: " % i + failure._obj.text
                    return status
            return 0

        def free_images(pipeline, images, count):
            for image in images:
                lib.gf_image_free(ctypes.byref(image))

        self.counts = []
        for name, value in (("gf_decode_batch", decode), ("gf_pipeline_free_images", free_images)):
            self.addCleanup(setattr, lib, name, getattr(lib, name))
            setattr(lib, name, value)

    def test_parts(self):
        pipeline = gf.Pipeline("invert", device="cpu")
        files = [ppm(20 + number, 30) for number in range(70)]
        shapes = [image.shape for image in _batches.decode(pipeline, files, 3)]
        self.assertEqual(shapes, [(20 + number, 30, 3) for number in range(70)])
        self.assertEqual(sorted(self.counts), [23, 23, 24])
        for bad in 0, 22, 23, 50, 69:
            with self.assertRaisesRegex(gf.InputError, rf"^\[{bad}\]: "):
                _batches.decode(pipeline, files[:bad] + [b"P6 no picture"] + files[bad + 1:], 3)


class Files(unittest.TestCase):
    """Encoding to memory that Python lends, by a function that encodes in the host's memory."""

    def setUp(self):
        def encode(pipeline, count, images, kind, results, sizes, stream, errors, failure):
            self.calls.append(bool(count and results[0]))
            for i in range(count):
                result, size = ctypes.c_void_p(), ctypes.c_size_t()
                status = lib.gf_pipeline_encode(pipeline, ctypes.byref(images[i]), kind, ctypes.byref(result), ctypes.byref(size), failure)
                lent, room, results[i], sizes[i] = results[i], sizes[i], results[i] or result.value, size.value
                if not status and lent and (self.too_small or size.value > room):
                    status = _abi.GF_ERROR_UNFIT
                if not status and lent:
                    ctypes.memmove(lent, result, size.value)
                if lent:
                    lib.gf_free(result)
                if status:
                    return status
            return 0

        self.calls, self.too_small = [], False
        self.addCleanup(setattr, lib, "gf_encode_batch", lib.gf_encode_batch)
        lib.gf_encode_batch = encode
        self.pipeline = gf.Pipeline("resize=200%", device="cpu")
        self.pictures = [picture(i, 20 + i, channels=channels) for i, channels in enumerate((3, 1, 3, 1))]

    def encode(self, kind, views=False):
        number = _abi.ENUMS["gf_file_format"]["GF_FILE_" + kind.upper()]
        return _batches.encode(self.pipeline, self.pictures, number, views)

    def expected(self, kind):
        return [self.pipeline.encode(memoryview(pixels.tobytes()).cast("B", pixels.shape), kind) for pixels in self.pictures]

    def test_files(self):
        for kind in "png", "pnm":
            files = self.encode(kind)
            self.assertEqual(files, self.expected(kind))
            self.assertEqual({type(file) for file in files}, {bytes})
            self.assertEqual([hash(file) for file in files], [hash(file) for file in self.expected(kind)])
        self.assertEqual(self.calls, [True, True])

    def test_files_of_one_shape(self):
        for pictures in ([picture(i) for i in range(5)], [picture(i, channels=1)[::2] for i in range(3)],
                         [Array(picture(i).block, (20, 30, 3), (30, 1, 600)) for i in range(2)], []):
            self.pictures = pictures
            for views in False, True:
                self.assertEqual(self.encode("png", views), self.expected("png"))

    def test_files_that_are_larger_than_expected(self):
        self.too_small = True
        for views in False, True:
            self.assertEqual(self.encode("png", views), self.expected("png"))
        self.assertEqual(self.calls, [True, False, True, False])

    def test_addresses(self):
        for data in (b"", b"abc", bytearray(b"abc"), bytearray(), memoryview(b"abcdef")[1:], memoryview(bytearray(b"abcdef"))[::2]):
            address, size, kept = _batches._address_of(data)
            self.assertEqual(ctypes.string_at(address, size), bytes(data))
            del kept

    def test_views(self):
        files = self.encode("png", True)
        first = [file.tobytes() for file in files]
        self.assertEqual((b"".join(files), len(files[0])), (b"".join(first), len(first[0])))
        self.assertEqual(first, self.expected("png"))
        self.pictures.reverse()
        others = self.encode("png", True)  # in memory of their own
        self.assertEqual(([file.tobytes() for file in files], [file.tobytes() for file in others]), (first, first[::-1]))
        place = ctypes.addressof(ctypes.c_char.from_buffer(others[0]))
        last = others.pop()
        del others
        self.assertNotEqual(self.place_of_next(), place)
        del last
        self.assertEqual(self.place_of_next(), place)

    def place_of_next(self):
        return ctypes.addressof(ctypes.c_char.from_buffer(self.encode("png", True)[0]))

    def test_progress(self):
        self.pipeline = gf.Pipeline("resize=200%", device="cpu", band_rows=8)
        seen, pixels = [], self.pictures[0]

        def stop(part):
            raise KeyError(part)

        self.assertEqual(self.pipeline.encode(pixels, progress=seen.append), self.expected("png")[0])
        self.assertEqual((sorted(seen), seen[-1]), (seen, 1))
        self.assertGreater(len(seen), 2)
        with self.assertRaises(KeyError):
            self.pipeline.encode(pixels, progress=stop)
        seen.clear()
        self.pipeline.encode(pixels)
        self.assertEqual(seen, [])

    def test_failures(self):
        for views in False, True:
            self.pictures = [picture(1, channels=4)]
            with self.assertRaises(gf.UsageError):
                self.encode("heic", views)


if __name__ == "__main__":
    sys.modules["cupy"] = Cupy("cupy")
    main(Arrays, Exchanged, Parts, Files)
