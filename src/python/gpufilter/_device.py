"""Pictures in the memory of a CUDA device: arrays of torch and cupy, without a copy and without waiting.

A call takes a few microseconds, as long as small kernels do. What it needs to know of arrays of one shape is therefore kept.
"""

import array
import ctypes as _c
import functools
import operator
import sys

from . import _abi, _dlpack, _pictures
from ._library import address_of, check, lib, usage

_KEPT = 64  # shapes of a pipeline, and types
_SMALL = 1 << 20  # bytes of an array that is copied beside others, and of a result that lies beside others, to share launches with them
_LINES = 4  # places of results: a loop that keeps those of the turn before has two
_ITEMS = tuple.__basicsize__  # the place of the items in an object


class _Package:
    """What is asked of a package's arrays."""

    def place(self, arrays, images):
        """Fills in the addresses of arrays of one type. Returns False if they are not alike."""
        alike = self.are_alike(arrays)
        if alike:
            images.place(map(self.address, arrays))
        return alike


class _Torch(_Package):
    """What is asked of torch's tensors."""

    def __init__(self, torch):
        self._torch, self._exchange = torch, _dlpack.exchange_of(torch.Tensor)
        self.has, self.number, self.address = operator.attrgetter("is_cuda"), torch.Tensor.get_device, torch.Tensor.data_ptr
        self.is_float = torch.Tensor.is_floating_point
        self.stack, self.each = torch.stack, lambda tensor: list(tensor.unbind())
        self._shape, self._kind = operator.attrgetter("shape"), operator.attrgetter("dtype")
        #: returns the stream on which the caller's work on a device is queued
        self.stream = getattr(torch._C, "_cuda_getCurrentRawStream", self._stream)

    def _stream(self, number):
        return self._torch.cuda.current_stream(number).cuda_stream

    @staticmethod
    def layout(tensor):
        return tensor.shape, tensor.stride(), tensor.dtype

    def kind(self, name):
        return getattr(self._torch, name)

    def are_alike(self, tensors):
        """Returns whether tensors have the layout of the first one."""
        first, count, kind = tensors[0], len(tensors), self._torch.Tensor
        return (list(map(self._kind, tensors)).count(first.dtype) == list(map(self._shape, tensors)).count(first.shape) == count
                and (all(map(kind.is_contiguous, tensors)) or list(map(kind.stride, tensors)).count(first.stride()) == count))

    def place(self, tensors, images):
        tensors = tuple(tensors)
        if not self._exchange or type(tensors[0]) is not self._torch.Tensor:
            return super().place(tensors, images)
        try:
            return not _dlpack.place(self._exchange, id(tensors) + _ITEMS, len(tensors), images.at, None)
        except Exception:  # what torch says of tensors without memory
            return False

    def maker(self, tensor, shape, kind):
        """Returns what makes tensors of that shape beside a tensor. torch reads a shape slower than that of another tensor."""
        return functools.partial(self._torch.empty_like, self._torch.empty(1, dtype=kind, device=tensor.device).expand(shape))

    def numbers(self, shape, kind, number):
        return self._torch.empty(shape, dtype=getattr(self._torch, kind), device=f"cuda:{number}")

    def converted(self, tensor, kind):
        """Returns a tensor of that type without gaps, the same one if it is such a tensor."""
        return tensor.to(getattr(self._torch, kind)).contiguous()


class _Cupy(_Package):
    """What is asked of cupy's arrays."""
    kind = str  # types have numpy's names

    def __init__(self, cupy):
        self._cupy = cupy
        self.number, self.address = operator.attrgetter("device.id"), operator.attrgetter("data.ptr")
        self.layout, self.each = operator.attrgetter("shape", "strides", "dtype"), list
        self.is_float = _pictures.float_type

    @staticmethod
    def has(pixels):
        return True

    def stream(self, number):
        with self._cupy.cuda.Device(number):
            return self._cupy.cuda.get_current_stream().ptr

    def are_alike(self, arrays):
        return list(map(self.layout, arrays)).count(self.layout(arrays[0])) == len(arrays)

    def maker(self, pixels, shape, kind):
        def make(device=pixels.device):
            with device:
                return self._cupy.empty(shape, kind)

        return make

    def numbers(self, shape, kind, number):
        if kind == "bfloat16":
            raise usage("cupy has no bfloat16: import torch")
        with self._cupy.cuda.Device(number):
            return self._cupy.empty(shape, kind)

    def converted(self, pixels, kind):
        with pixels.device:
            return self._cupy.ascontiguousarray(pixels, kind)

    def stack(self, arrays):
        with arrays[0].device:
            return self._cupy.stack(arrays)


_PACKAGES = {"torch": (_Torch, "Tensor"), "cupy": (_Cupy, "ndarray")}


@functools.lru_cache(maxsize=_KEPT)
def package_of(kind):
    """Returns what is asked of arrays of that type, which are of torch or cupy; None for other types."""
    name = _pictures.package_of_type(kind)
    package, array = _PACKAGES.get(name, (None, None))
    module = sys.modules.get(name)
    return package(module) if package and issubclass(kind, getattr(module, array, ())) else None


def loaded_package():
    """Returns what is asked of torch's arrays or cupy's, whichever is imported; None if neither is."""
    kinds = (getattr(sys.modules.get(name), array, None) for name, (_, array) in _PACKAGES.items())
    return next((package_of(kind) for kind in kinds if kind), None)


class _Form:
    """The descriptions of arrays of one shape and of their results, without the addresses."""

    def __init__(self, handle, pixels, picture, package):
        failure, form = _abi.gf_error(), _abi.gf_format()
        check(lib.gf_pipeline_format(handle.pipeline, picture.format, _c.byref(form), _c.byref(failure)), failure)
        self._has_channels = len(pixels.shape) == 3  # also of a gray picture
        self.source = _abi.gf_image(picture.format, picture.pitch)
        self.result = _abi.gf_image(form, form.width * form.channels * (form.bits // 8))
        self.source_at, self.result_at = _c.addressof(self.source), _c.addressof(self.result)
        #: makes the array of a result
        self.make = package.maker(pixels, self.shape(form), package.kind(_pictures.dtype_of(form)))

    def shape(self, form):
        shape = _pictures.shape_of(form)
        return shape + (1,) if self._has_channels and self.source.format.channels == 1 and len(shape) == 2 else shape

    def run(self, handle, source, result, stream):
        self.source.data, self.result.data = source, result
        return _run(handle.address, self.source_at, self.result_at, stream, handle.failure_at)


class Images:
    """An array of struct gf_image."""

    def __init__(self, image, count):
        self.images = (_abi.gf_image * count).from_buffer_copy(bytes(image) * count)
        self.at = _c.addressof(self.images)
        self._addresses = memoryview(self.images).cast("B").cast("Q")[_abi.gf_image.data.offset // 8::_c.sizeof(_abi.gf_image) // 8]

    def place(self, addresses):
        self._addresses[:] = array.array("Q", addresses)


class _Lines:
    """Arrays of struct gf_image of pictures at equal distances, by the address of the first one."""

    def __init__(self, image, count, step):
        self._image, self._count, self._step, self._lines = image, count, step, {}

    def at(self, first):
        line = self._lines.get(first)
        return line.at if line else self._new(first).at

    def _new(self, first):
        if len(self._lines) == _LINES:
            self._lines.clear()
        line = self._lines[first] = Images(self._image, self._count)
        line.place(range(first, first + self._count * self._step, self._step))
        return line


class _List(_Form):
    """The same of a list of arrays. Their results are one array."""

    def __init__(self, handle, pixels, picture, package, count):
        self.count = count
        super().__init__(handle, pixels, picture, package)
        self.sources = self.sources_of(count)
        self._results = _Lines(self.result, count, self.result.pitch * self.result.format.height)

    def sources_of(self, count):
        return Images(self.source, count)

    def shape(self, form):
        return (self.count,) + super().shape(form)

    def run(self, handle, sources, result, stream):
        return _run_batch(handle.address, sources, self._results.at(result), self.count, stream, handle.failure_at)


class _Stack(_List):
    """The same of an array of pictures."""

    def __init__(self, handle, pixels, picture, package, step):
        self._step = step
        super().__init__(handle, pixels, picture, package, pixels.shape[0])

    def sources_of(self, count):
        return _Lines(self.source, count, self._step)

    def shape(self, form):
        return self.count, form.height, form.width, form.channels

    def run(self, handle, source, result, stream):
        return super().run(handle, self.sources.at(source), result, stream)


_run, _run_batch = address_of("gf_pipeline_run_device"), address_of("gf_pipeline_run_device_batch")


def _new_form(handle, pixels, package, value_range):
    """Returns (what is kept of such an array, the array itself or a copy that the library can read)."""
    if len(pixels.shape) != 4:
        picture, owner = _pictures.picture(pixels, value_range)
        return (_Form(handle, pixels, picture, package) if owner is pixels else None), owner
    if not pixels.shape[0]:
        raise usage(f"an array of shape {tuple(pixels.shape)} has no pixels")
    picture, owner = _pictures.picture(pixels[0], value_range)
    addresses = [package.address(each) for each in (pixels[0], pixels[-1])]
    step = (addresses[1] - addresses[0]) // max(pixels.shape[0] - 1, 1) or picture.pitch * picture.format.height
    if picture.data != addresses[0] or (pixels.shape[0] > 1 and addresses[0] == addresses[1]):
        return None, _pictures.contiguous(pixels)
    return _Stack(handle, pixels, picture, package, step), pixels


def _keep(handle, layout, form):
    if len(handle.forms) == _KEPT:
        handle.forms.clear()
    handle.forms[layout] = form


def has(pixels):
    """Returns whether an array lies in the memory of a CUDA device."""
    package = package_of(type(pixels))
    return package.has(pixels) if package else _pictures.on_device(pixels)


def number_of(pixels):
    """Returns the number of an array's device."""
    package = package_of(type(pixels))
    return package.number(pixels) if package else getattr(pixels, "_number", 0)


def is_float(pixels):
    """Returns whether an array of torch or cupy is one of floats."""
    package = package_of(type(pixels))
    return package and package.is_float(pixels)


def samples_of(pipeline, pixels, value_range=None):
    """Returns an array of floats as Pipeline.run() says: of samples of 16 bits, for which it waits, or of float16 or float32. Others are returned as they are."""
    if not is_float(pixels):
        if value_range is not None:
            raise _pictures.no_range()
        return pixels
    package, kind, shape = package_of(type(pixels)), _pictures.float_type(pixels), tuple(pixels.shape)
    if getattr(pixels, "requires_grad", False):
        raise _pictures.no_gradient()
    if not kind:
        raise usage(f"a picture's floats are of one of the types {', '.join(_pictures.FLOATS)}, not {pixels.dtype}")
    if _pictures.stays_floats(value_range):
        return pixels if kind in ("float16", "float32") else package.converted(pixels, "float32")
    # Pictures of an array of several lie below each other.
    form = _pictures.form_of_shape((shape[0] * shape[1],) + shape[2:] if len(shape) == 4 else shape, 16)
    kind = "float32" if kind == "float64" else kind
    pixels, number, failure = package.converted(pixels, kind), package.number(pixels), _abi.gf_error()
    result, handle = package.numbers(shape, "uint16", number), pipeline._take()
    image = _abi.gf_image(form, 2 * form.width * form.channels, package.address(result))
    try:
        status = lib.gf_pipeline_from_numbers(handle.pipeline, package.address(pixels), _abi.ENUMS["gf_number"]["GF_NUMBER_" + kind.upper()],
                                              *_pictures.range_of(value_range), _c.byref(image), package.stream(number), _c.byref(failure))
    finally:
        pipeline._give_back(handle)
    _pictures.check_range(status, failure)
    return result


def run(handle, pixels, value_range=None):
    """Queues the filters on the current stream of the array's device. value_range: "float" for arrays of float16 and float32."""
    package = package_of(type(pixels))
    if package is None:
        _pictures.picture(pixels)  # tells what is wrong with it, too
        raise usage(f"results in a device's memory are arrays of torch or cupy, not of {_pictures.package_of(pixels)}")
    return queue(handle, package, pixels, package.number(pixels), value_range)


def queue(handle, package, pixels, number, value_range=None):
    """Does the same for an array of a package on the device of that number."""
    layout = (package.layout(pixels), value_range) if value_range else package.layout(pixels)
    form = handle.forms.get(layout)
    if form is None:
        form, owner = _new_form(handle, pixels, package, value_range)
        if form is None:
            return run(handle, owner, value_range)
        _keep(handle, layout, form)
    result = form.make()
    status = form.run(handle, package.address(pixels), package.address(result), package.stream(number))
    if status:
        check(status, handle.failure)
    return result


def run_list(handle, pictures, value_range=None):
    """Does the same for a list. Small arrays of one shape share launches."""
    pictures = tuple(pictures)
    first = pictures[0]
    package = package_of(type(first))
    if not package or len(pictures) < 2 or len(first.shape) > 3 or list(map(type, pictures)).count(type(first)) < len(pictures):
        return _run_each(handle, pictures, value_range)
    layout = package.layout(first), len(pictures), value_range
    form = handle.forms.get(layout)
    if form is None:
        if not package.are_alike(pictures):
            return _run_each(handle, pictures, value_range)
        picture, owner = _pictures.picture(first, value_range)
        if owner is not first:  # the library cannot read such rows
            if first.nbytes > _SMALL:
                return _run_each(handle, pictures, value_range)
            return run_list(handle, package.each(package.stack(pictures)), value_range)
        form = _List(handle, first, picture, package, len(pictures))
        _keep(handle, layout, form)
    if form.result.pitch * form.result.format.height > _SMALL or not package.place(pictures, form.sources):
        return _run_each(handle, pictures, value_range)
    results = form.make()
    check(form.run(handle, form.sources.at, package.address(results), package.stream(package.number(first))), handle.failure)
    return package.each(results)


def _run_each(handle, pictures, value_range):
    return [run(handle, each, value_range) for each in pictures]
