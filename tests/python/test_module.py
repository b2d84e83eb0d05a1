"""The Python module beside the program: the same bytes, errors by their classes, threads, forks. Prints TAP."""

import os
import subprocess
import tempfile
import threading
import unittest
import warnings

import gpufilter as gf

try:
    import numpy
except ImportError:
    numpy = None
try:
    import torch
    gpu = torch.cuda.is_available() and gf.Pipeline("blur", device="cuda")
except (ImportError, gf.Error):
    torch = gpu = None
needs_numpy = unittest.skipUnless(numpy, "there is no numpy")


def ramp(height=40, width=60, channels=3):
    """Returns the samples of a picture that is not constant."""
    return bytes((x * 3 + y * 5 + c * 40 + x * y) % 256 for y in range(height) for x in range(width)
                 for c in range(channels))


def ppm(height=40, width=60):
    return b"P6\n%d %d\n255\n" % (width, height) + ramp(height, width)


def by_program(chain, data, *options):
    return subprocess.run([gf.program, "-q", "--device=cpu", "-i", "-", "-o", "-", *options, chain], input=data,
                          stdout=subprocess.PIPE, check=True).stdout


class Module(unittest.TestCase):
    def test_bytes_of_the_program(self):
        for chain in ("blur=2,equalize", "resize=50%,unsharp", "grayscale,threshold=0.5"):
            whole = by_program(chain, ppm(), "--format=png")
            self.assertEqual(gf.Pipeline(chain).run_bytes(ppm(), "png"), whole)
            self.assertEqual(gf.encode(gf.decode(ppm(), chain), "png"), whole)

    def test_every_filter_is_a_function(self):
        listed = subprocess.run([gf.program, "--list"], stdout=subprocess.PIPE, check=True).stdout.decode()
        self.assertGreater(len(gf.filters), 60)
        picture, compared = gf.decode(ppm()), 0
        for name, function in gf.filters.items():
            self.assertIn(name, listed)
            self.assertIn("Parameters:", function.__doc__)
            needed = [p for p in function.__signature__.parameters.values() if p.default is p.empty]
            if len(needed) > 2:  # besides the array and the options
                continue
            defaults = {p.name: p.default for p in function.__signature__.parameters.values()
                        if p.default not in (p.empty, None)}
            try:
                expected = gf.run(name, picture)
            except gf.UsageError:  # no filter without a parameter, such as resize
                continue
            self.assertEqual(function(picture, **defaults).tobytes(), expected.tobytes(), name)
            compared += 1
        self.assertGreater(compared, 40)

    def test_parameters_and_regions(self):
        picture = gf.decode(ppm())
        self.assertEqual(gf.blur(picture, 3, border="wrap", region="5 5 20 10").tobytes(),
                         gf.run("blur=3:border=wrap:region=5 5 20 10", picture).tobytes())
        self.assertEqual(gf.resize(picture, w="50%", h=10).shape, (10, 30, 3))
        self.assertEqual(gf.icc(picture, from_="srgb", to="srgb").tobytes(), picture.tobytes())

    def test_buffers_without_numpy(self):
        flat = memoryview(ramp()).cast("B", (40, 60, 3))
        result = gf.run("invert", flat)
        self.assertEqual((result.shape, result.bits), ((40, 60, 3), 8))
        self.assertEqual(result.tobytes(), bytes(255 - sample for sample in ramp()))

    @needs_numpy
    def test_numpy_in_numpy_out(self):
        array = numpy.frombuffer(ramp(), numpy.uint8).reshape(40, 60, 3)
        for view in (array, array[::2, 5:50], array[::-1], array[:, ::3], array[:, :, 0], array[:, :, :1]):
            expected = 255 - view.reshape(view.shape[:2] if view.shape[2:] == (1,) else view.shape)
            result = gf.run("invert", view)
            self.assertIs(type(result), numpy.ndarray)
            numpy.testing.assert_array_equal(result, expected)
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
        self.assertTrue(torch.equal(result, 255 - large))
        for wrong in (wide.cuda().float(), wide.cuda().reshape(-1), wide.cuda().int()):
            with self.assertRaises(gf.UsageError):
                gf.run("blur", wrong)
        with self.assertRaises(gf.UsageError):
            gf.Pipeline("blur", device="cpu").run(wide.cuda())
        with self.assertRaises(gf.InputError):
            gf.run("trim", wide.cuda())

    @needs_numpy
    def test_wrong_arrays(self):
        for array in (numpy.zeros((4, 4)), numpy.zeros((4, 4, 5), numpy.uint8), numpy.zeros(4, numpy.uint8),
                      numpy.zeros((4, 4), numpy.int16), numpy.zeros((4, 4), ">u2"), numpy.zeros((0, 4), numpy.uint8)):
            with self.assertRaises(gf.UsageError):
                gf.run("blur", array)

    def test_errors(self):
        picture = gf.decode(ppm())
        for call, kind, words in (
                (lambda: gf.run("wobble", picture), gf.UsageError, "wobble"),
                (lambda: gf.run("blur", picture, quality=101), gf.UsageError, "quality=101 is outside 1..100"),
                (lambda: gf.run("blur", picture, qualty=10), gf.UsageError, "no option 'qualty'"),
                (lambda: gf.run("blur", picture, codec="fast"), gf.UsageError, "auto, cpu, gpu"),
                (lambda: gf.run("blur", picture, quality="much"), gf.UsageError, "quality='much'"),
                (lambda: gf.run("blur", b"no picture"), gf.UsageError, "shape"),
                (lambda: gf.run("blur", 7), gf.UsageError, "int is no array"),
                (lambda: gf.blur(picture, sigma=-1), gf.UsageError, "sigma"),
                (lambda: gf.decode(ppm()[:100]), gf.InputError, "input: "),
                (lambda: gf.decode(b""), gf.InputError, "input: "),
                (lambda: gf.encode(picture, "gif"), gf.UsageError, "GIF is read, not written"),
                (lambda: gf.encode(picture, "tga"), gf.UsageError, "png"),
                (lambda: gf.Pipeline("blur").run_file("/no/such.png", "/no/out.png"), gf.TryAgainError, "/no/such.png")):
            with self.assertRaises(kind) as caught:
                call()
            self.assertIn(words, str(caught.exception))
        with self.assertRaisesRegex(TypeError, "blur has no parameter 'radius': it has sigma, border"):
            gf.blur(picture, radius=1)

    def test_options(self):
        picture = gf.decode(ppm())
        small, large = (len(gf.encode(picture, "jpeg", quality=q, subsampling="444")) for q in (20, 95))
        self.assertLess(small, large)
        self.assertEqual(gf.encode(picture, "png", stripped=["gps", "exif"]), gf.encode(picture, "png", stripped="exif,gps"))
        with self.assertRaises(gf.InputError):
            gf.decode(ppm(), formats=["png"])

    def test_warnings(self):
        transparent = gf.decode(b"P7\nWIDTH 1\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n" + b"abc\x80")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            gf.encode(transparent, "jpeg")
        self.assertEqual([w.category for w in caught], [gf.PictureWarning])
        self.assertIn("no alpha channel", str(caught[0].message))
        pipeline = gf.Pipeline()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with self.assertRaises(gf.PictureWarning):
                pipeline.encode(transparent, "jpeg")
            self.assertEqual(pipeline.decode(ppm()).tobytes(), ramp())  # it goes on working

    def test_threads_share_a_pipeline(self):
        pipeline, expected, wrong = gf.Pipeline("blur=2"), gf.decode(ppm(), "blur=2").tobytes(), []

        def work():
            for _ in range(20):
                if pipeline.decode(ppm()).tobytes() != expected:
                    wrong.append(1)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_a_fork_has_pipelines_of_its_own(self):
        expected = gf.run("blur=2", gf.decode(ppm())).tobytes()
        child = os.fork()
        if not child:
            os._exit(0 if gf.run("blur=2", gf.decode(ppm())).tobytes() == expected else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_no_leak(self):
        def resident():
            with open("/proc/self/statm", encoding="ascii") as file:
                return int(file.read().split()[1])

        picture, rounds = gf.decode(ppm(200, 300)), 300
        for count in range(100 + rounds):
            if count == 100:
                before = resident()
            gf.run("invert", picture)
        all_results = rounds * len(picture.tobytes()) // os.sysconf("SC_PAGESIZE")
        self.assertLess(resident() - before, all_results / 10)

    def test_batch(self):
        with tempfile.TemporaryDirectory() as folder:
            for index in range(3):
                with open(f"{folder}/{index}.ppm", "wb") as file:
                    file.write(ppm() if index < 2 else ppm()[:50])
            seen = []
            last = gf.batch([f"{folder}/0.ppm", f"{folder}/1.ppm"], f"{folder}/out/{{stem}}.png", "blur", seen.append)
            self.assertEqual((last["done"], last["failed"], sorted(os.listdir(f"{folder}/out"))), (2, 0, ["0.png", "1.png"]))
            self.assertEqual(seen[-1], last)
            with self.assertRaises(gf.InputError) as caught:
                gf.batch([folder], f"{folder}/more/", "blur", no_clobber=True)
            self.assertIn("2.ppm", str(caught.exception))


class Tap(unittest.TestResult):
    """Prints each test's result as a line of TAP."""

    def tell(self, test, word, text=""):
        print(f"{word} {self.testsRun} - python: {test.id().split('.')[-1]}{text}", flush=True)

    def addSuccess(self, test):
        self.tell(test, "ok")

    def addSkip(self, test, reason):
        self.tell(test, "ok", f" # SKIP {reason}")

    def addFailure(self, test, error):
        print("".join(f"# {line}\n" for line in self._exc_info_to_string(error, test).splitlines()))
        self.tell(test, "not ok")

    addError = addFailure


if __name__ == "__main__":
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(Module)
    number = suite.countTestCases()
    suite.run(Tap())
    print(f"1..{number}")
