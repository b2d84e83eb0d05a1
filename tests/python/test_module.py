"""The Python module beside the program: the same bytes, errors by their classes, threads, forks. Prints TAP."""

import gc
import io
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings
import weakref

import gpufilter as gf
from gpufilter import _filters, _pipelines
from gpufilter._library import lib, words_of
from support import by_program, main, ppm, ramp


TRANSPARENT = b"P7\nWIDTH 1\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\nabc\x80"


def fork():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of any thread, idle ones of the library, too
        return os.fork()


def jpeg_of_a_camera():
    """Returns a JPEG of Display P3 with EXIF of a maker, turned by 90 degrees."""
    try:
        data = by_program("icc=display-p3", ppm(), "--format=jpeg")
    except subprocess.CalledProcessError:
        raise unittest.SkipTest("this build has no Little CMS") from None
    exif = b"Exif\0\0MM\0*\0\0\0\x08\0\2\1\x0f\0\2\0\0\0\4Abc\0\1\x12\0\3\0\0\0\1\0\6\0\0\0\0\0\0"
    return data[:2] + b"\xff\xe1" + (2 + len(exif)).to_bytes(2, "big") + exif + data[2:]


class Module(unittest.TestCase):
    def test_metadata_of_the_program(self):
        data, seen = jpeg_of_a_camera(), set()
        for form in ("jpeg", "png", "tiff", "webp"):
            for chain in ("", "blur=1", "resize=50%,trim", "icc=srgb"):
                for options, kept in (({}, ()), ({"stripped": "exif"}, ["--strip=exif"]), ({"kept": "icc"}, ["--keep=icc"]),
                                      ({"stripped": "icc"}, ["--strip=icc"]), ({"stripped": words_of("gf_metadata_item")}, ["--strip"])):
                    try:
                        picture = gf.decode(data)
                        found = gf.encode(gf.run(chain, picture) if chain else picture, form, **options)
                        half = gf.encode(picture, form, chain, **options)
                    except gf.UnavailableError:  # a format or colours without their library
                        continue
                    self.assertEqual(half, by_program(chain, data, f"--format={form}", *kept), (form, chain, options))
                    # What loses its profile is converted at the end, and thus once more than by the whole chain.
                    self.assertEqual(found, gf.encode(pickle.loads(pickle.dumps(picture)), form, chain, **options)
                                     if "icc" not in options.get("stripped", ()) else found)
                    seen.add((form, b"Abc\0" in found, b"acsp" in found or b"iCCP" in found))
        self.assertLessEqual({("jpeg", True, True), ("jpeg", False, False), ("png", True, True)}, seen)

    def test_metadata_are_stripped_at_the_beginning(self):
        data = jpeg_of_a_camera()
        self.assertNotIn(b"Abc", gf.encode(gf.decode(data, stripped="exif"), "jpeg"))
        self.assertNotIn(b"Abc", gf.encode(gf.decode(data, strip=True), "jpeg"))
        self.assertIn(b"acsp", gf.encode(gf.decode(data, strip=True), "jpeg"))  # the samples are still P3's
        self.assertNotIn(b"acsp", gf.encode(gf.decode(data, "icc=srgb", strip=True, stripped="icc"), "jpeg", strip=True))
        self.assertEqual(gf.decode(data).shape, (60, 40, 3))
        flat = gf.decode(data, autorotate=False)
        self.assertEqual(gf.decode(gf.encode(flat, "jpeg")).shape, (60, 40, 3))  # the file states what the pixels are
        self.assertEqual(gf.encode(gf.decode(data).view(), "jpeg").find(b"Abc"), -1)  # an array says nothing
        file = io.BytesIO()
        gf.encode(gf.open(io.BytesIO(data)), "jpeg", file=file)
        self.assertEqual(file.getvalue(), gf.encode(gf.decode(data), "jpeg"))

    def test_bytes_of_the_program(self):
        for chain in ("blur=2,equalize", "resize=50%,unsharp", "grayscale,threshold=0.5"):
            whole = by_program(chain, ppm(), "--format=png")
            self.assertEqual(gf.Pipeline(chain).run_bytes(ppm(), "png"), whole)
            self.assertEqual(gf.encode(gf.decode(ppm(), chain), "png"), whole)
            self.assertEqual(gf.encode(gf.decode(memoryview(bytearray(ppm())), chain), "png"), whole)

    def test_every_filter_is_a_function(self):
        listed = subprocess.run([gf.program, "--list"], stdout=subprocess.PIPE, check=True).stdout.decode()
        self.assertGreater(len(gf.filters), 60)
        picture, compared = gf.decode(ppm()), 0
        for name, function in gf.filters.items():
            self.assertIn(name, listed)
            for parameter in list(function.__signature__.parameters)[1:-1]:
                self.assertIn(f"\n    {parameter}: ", function.__doc__)
            self.assertIn("\nregion, feather, variant are given by", function.__doc__)
            needed = [p for p in function.__signature__.parameters.values() if p.default is p.empty]
            if len(needed) > 2:  # besides the array and the options
                continue
            defaults = {p.name: p.default for p in function.__signature__.parameters.values()
                        if p.default not in (p.empty, None)}
            try:
                expected = gf.run(name, picture)
            except gf.UsageError:  # no filter without a parameter, such as resize
                continue
            except gf.UnavailableError:  # its library was not there when the program was built
                self.assertRaises(gf.UnavailableError, function, picture, **defaults)
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

    def test_arguments_are_found_again_by_their_types(self):
        class Typed(float):
            def __repr__(self):  # as numpy's numbers have
                return f"Typed({float(self)})"

        blur = _filters.make(lib, lambda chain, array, **options: (chain, options))["blur"]
        for _ in range(2):
            for value, text in ((1, "1"), (1.0, "1.0"), (Typed(2), "2.0"), (True, "yes"), ("1", "'1'")):
                self.assertEqual(blur(None, value), (f"blur=sigma={text}", {}))
            self.assertEqual(blur(None, 1, stripped=["gps"]), ("blur=sigma=1", {"stripped": ["gps"]}))
            for wrong in (lambda: blur(), lambda: blur(None, 1, sigma=2), lambda: blur(None, array=1)):
                self.assertRaises(TypeError, wrong)

    def test_buffers_without_numpy(self):
        flat = memoryview(ramp()).cast("B", (40, 60, 3))
        result = gf.run("invert", flat)
        self.assertEqual((result.shape, result.bits), ((40, 60, 3), 8))
        self.assertEqual(result.tobytes(), bytes(255 - sample for sample in ramp()))

    def test_errors(self):
        picture = gf.decode(ppm())
        for call, kind, words in (
                (lambda: gf.run("wobble", picture), gf.UsageError, "wobble"),
                (lambda: gf.run("blur", picture, quality=101), gf.UsageError, "quality=101 is outside 1..100"),
                (lambda: gf.run("blur", picture, qualty=10), gf.UsageError, "no option 'qualty'"),
                (lambda: gf.run("blur", picture, codec="fast"), gf.UsageError, "auto, cpu, gpu"),
                (lambda: gf.encode(picture, "jpeg", quality=90, max_bytes=9000), gf.UsageError, "quality=90 and options.max_bytes=9000 both choose"),
                (lambda: gf.run("blur", picture, quality=2**32 + 80), gf.UsageError, "quality=4294967376 is out of range"),
                (lambda: gf.run("blur", picture, max_pixels=-1), gf.UsageError, "max_pixels=-1 is out of range"),
                (lambda: gf.run("blur", picture, device="cuda:x"), gf.UsageError, "device='cuda:x'"),
                (lambda: gf.run("blur", picture, device="CUDA:2000"), gf.UsageError, "device_index=2000"),
                (lambda: gf.decode(7, device="CUDA"), TypeError, "not int 7"),  # as with "cuda", before it opens
                (lambda: gf.run("blur", picture, warn=print), gf.UsageError, "no option 'warn'"),
                (lambda: gf.run("blur", picture, formats=["png", "bmp2"]), gf.UsageError, "formats='bmp2'"),
                (lambda: gf.run("blur", picture, quality="much"), gf.UsageError, "quality takes an integer, not str 'much'"),
                (lambda: gf.run("blur", picture, autorotate="no"), gf.UsageError, "autorotate='no' is neither True nor False"),
                (lambda: gf.run("blur", picture, stripped=None), gf.UsageError, "stripped takes a number or words, not NoneType"),
                (lambda: gf.run("blur", picture, timeout_s=10**400), gf.UsageError, "too large"),
                (lambda: gf.run("blur", picture, cmyk_profile="a\0b"), gf.UsageError, "cmyk_profile='a\\x00b' has a zero byte"),
                (lambda: gf.run("blur\0,invert", picture), gf.UsageError, "has a zero byte"),
                (lambda: gf.run(picture, "blur"), gf.UsageError, "chain takes a text as 'blur=2,equalize', which stands before the picture, not Image"),
                (lambda: gf.run("blur", b"no picture"), gf.UsageError, "shape"),
                (lambda: gf.run("blur", 7), TypeError, "a picture takes an Image, an array"),
                (lambda: gf.blur(picture, sigma=-1), gf.UsageError, "sigma"),
                (lambda: gf.decode(ppm()[:100]), gf.InputError, "input: "),
                (lambda: gf.decode(b""), gf.InputError, "input: "),
                (lambda: gf.decode("photo.jpg"), TypeError, "open() reads a name, not str 'photo.jpg'"),
                (lambda: gf.decode(["photo.jpg"]), TypeError, "[0]: decode() takes the bytes"),
                (lambda: gf.decode(7), TypeError, "not int 7"),
                (lambda: gf.Pipeline().run_bytes(None), TypeError, "not NoneType"),
                (lambda: gf.encode([7, 8]), TypeError, "[0]: a picture takes"),
                (lambda: gf.encode(picture, "heic"), gf.UsageError, "HEIC is read, not written"),
                (lambda: gf.encode(picture, "tga"), gf.UsageError, "png"),
                (lambda: gf.Pipeline("blur").run_file("/no/such.png", "/no/out.png"), gf.TryAgainError, "/no/such.png"),
                (lambda: gf.Pipeline("blur").run_file(__file__, "/no/a\0b"), gf.UsageError, "output='/no/a\\x00b' has a zero byte"),
                (lambda: gf.open(__file__), gf.InputError, f"{__file__}: not a picture"),
                (lambda: gf.decode([ppm()], workers=-1), gf.UsageError, "workers=-1 is no number of threads"),
                (lambda: gf.encode([picture], workers="2"), gf.UsageError, "workers='2' is no number of threads")):
            with self.assertRaises(kind) as caught:
                call()
            self.assertIn(words, str(caught.exception))
        with self.assertRaisesRegex(TypeError, "blur has no parameter 'radius': it has sigma, border"):
            gf.blur(picture, radius=1)

    def test_types_of_arguments(self):
        picture = gf.decode(ppm())
        for call, words in ((lambda: gf.overlay(picture, 7), "overlay: .* takes str, bytes or os.PathLike, an Image or an array, not int 7"),
                            (lambda: gf.mask(picture, bytearray(b"m.png")), "mask: .* not bytearray"),
                            (lambda: gf.blur(picture, [1]), r"blur: sigma takes one number or a text, not list \[1\]"),
                            (lambda: gf.blur(picture, object()), "not object"),
                            (lambda: gf.pad(picture, 9, 9, colour=(255, 0)), r"three numbers of 0..255, not tuple \(255, 0\)"),
                            (lambda: gf.pad(picture, 9, 9, colour=(256, 0, 0)), "three numbers of 0..255"),
                            (lambda: gf.invert(picture, region=(1, 2, 3)), r"X, Y, WIDTH, HEIGHT, .* not tuple \(1, 2, 3\)"),
                            (lambda: gf.convolve(picture, [[1, "a"]]), "an array of numbers, not list")):
            with self.assertRaisesRegex(gf.UsageError, words):
                call()
        with self.assertRaisesRegex(gf.TryAgainError, "no-such-file"):
            gf.overlay(picture, b"no-such-file")
        for found, chain in ((gf.convolve(picture, [[0, .5, 1]]), "convolve=0 .5 1"),
                             (gf.pad(picture, 70, 70, colour=(255, 0, 16)), "pad=70:70:colour=#ff0010"),
                             (gf.invert(picture, region=(1, 2, 30, 4)), "invert:region=1 2 30 4"),
                             (gf.invert(picture, region=[(1, 2, 3, 4), (9, 9, 5, 5)]), "invert:region=1 2 3 4/9 9 5 5")):
            self.assertEqual(found.tobytes(), gf.run(chain.replace("invert:", "invert="), picture).tobytes(), chain)

    def test_an_argument_that_changes(self):
        class Size:
            text = "20"

            def __fspath__(self):
                return self.text

        size, picture = Size(), gf.decode(ppm())
        self.assertEqual(gf.resize(picture, size).shape, gf.resize(picture, "20").shape)
        size.text = "30"
        self.assertEqual(gf.resize(picture, size).shape, gf.resize(picture, "30").shape)

    def test_paths_as_arguments(self):
        class Place:
            def __fspath__(self):
                return "/no/such.cube"

        with self.assertRaisesRegex(gf.TryAgainError, "lut: /no/such.cube: "):
            gf.lut(gf.decode(ppm()), Place())

    def test_files_that_change(self):
        picture, here = gf.decode(ppm()), os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            try:
                os.chdir(folder)
                for chain in ("overlay=it.pnm", "invert:region=it.pnm", "mask=it.pnm"):
                    results = []
                    for content in (b"P5 1 1 255\n\0", b"P5  1 1 255\n\xff"):  # of two sizes: both may have one time
                        with open("it.pnm", "wb") as file:
                            file.write(content)
                        results.append(gf.run(chain, picture).tobytes())
                        self.assertEqual(results[-1], gf.Pipeline(chain).run(picture).tobytes())
                    self.assertNotEqual(*results)
                    os.mkdir("elsewhere")
                    os.chdir("elsewhere")
                    self.assertRaises(gf.TryAgainError, gf.run, chain, picture)
                    os.chdir(folder)
                    os.rmdir("elsewhere")
            finally:
                os.chdir(here)
        self.assertIs(_pipelines._kept("blur:region=5 5 20 10", {}), _pipelines._kept("blur:region=5 5 20 10", {}))
        with tempfile.NamedTemporaryFile() as file:
            chain = f"mask={file.name}"
            file.write(b"P5 1 1 255\n\0")
            file.flush()
            self.assertIsNot(_pipelines._kept(chain, {}), _pipelines._kept(chain, {}))
            while lib.gf_chain_stamp(chain.encode()) == 0:  # until the file has rested
                time.sleep(0.1)
            kept = _pipelines._kept(chain, {})
            self.assertIs(kept, _pipelines._kept(chain, {}))
            file.write(b"P5 1 1 255\n\xff")
            file.flush()
            self.assertIsNot(kept, _pipelines._kept(chain, {}))

    def test_options_that_change(self):
        data = gf.encode(gf.decode(ppm()), "jpeg")
        data = data[:2] + b"\xff\xfe\0\x08secret" + data[2:]
        self.assertIn(b"secret", gf.Pipeline().run_bytes(data))
        words = ["comments"]
        for given in (words, iter(["comments"])):
            pipeline, inner = gf.Pipeline("blur", stripped=given, device="cpu"), []
            words.clear()
            pipeline.run_bytes(data, progress=lambda part: inner.append(pipeline.run_bytes(data)))  # of another handle
            self.assertEqual({b"secret" in result for result in inner}, {False})
        self.assertNotIn(b"secret", pickle.loads(pickle.dumps(pipeline)).run_bytes(data))

    def test_options_are_kept_by_their_values(self):
        class Word(str):
            __hash__, __eq__ = lambda self: 1, lambda self, other: True

        class Time:
            seconds = 1000

            def __float__(self):
                return float(self.seconds)

        picture, time = gf.decode(ppm()), Time()
        gf.run("invert", picture, timeout_s=time)
        time.seconds = -1
        with self.assertRaisesRegex(gf.UsageError, "timeout_s=-1"):
            gf.run("invert", picture, timeout_s=time)
        gf.run("invert", picture, device=Word("cpu"))
        with self.assertRaisesRegex(gf.UsageError, "device='gpu'"):
            gf.run("invert", picture, device=Word("gpu"))
        gf.encode(picture, "jpeg", quality=1)
        with self.assertRaisesRegex(gf.UsageError, "quality takes an integer, not float 1.0"):
            gf.encode(picture, "jpeg", quality=1.0)

    def test_options(self):
        picture = gf.decode(ppm())
        small, large = (len(gf.encode(picture, "jpeg", quality=q, subsampling="444")) for q in (20, 95))
        self.assertLess(small, large)
        self.assertEqual(gf.encode(picture, "png", stripped=["gps", "exif"]), gf.encode(picture, "png", stripped="exif,gps"))
        with self.assertRaises(gf.InputError):
            gf.decode(ppm(), formats=["png"])
        for options in ({"host_memory": "pinned"}, {"transfer": "zero_copy"}, {"gain_map": "keep"}, {"formats": "pnm"}, {"kept": {"gps"}}, {"yuv": "bt709"}):
            gf.decode(ppm(), **options)

    def test_warnings(self):
        transparent = gf.decode(TRANSPARENT)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            gf.encode(transparent, "jpeg")
        self.assertEqual([w.category for w in caught], [gf.PictureWarning])
        self.assertIn("no alpha channel", str(caught[0].message))
        self.assertEqual(caught[0].filename, __file__)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")  # once for each line
            gf.encode(transparent, "jpeg")
            gf.Pipeline().encode(transparent, "jpeg")
        self.assertEqual(len(caught), 2)
        pipeline = gf.Pipeline()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with self.assertRaises(gf.PictureWarning):
                pipeline.encode(transparent, "jpeg")
            self.assertEqual(pipeline.decode(ppm()).tobytes(), ramp())  # it goes on working

    def test_progress(self):
        pipeline, seen, large = gf.Pipeline("blur=2", band_rows=50, device="cpu"), [], ppm(1000)

        def stop(part):
            if part >= 0.1:
                raise KeyError(part)

        picture = pipeline.decode(large, progress=seen.append)
        self.assertEqual((sorted(seen), seen[-1]), (seen, 1))
        self.assertGreater(len(seen), 3)
        for call in (lambda progress: pipeline.run(picture, progress=progress), lambda progress: pipeline.decode(large, progress=progress),
                     lambda progress: pipeline.encode(picture, progress=progress),
                     lambda progress: pipeline.run_bytes(large, progress=progress)):
            seen.clear()
            first = call(seen.append)
            self.assertEqual(seen[-1], 1)
            with self.assertRaises(KeyError):
                call(stop)
            again = call(None)
            self.assertEqual(*(each if isinstance(each, bytes) else each.tobytes() for each in (first, again)))
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/in.ppm", "wb") as file:
                file.write(large)
            with self.assertRaises(KeyError):
                pipeline.run_file(f"{folder}/in.ppm", f"{folder}/out.png", progress=stop)
            self.assertEqual(os.listdir(folder), ["in.ppm"])

    def test_a_failed_list_ends_no_other_call(self):
        picture, ended = ppm(400, 600), threading.Event()

        def fail():
            while not ended.is_set():
                with self.assertRaises(gf.InputError):
                    gf.decode([b"bad", b"bad"], "blur=20", workers=2)

        other = threading.Thread(target=fail)
        other.start()
        try:
            for _ in range(8):
                self.assertEqual(len(gf.decode([picture, picture], "blur=20", workers=2)), 2)
        finally:
            ended.set()
            other.join()

    def test_signals_during_a_call(self):
        def ring(*_):
            raise KeyError("the alarm")

        def soon(*_):
            if not seen:
                signal.setitimer(signal.ITIMER_REAL, 0.001)  # while the library works
            seen.append(1)

        class File(io.BytesIO):
            def read(self, size):
                soon()
                return super().read(min(size, 5000))

        pipeline, large = gf.Pipeline("nlmeans", device="cpu", serial=True, band_rows=10), ppm(200, 60)
        begin = time.monotonic()
        pipeline.decode(ppm(500, 1000))
        whole = time.monotonic() - begin
        picture, before = gf.decode(large), signal.signal(signal.SIGALRM, ring)
        try:
            for large_call in (lambda wide: pipeline.run(wide), lambda wide: pipeline.encode(wide), lambda wide: pipeline.decode(files[0]),
                               lambda wide: gf.decode(files * 2, "nlmeans", device="cpu", workers=2, band_rows=10)):
                wide = gf.decode(ppm(500, 1000))
                files, begin = [gf.encode(wide, "pnm")], time.monotonic()
                signal.setitimer(signal.ITIMER_REAL, 0.05)
                with self.assertRaisesRegex(KeyError, "the alarm"):
                    large_call(wide)
                self.assertLess(time.monotonic() - begin, 0.7 * whole)  # it ends soon
            for call in (lambda: pipeline.run(picture, progress=soon), lambda: pipeline.decode(File(large)),
                         lambda: pipeline.run_bytes(File(large), "pnm", file=io.BytesIO())):
                seen = []
                with self.assertRaisesRegex(KeyError, "the alarm"):
                    call()
        finally:
            signal.signal(signal.SIGALRM, before)

    def test_a_picture_that_was_not_made(self):
        lost, before = [], sys.unraisablehook
        sys.unraisablehook = lost.append
        try:
            self.assertRaises(TypeError, gf.Image)
        finally:
            sys.unraisablehook = before
        self.assertEqual(lost, [])

    def test_a_pipeline_is_closed_with_its_last_reference(self):
        gc.disable()
        try:
            self.assertIsNone(weakref.ref(gf.Pipeline("blur")._idle[0])())
        finally:
            gc.enable()

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

    def test_lists_on_several_threads(self):
        files = [ppm(10 + number, 60) for number in range(40)]
        expected = [gf.decode(file, "blur=2").tobytes() for file in files]
        for workers in (None, 1, 2, 7, 100):
            pictures = gf.decode(files, "blur=2", workers=workers)
            self.assertEqual([picture.tobytes() for picture in pictures], expected)
            coded = gf.encode(pictures, "jpeg", workers=workers, quality=70)
            self.assertEqual(coded, [gf.encode(picture, "jpeg", quality=70) for picture in pictures])
        self.assertEqual((gf.decode([]), gf.encode([]), len(gf.decode(iter(files[:3])))), ([], [], 3))
        for workers in (1, 4):
            with self.assertRaisesRegex(gf.InputError, r"^\[7\]: input: "):
                gf.decode(files[:7] + [b"no picture"] + files, workers=workers)
        with self.assertRaisesRegex(gf.UsageError, r"^there is no option 'sigma'"):
            gf.decode(files, sigma=1)

    def test_a_fork_has_pipelines_of_its_own(self):
        expected = gf.run("blur=2", gf.decode(ppm())).tobytes()
        child = fork()
        if not child:
            os._exit(0 if gf.run("blur=2", gf.decode(ppm())).tobytes() == expected else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_a_fork_has_cells_of_its_own(self):
        files = [gf.encode(gf.decode(ppm(height, 300)), "png") for height in (300, 310)]
        try:
            pipeline = gf.Pipeline(sandbox="all")
            expected = [pipeline.decode(file).tobytes() for file in files]
        except gf.UnavailableError as why:
            self.skipTest(why)

        def wrong(which):
            return sum(pipeline.decode(files[which]).tobytes() != expected[which] for _ in range(50))

        child = fork()
        if not child:
            try:
                os._exit(min(wrong(1), 1))
            finally:
                os._exit(2)
        self.assertEqual((wrong(0), os.waitpid(child, 0)[1]), (0, 0))

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
            self.assertEqual(gf.batch(f"{folder}/0.ppm", f"{folder}/one.jpg", workers=1, quality=60)["done"], 1)
            with self.assertWarnsRegex(gf.PictureWarning, "no alpha channel"):
                with open(f"{folder}/clear.pam", "wb") as file:
                    file.write(TRANSPARENT)
                gf.batch([f"{folder}/clear.pam"], f"{folder}/clear.jpg")
            with self.assertRaises(gf.InputError) as caught:
                gf.batch([folder], f"{folder}/more/", "blur", no_clobber=True)
            self.assertIn("2.ppm", str(caught.exception))
            with self.assertRaisesRegex(gf.TryAgainError, "one.jpg: is there already"):
                gf.batch(f"{folder}/0.ppm", f"{folder}/one.jpg", clobber=False)
            self.assertEqual(gf.batch(f"{folder}/0.ppm", f"{folder}/one.jpg", autorotate=True)["done"], 1)
            with self.assertRaisesRegex(gf.UsageError, "unknown filter '--list'"):
                gf.batch(f"{folder}/0.ppm".encode(), f"{folder}/two.jpg", "--list")
            for wrong, words in (({"workers": 5000}, "--threads=5000"), ({"no_such": 1}, "--no-such")):
                with self.assertRaisesRegex(gf.UsageError, words):
                    gf.batch([folder], f"{folder}/less/", **wrong)

    def test_a_batch_ends_with_an_exception_of_its_progress(self):
        def stop(line):
            raise KeyError(line["done"])

        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/in.ppm", "wb") as file:
                file.write(ppm(600, 600))
            with self.assertRaises(KeyError):
                gf.batch([f"{folder}/in.ppm"], f"{folder}/out/", "nlmeans", stop)


if __name__ == "__main__":
    main(Module)
