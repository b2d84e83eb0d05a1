"""Pictures in the memory of a CUDA device: arrays of torch and cupy, without a copy and without waiting.

A call takes a few microseconds, as long as small kernels do. What it needs to know of arrays of one shape is therefore kept.
"""

import array
import ctypes as _c
import functools
import operator
import sys

from . import _abi, _pictures
from ._library import address_of, check, lib, usage

_KEPT = 64  # shapes of a pipeline
_SMALL = 1 << 20  # bytes of an array that is copied beside others, to share launches with them


class _Torch:
    """What is asked of torch's tensors."""

    def __init__(self, torch):
        self._torch = torch
        self.has, self.number, self.address = operator.attrgetter("is_cuda"), torch.Tensor.get_device, torch.Tensor.data_ptr
        self.stack, self.each = torch.stack, lambda tensor: list(tensor.unbind())
        self._shape, self._kind = operator.attrgetter("shape"), operator.attrgetter("dtype")
        #: returns the stream on which the caller's work on a device is queued
        self.stream = getattr(torch._C, "_cuda_getCurrentRawStream", self._stream)

    def _stream(self, number):
        return self._torch.cuda.current_stream(number).cuda_stream

    @staticmethod
    def layout(tensor):
        return tensor.shape, tensor.stride(), tensor.dtype

    def kind(self, bits):
        return getattr(self._torch, f"uint{bits}")

    def are_alike(self, tensors):
        """Returns whether tensors have the layout of the first one."""
        first, count, kind = tensors[0], len(tensors), self._torch.Tensor
        return (list(map(self._kind, tensors)).count(first.dtype) == list(map(self._shape, tensors)).count(first.shape) == count
                and (all(map(kind.is_contiguous, tensors)) or list(map(kind.stride, tensors)).count(first.stride()) == count))

    def maker(self, tensor, shape, kind):
        """Returns what makes tensors of that shape beside a tensor. torch reads a shape slower than that of another tensor."""
        return functools.partial(self._torch.empty_like, tensor.new_empty(1, dtype=kind).expand(shape))

    def floats(self, shape, number):
        return self._torch.empty(shape, dtype=self._torch.float32, device=f"cuda:{number}")


class _Cupy:
    """What is asked of cupy's arrays."""

    def __init__(self, cupy):
        self._cupy = cupy
        self.number, self.address = operator.attrgetter("device.id"), operator.attrgetter("data.ptr")
        self.layout, self.each = operator.attrgetter("shape", "strides", "dtype"), list

    @staticmethod
    def has(pixels):
        return True

    def stream(self, number):
        with self._cupy.cuda.Device(number):
            return self._cupy.cuda.get_current_stream().ptr

    @staticmethod
    def kind(bits):
        return f"uint{bits}"

    def are_alike(self, arrays):
        return list(map(self.layout, arrays)).count(self.layout(arrays[0])) == len(arrays)

    def maker(self, pixels, shape, kind):
        def make(device=pixels.device):
            with device:
                return self._cupy.empty(shape, kind)

        return make

    def floats(self, shape, number):
        with self._cupy.cuda.Device(number):
            return self._cupy.empty(shape, "float32")

    def stack(self, arrays):
        with arrays[0].device:
            return self._cupy.stack(arrays)


_PACKAGES = {"torch": (_Torch, "Tensor"), "cupy": (_Cupy, "ndarray")}


@functools.lru_cache(maxsize=None)
def package_of(kind):
    """Returns what is asked of arrays of that type, which are of torch or cupy; None for other types."""
    name = kind.__module__.split(".")[0]
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
        self.source = _abi.gf_image(picture.format, picture.pitch)
        self.result = _abi.gf_image(form, form.width * form.channels * (form.bits // 8))
        self.source_at, self.result_at = _c.addressof(self.source), _c.addressof(self.result)
        #: makes the array of a result
        self.make = package.maker(pixels, self.shape(form), package.kind(form.bits))

    def shape(self, form):
        return _pictures.shape_of(form)

    def run(self, handle, source, result, stream):
        self.source.data, self.result.data = source, result
        return _run(handle.address, self.source_at, self.result_at, stream, handle.failure_at)


class Images:
    """An array of struct gf_image."""

    def __init__(self, image, count):
        self.images = (_abi.gf_image * count).from_buffer_copy(bytes(image) * count)
        self.at, self._first = _c.addressof(self.images), None
        self._addresses = memoryview(self.images).cast("B").cast("Q")[_abi.gf_image.data.offset // 8::_c.sizeof(_abi.gf_image) // 8]

    def place(self, addresses):
        self._addresses[:] = array.array("Q", addresses)

    def line_up(self, first, step):
        """Places the pictures at equal distances."""
        if first != self._first:
            self._first = first
            self.place(range(first, first + len(self._addresses) * step, step))


class _List(_Form):
    """The same of a list of arrays. Their results are one array."""

    def __init__(self, handle, pixels, picture, package, count):
        self.count = count
        super().__init__(handle, pixels, picture, package)
        self.sources, self.results = Images(self.source, count), Images(self.result, count)
        self._step = self.result.pitch * self.result.format.height

    def shape(self, form):
        return (self.count,) + super().shape(form)

    def place(self, addresses):
        self.sources.place(addresses)

    def run(self, handle, sources, result, stream):
        self.place(sources)
        self.results.line_up(result, self._step)
        return _run_batch(handle.address, self.sources.at, self.results.at, self.count, stream, handle.failure_at)


class _Stack(_List):
    """The same of an array of pictures."""

    def __init__(self, handle, pixels, picture, package, step):
        super().__init__(handle, pixels, picture, package, pixels.shape[0])
        self._between = step

    def shape(self, form):
        return self.count, form.height, form.width, form.channels

    def place(self, address):
        self.sources.line_up(address, self._between)


_run, _run_batch = address_of("gf_pipeline_run_device"), address_of("gf_pipeline_run_device_batch")


def _new_form(handle, pixels, package):
    """Returns (what is kept of such an array, the array itself or a copy that the library can read)."""
    if len(pixels.shape) != 4:
        picture, owner = _pictures.picture(pixels)
        return (_Form(handle, pixels, picture, package) if owner is pixels else None), owner
    if not pixels.shape[0]:
        raise usage(f"an array of shape {tuple(pixels.shape)} has no pixels")
    picture, owner = _pictures.picture(pixels[0])
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


def run(handle, pixels):
    """Queues the filters on the current stream of the array's device."""
    package = package_of(type(pixels))
    if package is None:
        _pictures.picture(pixels)  # tells what is wrong with it, too
        raise usage(f"results in a device's memory are arrays of torch or cupy, not of {_pictures.package_of(pixels)}")
    layout = package.layout(pixels)
    form = handle.forms.get(layout)
    if form is None:
        form, owner = _new_form(handle, pixels, package)
        if form is None:
            return run(handle, owner)
        _keep(handle, layout, form)
    result = form.make()
    status = form.run(handle, package.address(pixels), package.address(result), package.stream(package.number(pixels)))
    if status:
        check(status, handle.failure)
    return result


def run_list(handle, pictures):
    """Does the same for a list. Small arrays of one shape share launches."""
    first = pictures[0]
    package = package_of(type(first))
    if (not package or len(pictures) < 2 or len(first.shape) > 3 or first.nbytes > _SMALL or len(set(map(type, pictures))) > 1
            or not package.are_alike(pictures)):
        return [run(handle, each) for each in pictures]
    layout = package.layout(first), len(pictures)
    form = handle.forms.get(layout)
    if form is None:
        picture, owner = _pictures.picture(first)
        if owner is not first:  # the library cannot read such rows
            return run_list(handle, package.each(package.stack(pictures)))
        form = _List(handle, first, picture, package, len(pictures))
        _keep(handle, layout, form)
    results = form.make()
    check(form.run(handle, map(package.address, pictures), package.address(results), package.stream(package.number(first))),
          handle.failure)
    return package.each(results)
