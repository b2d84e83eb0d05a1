"""Many pictures in the memory of a CUDA device: decoded, encoded, and as numbers, in one call each.

Memory into which the library writes the files of a batch is new bytes, or memory that is used again.

New memory takes longer than encoding: the system clears each page when it is first touched. The library's threads share that, since
they write into the bytes objects themselves, which are made with more room than a file needs, and cut afterwards. Room that nobody
touches costs nothing.
"""

import collections
import concurrent.futures
import contextlib
import ctypes as _c
import itertools
import math
import mmap
import os
import re
import sys

from . import _abi, _device, _dlpack, _library, _pictures, _streams
from ._library import check, Error, lib, usage, wrong_type
from ._pictures import package_of

_api = _c.pythonapi
_new = _c.PYFUNCTYPE(_c.c_void_p, _c.c_void_p, _c.c_ssize_t)(("PyBytes_FromStringAndSize", _api))
_cut = _c.PYFUNCTYPE(_c.c_int, _c.c_void_p, _c.c_ssize_t)(("_PyBytes_Resize", _api))
_object_at = _c.PYFUNCTYPE(_c.py_object, _c.c_void_p)(("PyBytes_FromObject", _api))
_drop = _c.PYFUNCTYPE(None, _c.c_void_p)(("Py_DecRef", _api))
FIRST = bytes.__basicsize__ - 1  # the place of the bytes in an object


class NewBytes:
    """Bytes objects that nobody else knows yet."""

    def __init__(self, rooms):
        self.rooms = rooms
        self._objects = (_c.c_void_p * len(rooms))()  # a reference to each
        for i, room in enumerate(rooms):
            self._objects[i] = _new(None, room)
        self.addresses = [place + FIRST for place in self._objects]

    def take(self, sizes):
        """Returns the objects, which become as long as their files."""
        at, step = _c.addressof(self._objects), _c.sizeof(_c.c_void_p)
        for i, size in enumerate(sizes):
            _cut(at + i * step, size)
        return [_object_at(place) for place in self._objects]

    def __del__(self):
        for place in self._objects:
            if place:
                _drop(place)


_PAGE = mmap.PAGESIZE
_idle: collections.deque = collections.deque(maxlen=2)  # its operations are atomic: no lock that a fork could find taken


class _Lent:
    """Memory that memoryviews refer to. With the last of them it is idle again."""

    def __init__(self, memory):
        self._memory = memory

    def __del__(self, idle=_idle):
        idle.append(self._memory)


def _take(size):
    try:
        memory = _idle.pop()
        if len(memory) >= size:
            return memory
    except IndexError:  # there is none, or another thread was faster
        pass
    return mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)


class Views:
    """Parts of memory that is used again: its pages have been touched before."""

    def __init__(self, rooms):
        self.rooms, starts = rooms, [0]
        for room in rooms:
            starts.append(starts[-1] + -(-room // _PAGE) * _PAGE)
        memory = _take(max(starts[-1], _PAGE))
        holder = (_c.c_char * len(memory)).from_buffer(memory)
        holder.lent = _Lent(memory)
        first, self._starts, self._view = _c.addressof(holder), starts, memoryview(holder).cast("B")
        self.addresses = [first + start for start in starts[:-1]]

    def take(self, sizes):
        """Returns a memoryview of each file."""
        return [self._view[start:start + size] for start, size in zip(self._starts, sizes)]


def file_of(address, size, views):
    """Returns a copy of a file that the library has allocated."""
    data = _c.string_at(address, size)
    return memoryview(bytearray(data)) if views else data


# Results as the numbers that networks take: dtype= of run() and decode().


def numbers_of(value, name, channels):
    """Returns a number, or one for each channel, as a C array; None: the default."""
    if value is None:
        return None
    try:
        values = [float(each) for each in value] if hasattr(value, "__iter__") and getattr(value, "ndim", 1) and not isinstance(value, str) else [float(value)] * channels
    except (OverflowError, TypeError, ValueError) as problem:
        raise usage(f"{name}={value!r}: {problem}") from None
    if len(values) != channels:
        raise usage(f"{name} has {len(values)} numbers for {channels} channels")
    return (_c.c_float * channels)(*values)


class Floats:
    """How a result becomes an array of numbers."""

    def __init__(self, dtype, layout=None, channels=None, mean=None, std=None, scale=None, gray=False, patches=None):
        layouts = {name[len("GF_FLOATS_"):]: value for name, value in _abi.ENUMS["gf_floats"].items()}
        if patches:  # struct gf_numbers' patch, merge, temporal
            layout = "PATCHES"
        else:
            del layouts["PATCHES"]
        if layout is not None and layout not in list(layouts):
            raise usage(f"layout={layout!r} is none of {', '.join(layouts)}")
        if channels is not None and (isinstance(channels, str) or str(channels) != "3"):
            raise usage(f"channels={channels!r} is neither None nor 3")
        if scale is not None and (isinstance(scale, (str, bytes)) or not hasattr(scale, "__float__") or getattr(scale, "shape", ()) or not float(scale)):
            raise wrong_type("scale", "a positive number", scale)
        self.dtype, self.layout, self.channels, self.mean, self.std, self.scale = dtype, layouts[layout or "NHWC"], channels, mean, std, scale
        self.kind = "float32" if dtype == "float64" else dtype  # what the library writes
        self.torch = False  # what is no array becomes a tensor
        self._gray = gray  # a gray picture has no axis of channels
        self._patches = patches or (0, 0, 0)

    @property
    def bytes(self):
        """The bytes of a number."""
        return {"uint8": 1, "float32": 4}.get(self.kind, 2)

    def shape_of(self, form):
        """Returns the shape of the numbers of a picture of that struct gf_format."""
        channels = self.channels or form.channels
        if self._gray and channels == 1:
            return form.height, form.width
        if self.layout == _abi.GF_FLOATS_PATCHES:
            patch, temporal = max(self._patches[0], 1), self._patches[2]  # the library refuses others
            return form.height // patch * (form.width // patch), channels * temporal * patch * patch
        return (channels, form.height, form.width) if self.layout == _abi.GF_FLOATS_NCHW else (form.height, form.width, channels)

    def shape(self, image):
        """Returns the shape of an Image's numbers."""
        return self.shape_of(image._image.format)

    def joined(self, shapes):
        """Returns the shape of the numbers of several pictures, which follow each other as patches, and are counted by the first axis
        otherwise."""
        if not shapes:
            raise usage("an array of no pictures has no size")
        if self.layout == _abi.GF_FLOATS_PATCHES:
            return sum(rows for rows, _ in shapes), shapes[0][1]
        for place, shape in enumerate(shapes):
            if shape != shapes[0]:
                raise usage(f"[{place}]: its numbers have the shape {shape}, those of [0] {shapes[0]}: resize them in the chain")
        return (len(shapes),) + shapes[0]

    def numbers(self, form):
        """Returns the struct gf_numbers for pictures of that struct gf_format."""
        channels = self.channels or form.channels
        mean, std = numbers_of(self.mean, "mean", channels), numbers_of(self.std, "std", channels)
        floats = _c.POINTER(_c.c_float)
        made = _abi.gf_numbers(_abi.ENUMS["gf_number"]["GF_NUMBER_" + self.kind.upper()], self.layout, channels, self.scale or 0,
                               mean and _c.cast(mean, floats), std and _c.cast(std, floats), *self._patches)
        made.kept = mean, std
        return made

    def write(self, image, address, memory):
        """Writes the numbers of an array or an Image to that address, of that memory."""
        failure, (picture, owner) = _abi.gf_error(), _pictures.picture(image)
        form, size = self.numbers(picture.format), picture.pitch * picture.format.height
        check(_streams.unhurried(size, lib.gf_image_to_numbers, (image, owner, memory), _c.byref(picture), form, address, _c.byref(failure)), failure)

    def of(self, image, array):
        """Returns an Image's numbers as an array of the package of `array`."""
        result, address, finish = self.new(self.shape(image), array)
        self.write(image, address, result)
        return finish(result)

    def new(self, shape, array):
        """Returns (a new array of numbers of the package of `array`, its address, what makes it ready)."""
        package = package_of(array)
        if package == "torch" or (self.torch and package == "gpufilter"):
            torch = sys.modules["torch"]
            result = torch.empty(shape, dtype=getattr(torch, self.kind))
            return result, result.data_ptr(), lambda result: result.to(getattr(torch, self.dtype))
        try:
            import numpy
        except ImportError:
            memory = bytearray(self.bytes * math.prod(shape))
            return memory, _c.addressof(_c.c_char.from_buffer(memory)), lambda it: memoryview(it).cast("BHIf"[self.bytes - 1], shape)
        result = numpy.empty(shape, _numpy_type(self.kind))
        return result, result.ctypes.data, (lambda it: sys.modules["jax.numpy"].asarray(it, self.dtype)) if package == "jax" else (
            lambda it: it.astype(self.dtype, copy=False) if self.dtype == "float64" else it)


def _numpy_type(name):
    """Returns numpy's type of that name. The package ml_dtypes, which jax needs, too, has bfloat16."""
    if name == "bfloat16":
        try:
            import ml_dtypes
        except ImportError:
            raise usage("numpy has bfloat16 with the package ml_dtypes alone, and torch has it") from None
        return ml_dtypes.bfloat16
    return name


def form_of(dtype, layout, channels, mean, std, scale, patches=None):
    """Returns a Floats for the arguments of run() and decode(); None: results are pictures."""
    if dtype is layout is channels is mean is std is scale is None:
        return None
    arguments = {"layout": layout, "channels": channels, "mean": mean, "std": std, "scale": scale}
    given = [name for name, value in arguments.items() if value is not None]
    if dtype is None:
        raise usage(f"{given[0]}= is for dtype='float32' and other numbers; without it a result has the samples of its picture")
    name, names = _pictures.type_name(dtype), _library.words_of("gf_number")
    if name not in names:
        raise usage(f"dtype={dtype!r} is none of {', '.join(names)}")
    form = Floats(name, **arguments, patches=patches)
    form.torch = package_of(dtype) == "torch"
    return form


def form_like(array, value_range, result):
    """Returns a Floats for results of the type of an array of floats; None for other arrays, and for a result that has its type already."""
    name = _pictures.float_type(array)
    if not name:
        return None
    if _pictures.stays_floats(value_range):
        made = _pictures.type_name(result.dtype)
        return Floats(name, gray=len(array.shape) == 2) if made != name and made in _pictures.FLOATS else None
    black, white = _pictures.range_of(value_range)
    return Floats(name, mean=-black if black else None, scale=white - black, gray=len(array.shape) == 2)


_PART = 16  # pictures of a thread


class DeviceImage(_pictures.Image):
    """A picture in the memory of a CUDA device. torch.from_dlpack() and cupy.asarray() take it without a copy.

    Its memory is freed with the last picture of its batch, after all work on the device.
    """

    def __init__(self, batch, image, number):
        self._batch, self._image, self._number = batch, image, number

    def __del__(self):
        pass  # the batch has the memory

    def __repr__(self):
        return f"<gpufilter.DeviceImage {self.shape}, {self.bits} bits, cuda:{self._number}>"

    def __reduce__(self):
        raise TypeError("a picture in a device's memory cannot be pickled")

    @property
    def __array_interface__(self):
        raise AttributeError("a picture in a device's memory is no array of the host")

    @property
    def __cuda_array_interface__(self):
        return {"version": 3, "shape": self.shape, "strides": self._strides, "data": (self._image.data, False),
                "typestr": self._typestr, "stream": None}

    def __dlpack_device__(self):
        return _dlpack.CUDA, self._number

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if dl_device not in (None, self.__dlpack_device__()) or copy:
            raise BufferError("a DeviceImage lies in its device's memory and is not copied")
        size = self.bits // 8
        return _dlpack.capsule_of(self, self._image.data, self.shape, self.bits, max_version, self.__dlpack_device__(),
                                  [stride // size for stride in self._strides], 2 if self._image.format.samples else 1)

    def view(self):
        raise usage("a picture in a device's memory has no view on the host: copy it by torch or cupy")


class _Batch:
    """The memory of pictures that were decoded in one call."""

    def __init__(self, handle, images):
        self.handle, self.images = handle, images

    def __del__(self):
        if self.handle.process == os.getpid():
            lib.gf_pipeline_free_images(self.handle.pipeline, self.images, len(self.images))


def _address_of(data):
    """Returns (the address of the bytes of a file, their number, what keeps them)."""
    if not isinstance(data, bytes):
        view = memoryview(data)
        if view.c_contiguous and not view.readonly and view.nbytes:
            holder = _c.c_char.from_buffer(view)
            return _c.addressof(holder), view.nbytes, holder
        data = view.tobytes()
    return id(data) + FIRST, len(data), data


def _numbers_of_device(pipeline):
    device = str(pipeline._options["device"]).lower()
    return int(device[5:] or 0) if device.startswith("cuda:") else pipeline._options.get("device_index", 0)


def _decode(pipeline, data):
    """Decodes the bytes of files in one call."""
    count = len(data)
    addresses, sizes, kept = zip(*map(_address_of, data)) if data else ((), (), ())
    images, failure = (_abi.gf_image * count)(), _abi.gf_error()
    handle = pipeline._take()
    batch = _Batch(handle, images)
    status = lib.gf_decode_batch(handle.pipeline, count, (_c.c_void_p * count)(*addresses), (_c.c_size_t * count)(*sizes), images,
                                 None, None, _c.byref(failure))
    pipeline._give_back(handle)
    del kept
    check(status, failure)
    number = _numbers_of_device(pipeline)
    return [DeviceImage(batch, image, number) for image in images]


def run(handle, pictures):
    """Filters a DeviceImage, or a list of them together, to DeviceImages that are complete."""
    several = isinstance(pictures, (list, tuple))
    for picture in pictures if several else ():
        if not isinstance(picture, DeviceImage):
            raise usage(f"a list of DeviceImages has no {type(picture).__name__}")
    sources = [picture._image for picture in (pictures if several else [pictures])]
    count, failure = len(sources), _abi.gf_error()
    images = (_abi.gf_image * count)()
    check(lib.gf_filter_batch(handle.pipeline, count, (_abi.gf_image * count)(*sources), images, None, _c.byref(failure)), failure)
    batch, number = _Batch(handle, images), (pictures[0] if several else pictures)._number
    results = [DeviceImage(batch, image, number) for image in images]
    return results if several else results[0]


def parts_of(data, chain, workers):
    """Returns to how many threads the bytes of files are shared out. Without filters the library does that."""
    return min(workers, (len(data) + _PART - 1) // _PART) if chain else 1


def _decode_part(pipeline, data, first, end):
    """Decodes some of the files. A failure has the number of its file among all."""
    try:
        return _decode(pipeline, data[first:end])
    except Error as failure:
        text = re.sub(r"^\[(\d+)\]", lambda number: f"[{first + int(number[1])}]", str(failure))
        raise type(failure)(text, failure.status) from None


def decode(pipeline, data, parts):
    """Decodes the bytes of files to DeviceImages, on so many threads."""
    if parts < 2:
        return _decode(pipeline, data)
    ends = [len(data) * part // parts for part in range(parts + 1)]
    with concurrent.futures.ThreadPoolExecutor(parts) as pool:
        lists = list(pool.map(lambda part: _decode_part(pipeline, data, ends[part], ends[part + 1]), range(parts)))
    return [image for images in lists for image in images]


def _room(pipeline, handle, form, format):
    """Returns the bytes that a file has room for: more than JPEGs of photographs need, and as many as the pixels' for others."""
    result = _abi.gf_format()
    if pipeline._chain and not lib.gf_pipeline_format(handle.pipeline, form, _c.byref(result), None):
        form = result
    pixels = form.width * form.height * form.channels * (form.bits // 8)
    return (1 << 16) + pixels // (2 if format == _abi.GF_FILE_JPEG else 1)


def _images_of(pipeline, arrays, package, value_range):
    """Returns (struct gf_image of each array, the objects that own their memory, whether all have one format)."""
    if package and value_range is None and len(set(map(type, arrays))) == 1 and not package.is_float(arrays[0]):
        image, owner = _pictures.picture(arrays[0])
        images = _device.Images(image, len(arrays))
        if owner is arrays[0] and package.place(arrays, images):
            return images.images, arrays, True
    kept = value_range if _pictures.stays_floats(value_range) else None
    pictures = [_pictures.picture(_device.samples_of(pipeline, array, value_range), kept) for array in arrays]
    return (_abi.gf_image * len(pictures))(*(image for image, _ in pictures)), pictures, False


def encode(pipeline, arrays, format, views=False, value_range=None, watched=contextlib.nullcontext):
    """Encodes arrays in a device's memory to files of that format, a number: bytes, or memoryviews.

    watched: returns a context within which a handle encodes.
    """
    package = _device.package_of(type(arrays[0])) if arrays else None
    images, owners, alike = _images_of(pipeline, arrays, package, value_range)
    count, failure = len(images), _abi.gf_error()
    results, sizes = (_c.c_void_p * count)(), (_c.c_size_t * count)()
    stream = package.stream(package.number(arrays[0])) if package else None
    handle = pipeline._take()
    try:
        rooms = [_room(pipeline, handle, image.format, format) for image in (images[:1] if alike else images)]
        memory = (Views if views else NewBytes)(rooms * count if alike else rooms)
        results[:], sizes[:] = memory.addresses, memory.rooms
        with watched(handle):
            status = lib.gf_encode_batch(handle.pipeline, count, images, format, results, sizes, stream, None, _c.byref(failure))
            if status != _abi.GF_ERROR_UNFIT:
                check(status, failure)
                return memory.take(sizes)
            del memory
            return _encode_larger(handle, images, format, results, sizes, stream, views)
    finally:
        del owners
        pipeline._give_back(handle)


def _encode_larger(handle, images, format, results, sizes, stream, views):
    """Does the same into the library's memory, for files that are larger than expected."""
    failure = _abi.gf_error()
    _c.memset(results, 0, _c.sizeof(results))
    try:
        check(lib.gf_encode_batch(handle.pipeline, len(images), images, format, results, sizes, stream, None, _c.byref(failure)), failure)
        return [file_of(result, size, views) for result, size in zip(results, sizes)]
    finally:
        for result in results:
            lib.gf_free(result)


def floats_like(pipeline, result, form):
    """Returns the numbers of run()'s result: of a picture, or of several as one array; the result itself for a form of None."""
    if not form:
        return result
    several = isinstance(result, list) or len(result.shape) == 4
    pictures = list(result) if several else [result]
    numbers = floats(pipeline, pictures, form, _device.package_of(type(pictures[0])))
    return numbers if several else numbers[0]


def floats(pipeline, arrays, form, package=None):
    """Returns the numbers of arrays or DeviceImages as one array of torch or cupy of the shape of joined(). The work is queued on the
    current stream.
    """
    package = package or _device.loaded_package()
    if not package:
        raise usage("numbers in a device's memory are arrays of torch or cupy: import one of them")
    pictures = [_pictures.picture(array, "float" if _device.is_float(array) else None) for array in arrays]
    shape = form.joined([form.shape_of(image.format) for image, _ in pictures])
    number = _device.number_of(arrays[0])
    result = package.numbers(shape, form.kind, number)
    address, stream = package.address(result), package.stream(number)
    for _, same in itertools.groupby((image for image, _ in pictures), lambda image: (image.format.channels, image.format.bits, image.format.samples)):
        images = list(same)
        _write_floats(pipeline, images, form, address, stream)
        address += form.bytes * sum(math.prod(form.shape_of(image.format)) for image in images)
    return result if form.kind == form.dtype else package.converted(result, form.dtype)


def _write_floats(pipeline, images, form, address, stream):
    """Writes the numbers of pictures of one format."""
    count, failure, handle = len(images), _abi.gf_error(), pipeline._take()
    try:
        status = lib.gf_pipeline_to_numbers(handle.pipeline, count, (_abi.gf_image * count)(*images), form.numbers(images[0].format),
                                            address, stream, _c.byref(failure))
    finally:
        pipeline._give_back(handle)
    check(status, failure)
