"""File objects as inputs and outputs: any read() and write(), threads, exceptions. Prints TAP."""

import gc
import io
import mmap
import os
import tempfile
import threading
import weakref
import unittest

import gpufilter as gf
from support import main, ppm


class Slow(io.RawIOBase):
    """A file without a buffer that gives and takes a few bytes at a time, and fails at a byte."""

    def __init__(self, data=b"", most=1000, fails_at=None, failure=OSError("the line is cut")):
        self.data, self.most, self.fails_at, self.failure, self.done, self.threads = data, most, fails_at, failure, 0, set()

    def read(self, size=-1):
        self.threads.add(threading.get_ident())
        if self.fails_at is not None and self.done >= self.fails_at:
            raise self.failure
        part = self.data[self.done:self.done + min(size, self.most)]
        self.done += len(part)
        return part

    def write(self, data):
        if self.fails_at is not None and self.done >= self.fails_at:
            raise self.failure
        taken = bytes(data[:self.most])
        self.data, self.done = self.data + taken, self.done + len(taken)
        return len(taken)


class Only:
    """What has one method and nothing else."""

    def __init__(self, **methods):
        vars(self).update(methods)


class Streams(unittest.TestCase):
    def setUp(self):
        self.picture = gf.decode(ppm(300, 400))
        self.files = [gf.encode(self.picture, kind) for kind in ("png", "jpeg", "qoi", "pnm")]

    def test_reading(self):
        for data in self.files:
            expected = gf.decode(data, "blur=2").tobytes()
            for source in (io.BytesIO(data), Slow(data), Slow(data, 7), Only(read=io.BytesIO(data).read), io.BytesIO(data + b"\n")):
                self.assertEqual(gf.open(source, "blur=2").tobytes(), expected)
            self.assertEqual(gf.decode(Slow(data), "blur=2", device="cpu").tobytes(), expected)
            self.assertEqual(gf.Pipeline("blur=2", lanes=3, band_rows=20).decode(Slow(data)).tobytes(), expected)
        several = gf.decode([Slow(self.files[0]), self.files[1], io.BytesIO(self.files[2])], workers=3)
        self.assertEqual([picture.shape for picture in several], 3 * [self.picture.shape])
        numbers = gf.open(io.BytesIO(self.files[0]), dtype="float32")
        self.assertEqual(numbers.shape, self.picture.shape)

    def test_files_and_mappings(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/a.png", "wb") as file:
                gf.encode(self.picture, "png", file=file)
            for mode in (-1, 0):
                with open(f"{folder}/a.png", "rb", buffering=mode) as file:
                    self.assertEqual(gf.open(file).tobytes(), self.picture.tobytes())
            with open(f"{folder}/a.png", "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
                self.assertEqual(gf.decode(mapped).tobytes(), self.picture.tobytes())
            with open(f"{folder}/a.png", encoding="latin-1") as text, self.assertRaises(TypeError):
                gf.open(text)

    def test_writing(self):
        for kind in ("png", "jpeg"):
            expected = gf.encode(self.picture, kind, "invert")
            for target in (io.BytesIO(), Slow()):
                self.assertIsNone(gf.encode(self.picture, kind, "invert", file=target))
                self.assertEqual(target.data if isinstance(target, Slow) else target.getvalue(), expected)
            pieces = []
            gf.encode(self.picture, kind, "invert", file=Only(write=pieces.append))
            self.assertEqual(b"".join(pieces), expected)
        pipeline, large = gf.Pipeline("hflip"), ppm(1000, 1000)
        for source, target in ((Slow(large, 10**6), io.BytesIO()), (large, io.BytesIO()), (Slow(large, 10**6), None)):
            written = pipeline.run_bytes(source, "png", file=target)
            self.assertEqual(target.getvalue() if target else written, pipeline.run_bytes(large, "png"))
        with self.assertRaisesRegex(gf.UsageError, "file= takes one picture"):
            gf.encode([self.picture], file=io.BytesIO())

    def test_exceptions_come_out(self):
        failures = OSError(5, "the line is cut"), KeyboardInterrupt(), ZeroDivisionError("why not")
        for failure in failures:
            for data in self.files:
                for place in (0, 100, len(data) // 2):
                    for options in ({}, {"allow_truncated": True}, {"serial": True}):
                        source, target = Slow(data, 50, place, failure), io.BytesIO()
                        with self.assertRaises(type(failure)) as caught:
                            gf.open(source, "blur", **options)
                        self.assertIs(caught.exception, failure)
                        self.assertIsNone(failure.__context__)
                        with self.assertRaises(type(failure)) as caught:
                            gf.Pipeline("blur", **options).run_bytes(Slow(data, 50, place, failure), "png", file=target)
                        self.assertIs(caught.exception, failure)
                        self.assertEqual(target.getvalue(), b"")
            with self.assertRaises(type(failure)) as caught:
                gf.encode(self.picture, "png", file=Slow(fails_at=500, failure=failure))
            self.assertIs(caught.exception, failure)
        for read in (lambda size: "text", lambda size: 7):
            with self.assertRaises(TypeError):
                gf.open(Only(read=read))
        with self.assertRaisesRegex(ValueError, r"read\(\d+\) has given 2000000 bytes"):
            gf.open(Only(read=lambda size: bytes(2000000)))
        with self.assertRaisesRegex(BlockingIOError, "no bytes"):
            gf.encode(self.picture, file=Slow(most=0))

    def test_what_is_no_file_of_bytes(self):
        with self.assertRaisesRegex(BlockingIOError, "no bytes"):
            gf.open(Only(read=lambda size: None))
        with self.assertRaisesRegex(TypeError, "binary mode"):
            gf.open(io.StringIO("text"))

        class Path(os.PathLike):
            def read(self, mode="r"):
                raise AssertionError("a path is opened, not read")

            def __fspath__(self):
                return __file__

        with self.assertRaises(gf.InputError):
            gf.open(Path())

    def test_a_file_goes_with_its_last_reference(self):
        gc.disable()
        try:
            source, target = io.BytesIO(self.files[0]), io.BytesIO()
            gone = [weakref.ref(source), weakref.ref(target)]
            gf.decode(source)
            gf.encode(self.picture, file=target)
            del source, target
            self.assertEqual([each() for each in gone], [None, None])
        finally:
            gc.enable()

    def test_nothing_is_read_after_a_picture(self):
        """A server that keeps the line open after one picture."""
        def read(size, file=Slow(self.files[0])):
            data = file.read(size)
            if not data:
                raise AssertionError("read after the picture's end")
            return data

        self.assertTrue(gf.Pipeline().run_bytes(Only(read=read), "png"))

    def test_bad_pictures(self):
        target = io.BytesIO()
        for source in (io.BytesIO(), Slow(b"no picture"), Slow(self.files[0][:-1000])):
            with self.assertRaisesRegex(gf.InputError, "^input: "):
                gf.open(source)
            with self.assertRaises(gf.InputError):
                gf.Pipeline().run_bytes(source, file=target)
        with self.assertRaises(gf.UsageError):
            gf.encode(self.picture, "heic", file=target)
        self.assertEqual(target.getvalue(), b"")

    def test_other_threads_run_meanwhile(self):
        """read() waits for a thread that could not run if the call kept Python's lock."""
        go, data = threading.Event(), self.files[0]

        def read(size, file=Slow(data)):
            if file.done > len(data) // 2 and not go.is_set():
                threading.Timer(0.01, go.set).start()
                self.assertTrue(go.wait(20))
            return file.read(size)

        self.assertEqual(gf.open(Only(read=read)).tobytes(), self.picture.tobytes())
        pipeline, wrong = gf.Pipeline("blur"), []
        expected = pipeline.decode(data).tobytes()

        def work():
            for _ in range(5):
                if pipeline.decode(Slow(data)).tobytes() != expected:
                    wrong.append(1)

        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_no_leak(self):
        def resident():
            gc.collect()
            with open("/proc/self/statm", encoding="ascii") as file:
                return int(file.read().split()[1])

        for count in range(150):
            if count == 50:
                before = resident()
            gf.open(Slow(self.files[3], 10**6))
            with self.assertRaises(OSError):
                gf.open(Slow(self.files[3], 10**5, 300000))
        self.assertLess(resident() - before, 20 * len(self.files[3]) // os.sysconf("SC_PAGESIZE"))


if __name__ == "__main__":
    main(Streams)
