"""Pipelines, and the functions that keep some of them open: run(), decode(), encode(), open(), save()."""

import builtins
import collections
import concurrent.futures
import ctypes as _c
import functools
import io
import math
import operator
import os
import re
import tempfile
import threading
import time

from . import _abi, _batches, _device, _pictures, _streams
from ._library import are_lasting, check, Error, error, lasting, lib, make_options, number_of, text_of, usage, warn, words_of, wrong_type
from ._streams import can_read, interruptible, is_buffer, LONG as _LONG, watched


_process = os.getpid()
_SOON = 0.02  # seconds that a call may take without another thread
_UNPACKED = 64  # as many bytes of pixels may a byte of a file have
_SLOW = 16  # as many times longer may an encoder take than a filter


def _note_fork():
    global _process
    _process = os.getpid()


os.register_at_fork(after_in_child=_note_fork)


class _Handle:
    """A pipeline of the library, which serves one call at a time."""

    def __init__(self, chain, options):
        self.process = _process
        self.pace = float("inf")  # seconds of the last call for a byte of its pixels
        self.left = False  # a thread is within a call of it that nobody waits for
        self.texts = texts = []
        self.options = make_options(options)
        kind = dict(_abi.gf_options._fields_)["warn"]
        # Without self, so that no cycle of references keeps its threads and memory until Python searches for cycles.
        self.options.warn = self.keep = kind(lambda _, text: texts.append(text.decode(errors="replace")))
        self.pipeline = _c.POINTER(_abi.gf_pipeline)()
        self.failure = _abi.gf_error()
        check(lib.gf_pipeline_open(text_of(chain, "chain"), _c.byref(self.options), _c.byref(self.pipeline),
                                   _c.byref(self.failure)), self.failure)
        self.address, self.failure_at = _c.addressof(self.pipeline.contents), _c.addressof(self.failure)
        self.forms = {}  # of arrays in a device's memory

    def __del__(self):
        if getattr(self, "pipeline", None) and self.process == os.getpid():  # a parent's threads are not in its child
            lib.gf_pipeline_close(self.pipeline)


def _text_of_chain(chain):
    if not isinstance(chain, (str, bytes, os.PathLike)):
        raise wrong_type("chain", "a text as 'blur=2,equalize', which stands before the picture", chain)
    return os.fsdecode(text_of(chain, "chain"))


class _Freed:
    """Memory of a call that was left, which is freed with the thread of that call."""

    def __init__(self, free, memory):
        self._free, self._memory = free, memory

    def __del__(self):
        self._free(self._memory)


class Pipeline:
    """A chain of filters that is opened once and run on any number of pictures, by any number of threads.

    chain: as on the command line, "blur=2,equalize"; "" changes nothing.
    options: the members of struct gf_options.
    """

    def __init__(self, chain="", **options):
        self._chain = _text_of_chain(chain)
        self._options = {name: lasting(name, value) for name, value in options.items()}  # calls at the same time open it again
        self._idle = collections.deque()  # its operations are atomic: no lock that a fork could find taken
        self._busy = {}  # handles within a call: the thread that calls
        self._give_back(self._take())  # wrong chains and options are told at once

    def __reduce__(self):  # each process opens its own
        return functools.partial(Pipeline, self._chain, **self._options), ()

    def __repr__(self):
        options = "".join(f", {name}={value!r}" for name, value in self._options.items())
        return f"gpufilter.Pipeline({self._chain!r}{options})"

    def _take(self):
        while self._idle:
            try:
                handle = self._idle.pop()
            except IndexError:  # another thread was faster
                break
            if handle.process == _process:
                return handle
        return _Handle(self._chain, self._options)

    def _give_back(self, handle):
        texts = ()
        if handle.texts:
            texts, handle.texts[:] = list(handle.texts), []
        self._idle.append(handle)
        for text in texts:
            warn(text)

    def _call(self, function, *arguments, size=_LONG, given=None, kept=None, left=None, progress=None, streams=None):
        """Calls a function of the library, and returns the metadata of a result in memory.

        size: the bytes of the pixels, as far as they are known; a call for few of them ends soon, if the last one did. given: the picture in memory.
        kept: what owns the memory of the arguments. left: a list, to which True is added if the call goes on in its thread, which keeps it.
        """
        handle, failure = self._take(), _abi.gf_error()
        self._busy[handle] = threading.get_ident()
        if streams:
            function = streams.around(function)
        if size >= _LONG or size * handle.pace > _SOON:
            function = functools.partial(interruptible, handle, function, (given, kept, left, streams))
        metadata, begin = getattr(given, "_metadata", None), time.perf_counter()
        try:
            if metadata:
                lib.gf_pipeline_give_metadata(handle.pipeline, metadata.pointer)
            with watched(handle, progress):
                status = function(handle.pipeline, *arguments, _c.byref(failure))
            taken = lib.gf_pipeline_take_metadata(handle.pipeline)
            handle.pace = (time.perf_counter() - begin) / max(size, 1)
        finally:
            self._busy.pop(handle, None)
            if handle.left and left is not None:
                left.append(True)
            if not handle.left:
                if metadata:
                    lib.gf_pipeline_give_metadata(handle.pipeline, None)
                self._give_back(handle)
        taken = _pictures.Metadata(taken) if taken else None
        if streams and streams.raised:
            raise streams.raised.pop(0)
        check(status, failure)
        return taken

    def _cancel(self, threads):
        """Ends the calls that are in progress in these threads."""
        for handle, thread in list(self._busy.items()):
            if thread in threads:
                lib.gf_pipeline_cancel(handle.pipeline)

    def run(self, array, *, dtype=None, layout=None, channels=None, mean=None, std=None, scale=None, value_range=None, progress=None):
        """Filters a picture: takes arrays of numpy, torch, jax and Pillow, of whatever speaks DLPack, Images and buffers,
        and returns the same kind, or an Image for a buffer and for what it does not know.

        Arrays of torch and cupy may lie in the memory of the pipeline's CUDA device (device="cuda:0"): nothing is copied
        unless rows begin at addresses that are no multiples of 16. The call queues its work on the current stream and returns, as
        calls of torch do; with progress, and where a filter needs a histogram (equalize), it waits. One Pipeline's calls follow
        each other on the device. A DeviceImage, and a list of them, gives such images, when they are complete.

        An array of numpy, torch, jax or cupy may also have the shape (pictures, rows, columns, channels). So has the result, whose
        pictures must have one size. A list of arrays gives a list. Small ones of one shape in a device's memory are filtered together: 64 of 256x256 take
        little longer than one.

        Arrays of float16, bfloat16, float32 and, by way of float32, float64 are filtered as samples of 16 bits: the nearest to
        65535 (v - black) / (white - black), to even ones between two, limited to 0..65535. value_range=(black, white) is (0, 1) by
        default; numbers far outside are an error, for which a call waits in a device's memory. The result has the array's type and range.
        With value_range="float" they stay as they are, as behind the filter float: float16 and float32 without a copy, others as float32. The
        result has the array's type, unless the chain makes integers. In a device's memory filters without kernels for floats are an error.

        dtype: "float32", "float16", "bfloat16" or "uint8", or such a type of numpy, torch or jax: what networks take,
        (sample * scale / largest - mean) / std, rounded to the nearest number of the type; scale is 1 by default, mean and std are
        numbers, or one for each channel. channels=3 takes a gray picture as one of three channels. The result has the shape
        (rows, columns, channels), or with layout="NCHW" (channels, rows, columns), and is an array of torch, jax or numpy, without
        numpy a memoryview.

        progress: a function that gets the part that is done, 0..1, after each band of rows, in any thread; an exception in it
        ends the call.
        """
        return self._run(array, _batches.form_of(dtype, layout, channels, mean, std, scale), value_range, progress)

    def _run(self, array, form, value_range=None, progress=None):
        if isinstance(array, (list, tuple)) and not (array and _device.has(array[0])):
            return [self._run(each, form, value_range, progress) for each in array]
        if isinstance(array, (list, tuple)) or _device.has(array):
            return self._run_on_device(array, form, value_range, progress)
        several = _pictures.several(array)
        if several:
            return _pictures.stack([self._run(each, form, value_range, progress) for each in several])
        picture, owner = _pictures.picture(array, value_range)
        result = self._image_of(lib.gf_pipeline_run_image, _c.byref(picture), size=_size(picture), given=array, kept=owner, progress=progress)
        form = form or _batches.form_like(array, value_range, result)
        return form.of(result, array) if form else _pictures.like(array, result)

    def _run_on_device(self, array, form=None, value_range=None, progress=None):
        several = isinstance(array, (list, tuple))
        first = array[0] if several else array
        if value_range is None and not _device.is_float(first):
            return _batches.floats_like(self, self._filter_on_device(array, progress), form)
        given = array if several else [array]
        samples = [_device.samples_of(self, each, value_range) for each in given]
        stays = (value_range,) if _pictures.stays_floats(value_range) else ()
        results = self._filter_on_device(samples if several else samples[0], progress, *stays)
        if form:
            return _batches.floats_like(self, results, form)
        results = [_batches.floats_like(self, result, _batches.form_like(each, value_range, result)) for each, result in zip(
            given, results if several else [results])]
        return results if several else results[0]

    def _filter_on_device(self, array, progress, *value_range):
        several = isinstance(array, (list, tuple))
        run = _device.run_list if several else _device.run
        handle, run = self._take(), _batches.run if isinstance(array[0] if several else array, _batches.DeviceImage) else run
        try:
            if not progress:
                return run(handle, array, *value_range)
            with watched(handle, progress):
                return run(handle, array, *value_range)
        finally:
            self._give_back(handle)

    def _queue(self, package, array, number):
        """Queues the filters on one array of a package, which is known to lie on the device of that number: less to ask takes less time."""
        handle = self._take()
        try:
            return _device.queue(handle, package, array, number)
        finally:
            self._give_back(handle)

    def decode(self, data, *, dtype=None, layout=None, channels=None, mean=None, std=None, scale=None, progress=None):
        """Filters the picture in the bytes of a file, and returns an Image, or numbers as run() does.

        data: bytes, or an object whose read() gives them, as an open file or an answer of a server has. Any thread may call it;
        it is asked for more bytes than the picture needs, though not again behind a PNM, PNG, JPEG or QOI that is complete. An
        exception in it ends the call, and comes out.
        """
        form = _batches.form_of(dtype, layout, channels, mean, std, scale)
        if can_read(data):
            streams = _streams.Streams()
            image = self._image_of(lib.gf_pipeline_decode_from, streams.reader(data), progress=progress, streams=streams)
        else:
            data = _bytes(data)
            image = self._image_of(lib.gf_pipeline_decode, data, len(data), size=_UNPACKED * len(data), progress=progress)
        return form.of(image, image) if form else image

    def encode(self, array, format="auto", *, file=None, views=False, value_range=None, progress=None):
        """Filters a picture, which may be of floats as those of run(), and returns the bytes of a file of that format: "png", "jpeg", "webp". "auto" is PNG.

        file: an object whose write() takes the bytes instead, in pieces, when all of them are there.
        views: memoryviews instead of bytes, for arrays in a device's memory: of memory that is used again when nothing refers to
        a call's results any more. New memory for bytes takes longer than encoding them.
        """
        kind = number_of("gf_file_format", format, "format")
        if _pictures.on_device(array):
            data = _batches.encode(self, [array], kind, views, value_range, lambda handle: watched(handle, progress))[0]
            return data if file is None else _streams.write(file, data)
        picture, owner = _pictures.picture(array, value_range)
        if file is None:
            return self._bytes_of(lib.gf_pipeline_encode, _c.byref(picture), kind, size=_SLOW * _size(picture), given=array,
                                  kept=owner, views=views, progress=progress)
        streams = _streams.Streams()
        self._call(lib.gf_pipeline_encode_to, _c.byref(picture), kind, streams.writer(file), given=array, kept=owner, progress=progress,
                   streams=streams)
        return None

    def run_bytes(self, data, format="auto", *, file=None, progress=None):
        """Filters the bytes of a file to the bytes of a file; "auto" is the format of the input.

        data and file may be file objects, as those of decode() and encode().
        """
        kind = number_of("gf_file_format", format, "format")
        if file is None and not can_read(data):
            data = _bytes(data)
            return self._bytes_of(lib.gf_pipeline_run_bytes, data, len(data), kind, size=_UNPACKED * len(data), progress=progress)
        streams, target = _streams.Streams(), io.BytesIO() if file is None else file
        source = data if can_read(data) else io.BytesIO(_bytes(data))
        self._call(lib.gf_pipeline_run_stream, streams.reader(source), kind, streams.writer(target), progress=progress,
                   streams=streams)
        return target.getvalue() if file is None else None

    def run_file(self, path, output, *, progress=None):
        """Filters from file to file. The output appears complete or not at all."""
        self._call(lib.gf_pipeline_run_file, text_of(path, "path"), text_of(output, "output"), progress=progress)

    # The result is freed even if a warning is an error, and not before a call has ended that was left.
    def _image_of(self, function, *arguments, **keywords):
        result, left = _abi.gf_image(), []
        try:
            return _pictures.Image(result, self._call(function, *arguments, _c.byref(result), left=left, **keywords))
        except BaseException:
            left.append(_Freed(lib.gf_image_free, result)) if left else lib.gf_image_free(_c.byref(result))
            raise

    def _bytes_of(self, function, *arguments, views=False, **keywords):
        result, size, left = _c.c_void_p(), _c.c_size_t(), []
        try:
            self._call(function, *arguments, _c.byref(result), _c.byref(size), left=left, **keywords)
            return _batches.file_of(result, size.value, views)
        finally:
            left.append(_Freed(lib.gf_free, result)) if left else lib.gf_free(result)


def _no_file(data):
    return wrong_type("decode()", "the bytes of a file, or an object with read(); open() reads a name", data)


def _size(picture):
    return picture.pitch * picture.format.height


def _bytes(data):
    if not is_buffer(data):
        raise _no_file(data)
    return data if isinstance(data, bytes) else memoryview(data).tobytes()


# ---- functions ----

@functools.lru_cache(maxsize=32, typed=True)
def _pipeline(chain, stamp, /, **options):
    """Returns a pipeline of a chain, and of its files in that state; None for a stamp of None if it reads files."""
    if not stamp and ("cmyk_profile" in options or lib.gf_chain_stamp(text_of(chain, "chain")) != 1):
        return None
    return Pipeline(chain, **options)


def _pipeline_of_files(chain, options):
    """Returns a pipeline of a chain that names files: a new one if they may have changed."""
    stamp = "cmyk_profile" not in options and lib.gf_chain_stamp(text_of(chain, "chain"))
    return _pipeline(chain, stamp, **options) if stamp else Pipeline(chain, **options)


@functools.lru_cache(maxsize=32)
def _pipeline_on_device(chain, number):
    return _pipeline(chain, None, device=f"cuda:{number}")


def _kept(chain, options):
    """Returns a pipeline that later calls with the same chain and options find again, unless its files change."""
    if type(chain) is not str:
        chain = _text_of_chain(chain)
    if options and not are_lasting(options.values()):
        options = {name: lasting(name, value) for name, value in options.items()}
    try:
        return _pipeline(chain, None, **options) or _pipeline_of_files(chain, options)
    except TypeError:  # an option that cannot be a key
        return Pipeline(chain, **options)


def _threads(workers):
    """Returns how many threads `workers` are."""
    try:
        count = operator.index(workers or 0)
    except TypeError:
        count = -1
    if count < 0:
        raise usage(f"workers={workers!r} is no number of threads")
    return count or len(os.sched_getaffinity(0))


def _each(work, items, workers, chain, options):
    """Returns [work(pipeline, item) for each item], on several threads. With an item or more for each of them a picture is the
    work of one thread."""
    workers = _threads(workers)
    if len(items) >= workers > 1 and not options.keys() & {"serial", "threads", "lanes"}:
        options = {**options, "serial": True}
    pipeline = _kept(chain, options)
    if len(items) < 2 or workers < 2:
        return [_numbered(work, pipeline, *item) for item in enumerate(items)]
    threads = set()  # those of this call: other calls may use the same pipeline
    pool = concurrent.futures.ThreadPoolExecutor(min(workers, len(items)), initializer=lambda: threads.add(threading.get_ident()))
    waits, futures = True, []
    try:
        for item in enumerate(items):
            futures.append(pool.submit(_numbered, work, pipeline, *item))
        return [future.result() for future in futures]
    except BaseException as problem:
        for future in futures:  # after a failure the others need not begin
            future.cancel()
        pipeline._cancel(threads)
        waits = any(each.done() and not each.cancelled() and each.exception() is problem for each in futures)
        if not waits:  # a signal's handler has raised it
            concurrent.futures.wait(futures, _streams.PATIENCE)
        raise
    finally:
        pool.shutdown(wait=waits)


def _numbered(work, pipeline, number, item):
    """Returns work(pipeline, item), whose failure says which one of a list it is."""
    try:
        return work(pipeline, item)
    except Error as failure:
        raise type(failure)(f"[{number}]: {failure}", failure.status) from None


def numbers(pictures, form):
    """Returns the numbers of arrays or Images in the host's memory as one array of the package of the first."""
    shapes = [form.shape_of(_pictures.picture(picture)[0].format) for picture in pictures]
    result, address, finish = form.new(form.joined(shapes), pictures[0])
    for picture, shape in zip(pictures, shapes):
        form.write(picture, address, result)
        address += form.bytes * math.prod(shape)
    return finish(result)


def run(chain, array, *, dtype=None, layout=None, channels=None, mean=None, std=None, scale=None, value_range=None, **options):
    """Filters a picture by a chain: run("blur=2,equalize", array). See Pipeline.run().

    Files that the chain names (a table, a mask) are read again when they have changed; a Pipeline keeps them.
    An array in the memory of a CUDA device is filtered there, after the work of the current stream.
    """
    form = _batches.form_of(dtype, layout, channels, mean, std, scale)
    package = _device.package_of(type(array))
    if package and not options and form is value_range is None and package.has(array) and not package.is_float(array):
        number = package.number(array)
        return (_pipeline_on_device(chain, number) or _kept(chain, {"device": f"cuda:{number}"}))._queue(package, array, number)
    several = isinstance(array, (list, tuple))
    first = array[0] if several and array else array
    if _device.has(first):
        number = _device.number_of(first)
        if not options and form is value_range is None:
            return (_pipeline_on_device(chain, number) or _kept(chain, {"device": f"cuda:{number}"}))._run_on_device(array)
        options.setdefault("device", f"cuda:{number}")
    else:
        pictures = array if several else _pictures.several(array)
        if pictures is not None:
            results = _each(lambda pipeline, each: pipeline._run(each, form, value_range), pictures, None, chain, options)
            return results if several else _pictures.stack(results)
    return _kept(chain, options)._run(array, form, value_range)


def _are_several(data):
    return not (is_buffer(data) or can_read(data) or isinstance(data, (str, os.PathLike))) and hasattr(data, "__iter__")


def decode(data, chain="", *, dtype=None, layout=None, channels=None, mean=None, std=None, scale=None, workers=None, **options):
    """Decodes the bytes of a file to an Image, or a list of them to a list, on several threads. See Pipeline.decode().

    workers: the number of threads for a list; by default one for each processor.
    dtype, layout, channels, mean, std, scale: numbers for networks, as Pipeline.run() makes them. Those of a list are one array, whose first
    axis counts the pictures.
    device: with "cuda" or "cuda:0" the pictures stay in the memory of the device, as DeviceImages, and so do numbers, as an array
    of torch or cupy. JPEGs are decoded there, those of a list together; bytes in pinned memory are not copied before.
    """
    form = _batches.form_of(dtype, layout, channels, mean, std, scale)
    if str(options.get("device", "")).lower().startswith("cuda"):
        return _decode_on_device(data, chain, form, workers, options)
    if not _are_several(data):
        image = _kept(chain, options).decode(data)
        return form.of(image, image) if form else image
    images = _each(Pipeline.decode, list(data), workers, chain, options)
    return numbers(images, form) if form else images


def _decode_on_device(data, chain, form, workers, options):
    several = _are_several(data)
    workers = _threads(workers)
    files = [_streams.read_all(file) if can_read(file) else file for file in (data if several else [data])]
    for file in files:
        if not is_buffer(file):
            raise _no_file(file)
    parts = _batches.parts_of(files, chain, workers)
    pipeline = _kept(chain, {**options, "serial": True} if parts > 1 else options)
    images = _batches.decode(pipeline, files, parts)
    result = _batches.floats(pipeline, images, form) if form else images
    return result if several else result[0]


def encode(array, format="auto", chain="", *, file=None, views=False, workers=None, value_range=None, **options):
    """Encodes a picture, or a list of them on several threads, to the bytes of files. See Pipeline.encode() and decode().

    Arrays in the memory of a CUDA device are encoded there, those of a list together.
    """
    several = isinstance(array, (list, tuple))
    if several and file is not None:
        raise usage("file= takes one picture, not a list")
    first = (array[0] if array else None) if several else array
    if _pictures.on_device(first):
        options.setdefault("device", f"cuda:{_device.number_of(first)}")
        if several:
            return _batches.encode(_kept(chain, options), array, number_of("gf_file_format", format, "format"), views, value_range)
    if several:
        return _each(lambda pipeline, each: pipeline.encode(each, format, views=views, value_range=value_range), array, workers, chain, options)
    return _kept(chain, options).encode(array, format, file=file, views=views, value_range=value_range)


#: The names of files that are not their format's.
_EXTENSIONS = {"jpg": "jpeg", "jpe": "jpeg", "jfif": "jpeg", "tif": "tiff", "ppm": "pnm", "pgm": "pnm", "j2k": "jp2", "apng": "png"}

_NEVER_WRITTEN = ("auto", "heic", "raw", "slide")


def save(array, path, format=None, chain="", **options):
    """Writes a picture to a file, whose format its name says; the file appears complete or not at all. options: as encode() takes."""
    name = os.fsdecode(text_of(path, "path"))
    word = os.path.splitext(name)[1][1:].lower()
    if format is None:
        format, words = _EXTENSIONS.get(word, word), [each for each in words_of("gf_file_format") if each not in _NEVER_WRITTEN]
        if format not in words:
            raise usage(f"{name}: its name says no format: format= is one of {', '.join(words)}")
    data = encode(array, format, chain, **options)
    target = os.path.realpath(name)
    is_file = os.path.isfile(target) or not os.path.exists(target)  # a pipe or a device stays what it is
    try:
        with tempfile.TemporaryDirectory(dir=os.path.dirname(target) if is_file else None, prefix=".gpufilter-") as folder:
            part = os.path.join(folder, "part") if is_file else target
            with builtins.open(part, "wb") as file:
                file.write(data)
            if is_file:
                os.replace(part, target)
    except OSError as why:
        raise error(f"{name}: {why.strerror}", "OUTPUT") from why


def open(path, chain="", *, dtype=None, layout=None, channels=None, mean=None, std=None, scale=None, **options):
    """Reads a file, or a file object, to an Image, or to what decode() makes of its bytes."""
    options.update(dtype=dtype, layout=layout, channels=channels, mean=mean, std=std, scale=scale)
    if can_read(path):
        return decode(path, chain, **options)
    if not isinstance(path, (str, bytes, os.PathLike, int)):
        raise wrong_type("open()", "a name as str, bytes or os.PathLike, or an object with read()", path)
    with builtins.open(path, "rb") as file:
        data = file.read()
    try:
        return decode(data, chain, **options)
    except Error as failure:
        name = path if isinstance(path, int) else os.fsdecode(path)
        raise type(failure)(re.sub("^input(?=: )", lambda _: str(name), str(failure)), failure.status) from None
