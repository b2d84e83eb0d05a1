"""Arrays of other packages, DLPack, memory that is laid out in other ways, and numbers for networks. Prints TAP."""

import ctypes
import gc
import multiprocessing
import pickle
import unittest

import gpufilter as gf
from gpufilter import _abi, _device, _dlpack
from support import main, optional, ppm, ramp

numpy, torch, jax, pillow = map(optional, ("numpy", "torch", "jax", "PIL.Image"))
if jax:
    jax.config.update("jax_platforms", "cpu")
try:
    device = gf.Pipeline("blur", device="cuda")
    device.run(gf.decode(b"P5 1 1 255\n0"))  # starts it
except gf.Error:
    device = None
gpu = torch and torch.cuda.is_available() and device
needs_numpy = unittest.skipUnless(numpy, "there is no numpy")
inverted = bytes(255 - sample for sample in ramp())


class Producer:
    """An array of a package that nobody knows: an Image's samples by DLPack, described as `change` wants it."""

    def __init__(self, image, change=lambda tensor: None, versions=True):
        self.image, self.change, self.versions = image, change, versions

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, stream=None, **asked):
        if asked and not self.versions:
            raise TypeError("an old producer knows no versions")
        capsule = self.image.__dlpack__(**asked)
        name = b"dltensor_versioned" if self.versions else b"dltensor"
        self.change(_dlpack._NAMES[name].from_address(_dlpack._pointer(capsule, name)).tensor)
        return capsule


class Busy:
    """An image that is not given."""

    def __dlpack__(self, **asked):
        raise BufferError("not now")


def changed(**members):
    def change(tensor):
        for name, value in members.items():
            setattr(tensor, name, value)
    return change


class Arrays(unittest.TestCase):
    @needs_numpy
    def test_four_axes(self):
        whole = numpy.stack([numpy.roll(numpy.frombuffer(ramp(), "u1").reshape(40, 60, 3), step, 0) for step in range(5)])
        for pixels in (whole, whole.astype("u2") * 257, whole[..., :1], whole[..., :2], whole[::-2, 3:30, 5:50], whole[:1]):
            for chain in ("blur=2,equalize", "grayscale", "resize=50%", "transpose"):
                expected = numpy.stack([numpy.asarray(gf.run(chain, each)) for each in pixels])
                expected = expected if expected.ndim == 4 else expected[..., None]
                for result in (gf.run(chain, pixels), gf.Pipeline(chain).run(pixels)):
                    self.assertEqual((type(result), result.dtype), (numpy.ndarray, pixels.dtype))
                    numpy.testing.assert_array_equal(result, expected)
        numbers = gf.run("blur", whole, dtype="float32", layout="NCHW")
        self.assertEqual(numbers.shape, (5, 3, 40, 60))
        numpy.testing.assert_array_equal(numbers[4], gf.run("blur", whole[4], dtype="float32", layout="NCHW"))
        self.assertEqual(gf.blur(whole, 2).shape, whole.shape)
        edges = numpy.zeros((3, 20, 30, 3), "u1")
        edges[0, 2:9, 3:8] = edges[1, 4:11, 7:12] = edges[2, 1:9, 2:7] = 200
        self.assertEqual(gf.run("trim", edges[:2]).shape, (2, 7, 5, 3))
        for run in (lambda array: gf.run("trim", array), gf.Pipeline("trim").run):
            with self.assertRaisesRegex(gf.UsageError, r"^\[2\]: its result has the shape \(8, 5, 3\) and that of \[0\] \(7, 5, 3\)"):
                run(edges)
            for wrong in (whole[:0], whole[:, :0], whole.astype(float), numpy.stack([whole, whole]), numpy.zeros((2, 4, 4, 5), "u1")):
                with self.assertRaises(gf.UsageError):
                    run(wrong)
        if torch:
            for pixels in (whole, whole.astype("u2")):
                result = gf.run("blur=2", torch.from_numpy(pixels))
                self.assertEqual(result.dtype, torch.from_numpy(pixels).dtype)
                numpy.testing.assert_array_equal(result.numpy(), gf.run("blur=2", pixels))

    @needs_numpy
    def test_numpy_in_numpy_out(self):
        array = numpy.frombuffer(ramp(), numpy.uint8).reshape(40, 60, 3)
        for view in (array, array[::2, 5:50], array[::-1], array[:, ::3], array[:, :, 0], array[:, :, :1]):
            result = gf.run("invert", view)
            self.assertEqual((type(result), result.shape), (numpy.ndarray, view.shape))
            numpy.testing.assert_array_equal(result, 255 - view)
        wide = array.astype(numpy.uint16) * 257
        numpy.testing.assert_array_equal(gf.run("invert", wide), 65535 - wide)
        kept = numpy.asarray(gf.decode(ppm()))
        numpy.testing.assert_array_equal(kept, array)  # the array keeps the picture's memory

    @unittest.skipUnless(gpu, "there is no torch with a GPU that the library has")
    def test_torch_on_a_device(self):
        wide = torch.frombuffer(bytearray(ramp(64, 128)), dtype=torch.uint8).reshape(64, 128, 3)
        for tensor in (wide, wide[:, :77], wide[::2, 1:60], wide[:, :, 0], wide.permute(1, 0, 2)):
            for chain in ("blur=2,equalize", "resize=50%"):
                expected = gf.run(chain, tensor.contiguous(), device="cpu")
                for _ in range(3):
                    result = gf.run(chain, tensor.cuda())
                    self.assertTrue(result.is_cuda)
                    self.assertTrue(torch.equal(result.cpu(), expected))
        with torch.cuda.stream(torch.cuda.Stream()):
            large = wide.cuda().repeat(40, 40, 1)
            for _ in range(20):
                large = large + 1  # still queued when the library is called
            result = gf.run("invert", large)
        torch.cuda.synchronize()
        self.assertTrue(torch.equal(result, 255 - large))
        tensors = [(wide + i).cuda() for i in range(9)]
        for chain in ("resize=50%,blur=1", "blur,equalize"):
            expected = [gf.run(chain, tensor.cpu(), device="cpu") for tensor in tensors]
            for results in (gf.run(chain, tensors), gf.run(chain, torch.stack(tensors))):
                self.assertTrue(all(map(torch.equal, (each.cpu() for each in results), expected)))
        other = [tensors[0], tensors[1][:40], tensors[2][:, :, 0].contiguous(), tensors[3].to(torch.int32).to(torch.uint16), tensors[4][:40]]
        for results in (gf.run("blur=2", other), gf.run("blur=2", tuple(other))):
            self.assertTrue(all(map(torch.equal, (each.cpu() for each in results), (gf.run("blur=2", each.cpu(), device="cpu") for each in other))))
        with self.assertRaises(gf.UsageError):
            gf.run("blur", [wide.cuda(), wide])
        for wrong in (wide.cuda().float(), wide.cuda().reshape(-1), wide.cuda().int()):
            with self.assertRaises(gf.UsageError):
                gf.run("blur", wrong)
        with self.assertRaises(gf.UsageError):
            gf.Pipeline("blur", device="cpu").run(wide.cuda())
        with self.assertRaises(gf.InputError):
            gf.run("trim", wide.cuda())

    def test_placed_arrays(self):
        """torch's tensors are placed by its exchange API as they are by asking each."""
        if not torch or not _dlpack.exchange_of(torch.Tensor):
            self.skipTest("there is no torch with DLPack's exchange API")
        whole = torch.frombuffer(bytearray(ramp(50, 60)), dtype=torch.uint8).reshape(50, 60, 3)
        package, one, no = _device.package_of(torch.Tensor), whole[:20, :30], torch.zeros(20, 30, 3)
        row, wide = torch.empty_strided((1, 30, 3), (7, 3, 1), dtype=torch.uint8), one.to(torch.int32).to(torch.uint16)
        for alike, tensors in (
                (True, [one, whole[7:27, 11:41], whole[30:, 30:]]), (True, [wide, wide.clone()]), (True, [whole[:1, :30], row]),
                (True, [one.permute(1, 0, 2), whole[1:21, :30].permute(1, 0, 2)]), (True, [one]),
                (False, [one, one.clone()]), (False, [one, whole[:20, :31]]), (False, [one, one[..., 0]]), (False, [one, wide]),
                (False, [one.contiguous(), one.contiguous().view(torch.int8)]), (False, [no, no.to_sparse()]),
                (False, [no, no.to("meta")]), (False, [no.to_sparse(), no])):
            images = _device.Images(_abi.gf_image(), len(tensors))
            self.assertEqual(package.place(tensors, images), alike, [each.shape for each in tensors])
            if alike:
                self.assertEqual([image.data for image in images.images], [each.data_ptr() for each in tensors])
        kind = type("Kind", (torch.Tensor,), {})
        images = _device.Images(_abi.gf_image(), 2)
        self.assertTrue(package.place([one.as_subclass(kind), one.as_subclass(kind)], images))
        self.assertEqual([image.data for image in images.images], 2 * [one.data_ptr()])

    @unittest.skipUnless(device, "there is no GPU")
    def test_batches_on_a_device(self):
        files = [gf.encode(gf.decode(ppm(40 + i, 60)), kind, device="cpu") for i, kind in enumerate(["jpeg", "png", "pnm", "jpeg"])]
        for chain in ("", "blur=2,resize=50%"):
            several = gf.decode(files * 9, chain, device="cuda:0", workers=2)
            pictures = several[4:8]
            expected = gf.decode(files, chain, device="cpu")
            self.assertEqual([picture.shape for picture in pictures], [picture.shape for picture in expected])
            for kind in ("png", "jpeg", "pnm"):
                self.assertEqual(gf.encode(pictures, kind), gf.encode(expected, kind, device="cpu"))
            self.assertEqual(gf.encode(pictures[2], "png"), gf.encode(expected[2], "png", device="cpu"))
            self.assertEqual(gf.encode(pictures, "png", "invert"), gf.encode(expected, "png", "invert", device="cpu"))
            chain = "blur=3,equalize,rotate=90"
            self.assertEqual(gf.encode(gf.run(chain, pictures), "png"), gf.encode(gf.run(chain, expected, device="cpu"), "png", device="cpu"))
            inverted_one = gf.invert(pictures[1])
            self.assertIsInstance(inverted_one, gf.DeviceImage)
            self.assertEqual(gf.encode(gf.invert(inverted_one), "png"), gf.encode(pictures[1], "png"))
        with self.assertRaises(gf.InputError):
            gf.run("trim", pictures)
        one = gf.decode(files[0], device="cuda")
        self.assertRegex(repr(one), r"DeviceImage \(40, 60, 3\), 8 bits, cuda:0")
        self.assertEqual(one.__cuda_array_interface__["strides"], (192, 3, 1))  # rows begin at multiples of 16 bytes
        self.assertEqual(one.__dlpack_device__(), (2, 0))
        self.assertFalse(hasattr(one, "__array_interface__"))
        for wrong in (one.view, lambda: gf.encode(one, "png", device="cpu"), lambda: gf.decode([files[0], 3], device="cuda")):
            with self.assertRaises(gf.UsageError):
                wrong()
        with self.assertRaisesRegex(gf.InputError, r"^\[1\]: "):
            gf.decode([files[0], b"what"], device="cuda")
        self.assertEqual(gf.decode([], device="cuda"), [])
        if not torch:
            with self.assertRaisesRegex(gf.UsageError, "torch or cupy"):
                gf.decode(files, device="cuda", dtype="float32")

    @unittest.skipUnless(gpu, "there is no torch with a GPU that the library has")
    def test_torch_batches(self):
        files = [gf.encode(gf.decode(ppm(40, 61)), "jpeg", device="cpu") for _ in range(5)]
        form = {"dtype": "float32", "layout": "NCHW", "mean": (0.485, 0.456, 0.406), "std": (0.229, 0.224, 0.225)}
        for chain in ("", "resize=32:24"):
            expected = torch.from_numpy(gf.decode(files, chain, device="cpu", **form))
            self.assertTrue(torch.equal(gf.decode(files, chain, device="cuda", **form).cpu(), expected))
            tensors = [torch.from_dlpack(picture) for picture in gf.decode(files, chain, device="cuda")]
            self.assertTrue(all(tensor.is_cuda for tensor in tensors))
            self.assertEqual(gf.encode(tensors, "png"), gf.encode(gf.decode(files, chain, device="cpu"), "png", device="cpu"))
            self.assertTrue(torch.equal(gf.run("invert", tensors[0], **form).cpu(), gf.run("invert", tensors[0].cpu(), device="cpu", **form)))

    def test_devices_of_unknown_packages(self):
        class Somewhere:
            __cuda_array_interface__ = {"shape": (4, 4), "strides": None, "typestr": "|u1", "data": (4096, False), "version": 3}

        for pipeline in (gf.Pipeline("blur", device="cpu"), gf.Pipeline("")):
            with self.assertRaisesRegex(gf.UsageError, "arrays of torch or cupy"):
                pipeline.run(Somewhere())
            with self.assertRaisesRegex(gf.UsageError, "arrays of torch or cupy"):
                pipeline.run(Somewhere(), dtype="float32")
        Somewhere.__cuda_array_interface__ = {**Somewhere.__cuda_array_interface__, "strides": (8, 2)}
        with self.assertRaisesRegex(gf.UsageError, "strides"):
            gf.Pipeline("").run(Somewhere())

    @needs_numpy
    def test_layouts_of_numpy(self):
        array = numpy.frombuffer(ramp(), numpy.uint8).reshape(40, 60, 3)
        fixed = array.copy()
        fixed.flags.writeable = False
        odd = numpy.frombuffer(b"\0" + (array.astype(numpy.uint16) * 257).tobytes(), numpy.uint16, offset=1)
        overlapping = numpy.lib.stride_tricks.as_strided(fixed, (30, 20), (10, 1))
        for view in (fixed, numpy.asfortranarray(array), array.transpose(1, 0, 2), array[:, ::-1], array[..., ::-1],
                     numpy.broadcast_to(array[0], (5, 60, 3)), array[:1], array[:, :1], array[:1, :1], array[::7, ::9, 1],
                     odd.reshape(40, 60, 3), overlapping):
            before = view.copy()
            numpy.testing.assert_array_equal(gf.run("invert", view), numpy.iinfo(view.dtype).max - before)
            numpy.testing.assert_array_equal(view, before)

    def test_array_interfaces_of_unknown_packages(self):
        class Array:
            def __init__(self, **members):
                self.__array_interface__ = {"version": 3, "typestr": "|u1", "shape": (40, 60, 3), "strides": None, **members}

        for members in ({"data": ramp()}, {"data": memoryview(ramp())}, {"data": bytearray(b"ab" + ramp()), "offset": 2},
                        {"data": ramp(), "shape": (20, 60, 3), "strides": (360, 3, 1)}):
            expected = inverted if len(members) == 1 or "offset" in members else b"".join(inverted[y * 360:][:180] for y in range(20))
            self.assertEqual(gf.run("invert", Array(**members)).tobytes(), expected)
        memory = ctypes.create_string_buffer(ramp())
        self.assertEqual(gf.run("invert", Array(data=[ctypes.addressof(memory), False])).tobytes(), inverted)
        self.assertRaises(TypeError, gf.run, "invert", Array(data=7200))  # which bytes() would take for a length
        at_odd = {"data": (ctypes.addressof(memory) + 1, False), "typestr": "=u2", "shape": (20, 60, 3)}
        for members, words in ((at_odd, "16 bits at an odd address"),
                               ({"data": ramp()[:-1]}, "7199 bytes are not an array"), ({"data": memoryview(ramp()), "offset": 1}, "7199"),
                               ({"data": ramp(), "strides": (181, 3, 1)}, "7200 bytes are not"),
                               ({"data": ramp(), "shape": (2**32 + 4, 1), "strides": (1, 1)}, "too large"),
                               ({"data": ramp(), "shape": (1, 2**32 + 4)}, "too large")):
            with self.assertRaisesRegex(gf.UsageError, words):
                gf.run("invert", Array(**members))

    @needs_numpy
    def test_types_that_are_derived(self):
        array = numpy.frombuffer(ramp(), numpy.uint8).reshape(40, 60, 3)
        for number in range(2 * _device._KEPT):
            kind = type(f"Of{number}", (numpy.ndarray,), {})
            result = gf.run("invert", array.view(kind))
            self.assertIs(type(result), numpy.ndarray)
        numpy.testing.assert_array_equal(result, 255 - array)
        self.assertLessEqual(_device.package_of.cache_info().currsize, _device._KEPT)
        self.assertEqual(gf.run("invert", numpy.stack([array, array]).view(kind)).shape, (2, 40, 60, 3))
        with self.assertRaisesRegex(gf.UsageError, "masked"):
            gf.run("invert", type("Masked", (numpy.ma.MaskedArray,), {})(array))

    @needs_numpy
    def test_numbers_of_numpy(self):
        array, numbers = numpy.zeros((4, 4, 3), numpy.uint8), numpy.array([0.25, 0.25, 0.25])
        for mean in (numpy.array(0.25), numbers[0], numbers):
            self.assertEqual(gf.run("", array, dtype="float32", mean=mean).max(), -0.25)

    @needs_numpy
    def test_wrong_arrays(self):
        zeros = numpy.zeros
        for array, words in (
                (zeros((4, 4), complex), "floats .*'<c16'"), (zeros((4, 4), ">f4"), "'>f4'"), (zeros((3, 4, 5)), "channels to the end"), (zeros((4, 4, 5), numpy.uint8), "1 to 4 channels"), (zeros(4, numpy.uint8), "shape"),
                (zeros((4, 4), numpy.int16), "i2"), (zeros((4, 4), ">u2"), "'>u2'"), (zeros((0, 4), numpy.uint8), "no pixels"),
                (zeros((4, 0, 3), numpy.uint8), "no pixels"), (zeros((4, 4, 0), numpy.uint8), "1 to 4 channels"),
                (zeros((4, 4), bool), "'|b1'"), (zeros((4, 4), numpy.uint32), "u4"), (zeros((4, 4), object), "O"),
                (zeros((1, 2, 4, 4, 3), numpy.uint8), "shape"), (zeros((), numpy.uint8), "shape"),
                (numpy.ma.masked_array(zeros((4, 4), numpy.uint8)), "masked")):
            with self.assertRaisesRegex(gf.UsageError, words):
                gf.run("blur", array)

    def test_buffers(self):
        flat = memoryview(ramp()).cast("B", (40, 60, 3))
        self.assertEqual(gf.run("invert", flat[::2]).tobytes(), b"".join(inverted[y * 180:][:180] for y in range(0, 40, 2)))
        wide = memoryview(bytearray(48)).cast("B").cast("H", (4, 6))
        self.assertEqual(gf.run("invert", wide).tobytes(), b"\xff" * 48)
        self.assertEqual(gf.run("invert", (ctypes.c_ubyte * 6 * 4)()).tobytes(), b"\xff" * 24)
        for wrong in (memoryview(b"").cast("B"), memoryview(bytes(16)).cast("i", (2, 2)), memoryview(bytes(4)).cast("b", (2, 2)),
                      "text", None, [[1, 2], [3, 4]]):
            with self.assertRaises(gf.UsageError):
                gf.run("invert", wrong)

    def test_views_of_an_image(self):
        view = gf.decode(ppm()).view()  # which keeps the picture
        gc.collect()
        self.assertEqual((view.shape, view.format, view.tobytes()), ((40, 60, 3), "B", ramp()))
        view[0, 0, 0] = 7
        wide = gf.run("levels", memoryview(bytes(24)).cast("H", (3, 4)))
        self.assertEqual((wide.view().shape, wide.view().format, wide.bits), ((3, 4), "H", 16))
        again = pickle.loads(pickle.dumps(gf.decode(ppm())))
        self.assertEqual((again.shape, again.tobytes()), ((40, 60, 3), ramp()))

    def test_dlpack_of_an_unknown_package(self):
        for versions in (True, False):
            given = Producer(gf.decode(ppm()), versions=versions)
            result = gf.run("invert", given)
            self.assertIs(type(result), gf.Image)
            self.assertEqual(result.tobytes(), inverted)
            whole = Producer(gf.decode(ppm()), changed(strides=None), versions)
            self.assertEqual(gf.run("invert", whole).tobytes(), inverted)
        for change, words in ((changed(code=2), "f1"), (changed(code=6), "b1"), (changed(bits=32), "u4"), (changed(lanes=2), "V2"),
                              (changed(ndim=1), "shape"), (lambda tensor: tensor.strides.__setitem__(1, 4), "strides"),
                              (lambda tensor: tensor.strides.__setitem__(0, -180), "strides"),
                              (lambda tensor: tensor.shape.__setitem__(0, 0), "no pixels")):
            with self.assertRaisesRegex(gf.UsageError, words):
                gf.run("invert", Producer(gf.decode(ppm()), change))
        with self.assertRaisesRegex(gf.UsageError, r"device \(8, 1\)"):
            gf.run("invert", type("Metal", (Producer,), {"__dlpack_device__": lambda self: (8, 1)})(gf.decode(ppm())))
        with self.assertRaisesRegex(gf.UsageError, "no array by DLPack: not now"):
            gf.run("invert", Producer(Busy()))

    def test_dlpack_frees_what_is_not_taken(self):
        for version in (None, (1, 0)):
            capsule = gf.decode(ppm()).__dlpack__(max_version=version)
            self.assertEqual(len(_dlpack._given), 1)
            del capsule
            self.assertEqual(len(_dlpack._given), 0)
        with self.assertRaises(BufferError):
            gf.decode(ppm()).__dlpack__(dl_device=(2, 0))

    @needs_numpy
    def test_dlpack_to_numpy(self):
        taken = numpy.from_dlpack(gf.decode(ppm()))
        gc.collect()
        self.assertEqual(taken.tobytes(), ramp())
        del taken
        self.assertEqual(len(_dlpack._given), 0)

    @unittest.skipUnless(torch, "there is no torch")
    def test_torch_on_the_host(self):
        tensor = torch.frombuffer(bytearray(ramp()), dtype=torch.uint8).reshape(40, 60, 3)
        for view in (tensor, tensor[:, 7:50], tensor[::2], tensor[:, ::3], tensor.permute(1, 0, 2), tensor[:, :, 0],
                     tensor[:1, :1].expand(5, 6, 3), tensor.clone().requires_grad_(False)):
            result = gf.run("invert", view)
            self.assertIs(type(result), torch.Tensor)
            self.assertTrue(torch.equal(result, 255 - view))
        kind = type("Kind", (torch.Tensor,), {})  # whose layout other tensors have, too
        made = _device.package_of(kind).maker(tensor.as_subclass(kind), (20, 30, 4), torch.uint16)()
        self.assertEqual((type(made), made.shape, made.dtype, made.is_contiguous()), (torch.Tensor, (20, 30, 4), torch.uint16, True))
        for wrong in (tensor.float(), tensor.bool(), tensor.reshape(-1), tensor.to_sparse(), tensor.to("meta"), tensor[:0]):
            with self.assertRaises(gf.UsageError):
                gf.run("invert", wrong)
        numbers = gf.run("invert", tensor, dtype="float32", layout="NCHW", mean=(0.485, 0.456, 0.406), std=0.25)
        mean = torch.tensor((0.485, 0.456, 0.406)).reshape(3, 1, 1)
        self.assertTrue(torch.equal(numbers, (((255 - tensor).permute(2, 0, 1).float() / 255) - mean) / 0.25))

    @unittest.skipUnless(jax, "there is no jax")
    def test_jax_on_the_host(self):
        array = jax.numpy.asarray(numpy.frombuffer(ramp(), numpy.uint8).reshape(40, 60, 3))
        for view in (array, array[::2, 5:50], array[:, :, 0], array.transpose(1, 0, 2), array.astype(jax.numpy.uint16)):
            result = gf.run("invert", view)
            self.assertIsInstance(result, jax.Array)
            numpy.testing.assert_array_equal(result, numpy.iinfo(view.dtype).max - view)
        numbers = gf.run("invert", array, dtype="float32")
        self.assertIsInstance(numbers, jax.Array)
        for wrong in (array.astype(float), array.reshape(-1), array[:0], array > 3):
            with self.assertRaises(gf.UsageError):
                gf.run("invert", wrong)

    @unittest.skipUnless(pillow, "there is no Pillow")
    def test_pillow(self):
        colour = pillow.frombytes("RGB", (60, 40), ramp())
        for mode in ("RGB", "L", "LA", "RGBA"):
            given = colour.convert(mode)
            result = gf.run("resize=30:20", given)
            self.assertEqual((result.mode, result.size), (mode, (30, 20)))
            self.assertEqual(result.tobytes(), gf.run("resize=30:20", memoryview(given.tobytes()).cast(
                "B", (40, 60) + ((len(mode),) if len(mode) > 1 else ()))).tobytes())
        for chain in ("", "grayscale", "resize=7:3"):
            image = gf.decode(ppm(), chain)
            self.assertEqual(pillow.fromarray(image).tobytes(), image.tobytes())
        wide = gf.run("invert", pillow.new("I;16", (5, 4), 1000))
        self.assertEqual((wide.mode, wide.getpixel((2, 2))), ("I;16", 64535))
        with self.assertRaisesRegex(gf.UsageError, "2 channels of 16 bits, and Pillow no such"):
            gf.run("round=2", pillow.new("I;16", (5, 4), 1000))
        scan = colour.copy()
        scan.__class__ = type("Scan", (pillow.Image,), {})
        self.assertEqual(gf.run("invert", scan).size, (60, 40))
        with self.assertRaisesRegex(gf.UsageError, r"shape \(4, 0, 3\) has no pixels"):
            gf.run("invert", pillow.new("RGB", (0, 4)))
        for mode in ("P", "CMYK", "1", "F", "I", "YCbCr"):
            with self.assertRaisesRegex(gf.UsageError, f"mode {mode} is no picture"):
                gf.run("blur", colour.convert("L").convert(mode) if mode == "P" else colour.convert(mode))

    def test_numbers_for_networks(self):
        def single(value):
            return ctypes.c_float(value).value

        mean, std, picture = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225), gf.decode(ppm())
        expected = [single(single(single(ramp()[i] / 255) - single(mean[i % 3])) / single(std[i % 3])) for i in range(7200)]
        rows = memoryview(gf.run("", picture, dtype="float32", mean=mean, std=std))
        self.assertEqual((rows.shape, rows.format), ((40, 60, 3), "f"))
        self.assertEqual(list(rows.cast("B").cast("f")), expected)
        planes = memoryview(gf.decode(ppm(), dtype="float32", layout="NCHW", mean=mean, std=std))
        self.assertEqual(planes.shape, (3, 40, 60))
        self.assertEqual(list(planes.cast("B").cast("f")), [value for c in range(3) for value in expected[c::3]])
        many = memoryview(gf.decode([ppm()] * 5, dtype="float32", layout="NCHW", mean=mean, std=std, workers=3))
        self.assertEqual((many.shape, many.tobytes()), ((5, 3, 40, 60), planes.tobytes() * 5))
        self.assertEqual(memoryview(gf.run("grayscale", picture, dtype="float32")).shape, (40, 60, 1))
        by_text, by_number = (gf.run("", picture, dtype="float32", mean=mean) for mean in ("123", 123))
        self.assertEqual(memoryview(by_text).tobytes(), memoryview(by_number).tobytes())
        gray = gf.run("grayscale", picture)
        three = memoryview(gf.run("", gray, dtype="float32", layout="NCHW", channels=3, mean=mean, std=std))
        self.assertEqual(three.shape, (3, 40, 60))
        self.assertEqual(three.tobytes(), b"".join(memoryview(gf.run("", gray, dtype="float32", mean=mean[c], std=std[c])).tobytes()
                                                   for c in range(3)))
        with self.assertRaisesRegex(gf.InputError, "4 channels do not become 3"):
            gf.run("round=5", picture, dtype="float32", channels=3)
        for given, words in (({"mean": 0.5}, "mean= is for dtype"), ({"dtype": "float32", "layout": "CHWN"}, "none of NHWC, NCHW"),
                             ({"dtype": "float32", "channels": 1}, "neither None nor 3"),
                             ({"dtype": "float32", "channels": 3.0}, "neither None nor 3"), ({"dtype": "float32", "channels": "3"}, "neither None nor 3"), ({"dtype": "float32", "layout": ["NHWC"]}, "none of NHWC"), ({"dtype": "float64"}, "none of float32, float16, bfloat16, uint8"), ({"dtype": "uint8", "scale": 255}, "bytes have no scale"), ({"dtype": "float32", "scale": "x"}, "scale takes a positive number"), ({"dtype": "float32", "std": 0}, "deviation=0"),
                             ({"dtype": "float32", "mean": (1, 2)}, "2 numbers for 3 channels"),
                             ({"dtype": "float32", "mean": "much"}, "could not convert"), ({"dtype": "int8"}, "none of float32"),
                             ({"dtype": "float32", "mean": float("nan")}, "mean=nan of channel 0")):
            with self.assertRaisesRegex(gf.UsageError, words):
                gf.run("", picture, **given)
        with self.assertRaisesRegex(gf.UsageError, r"\[1\]: its numbers have the shape \(20, 60, 3\)"):
            gf.decode([ppm(), ppm(20)], dtype="float32")
        with self.assertRaisesRegex(gf.UsageError, "no pictures"):
            gf.decode([], dtype="float32")

    def test_what_processes_hand_to_each_other(self):
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            self.assertEqual(pool.apply(gf.decode, (ppm(), "invert")).tobytes(), inverted)
            self.assertEqual(pool.apply(gf.Pipeline("invert").decode, (ppm(),)).tobytes(), inverted)
            with self.assertRaisesRegex(gf.UsageError, "wobble") as caught:
                pool.apply(gf.decode, (ppm(), "wobble"))
            self.assertEqual(caught.exception.status, "GF_ERROR_USAGE")
            with self.assertRaises(gf.TryAgainError):
                pool.apply(gf.Pipeline().run_file, ("/no/such.png", "/no/out.png"))


if __name__ == "__main__":
    main(Arrays)
