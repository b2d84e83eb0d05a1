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
        #: returns the stream on which the caller's work on a device is queued
        self.stream = getattr(torch._C, "_cuda_getCurrentRawStream", self._stream)

    def _stream(self, number):
        return self._torch.cuda.current_stream(number).cuda_stream

    @staticmethod
    def layout(tensor):
        return tensor.shape, tensor.stride(), tensor.dtype

    def kind(self, bits):
        return getattr(self._torch, f"uint{bits}")

    @staticmethod
    def empty(tensor, shape, kind):
        return tensor.new_empty(shape, dtype=kind)

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

    def empty(self, pixels, shape, kind):
        with pixels.device:
            return self._cupy.empty(shape, kind)

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

    def __init__(self, handle, picture, package):
        failure, form = _abi.gf_error(), _abi.gf_format()
        check(lib.gf_pipeline_format(handle.pipeline, picture.format, _c.byref(form), _c.byref(failure)), failure)
        self.shape, self.kind = _pictures.shape_of(form), package.kind(form.bits)
        self.source = _abi.gf_image(picture.format, picture.pitch)
        self.result = _abi.gf_image(form, form.width * form.channels * (form.bits // 8))
        self.source_at, self.result_at = _c.addressof(self.source), _c.addressof(self.result)

    def run(self, handle, source, result, stream):
        self.source.data, self.result.data = source, result
        return _run(handle.address, self.source_at, self.result_at, stream, handle.failure_at)


class _Images:
    """An array of struct gf_image, whose pictures lie at equal distances."""

    def __init__(self, image, count, step):
        images = (_abi.gf_image * count)(*[image] * count)
        self.at, self._end, self._step, self._address = _c.addressof(images), count * step, step, None
        self._addresses = memoryview(images).cast("B").cast("Q")[_abi.gf_image.data.offset // 8::_c.sizeof(_abi.gf_image) // 8]

    def move(self, address):
        if address == self._address:
            return
        self._address = address
        self._addresses[:] = array.array("Q", range(address, address + self._end, self._step))


class _Stack(_Form):
    """The same of an array of pictures."""

    def __init__(self, handle, picture, package, count, step):
        super().__init__(handle, picture, package)
        form, self.count = self.result.format, count
        self.shape = (count, form.height, form.width, form.channels)
        self.sources = _Images(self.source, count, step)
        self.results = _Images(self.result, count, self.result.pitch * form.height)

    def run(self, handle, source, result, stream):
        self.sources.move(source)
        self.results.move(result)
        return _run_batch(handle.address, self.sources.at, self.results.at, self.count, stream, handle.failure_at)


_run, _run_batch = address_of("gf_pipeline_run_device"), address_of("gf_pipeline_run_device_batch")


def _new_form(handle, pixels, package):
    """Returns (what is kept of such an array, the array itself or a copy that the library can read)."""
    if len(pixels.shape) != 4:
        picture, owner = _pictures.picture(pixels)
        return (_Form(handle, picture, package) if owner is pixels else None), owner
    if not pixels.shape[0]:
        raise usage(f"an array of shape {tuple(pixels.shape)} has no pixels")
    picture, owner = _pictures.picture(pixels[0])
    addresses = [package.address(each) for each in (pixels[0], pixels[-1])]
    step = (addresses[1] - addresses[0]) // max(pixels.shape[0] - 1, 1) or picture.pitch * picture.format.height
    if picture.data != addresses[0] or (pixels.shape[0] > 1 and addresses[0] == addresses[1]):
        return None, _pictures.contiguous(pixels)
    return _Stack(handle, picture, package, pixels.shape[0], step), pixels


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
        if len(handle.forms) == _KEPT:
            handle.forms.clear()
        handle.forms[layout] = form
    result = package.empty(pixels, form.shape, form.kind)
    status = form.run(handle, package.address(pixels), package.address(result), package.stream(package.number(pixels)))
    if status:
        check(status, handle.failure)
    return result


def _stacked(package, pictures):
    """Returns small arrays as one, or None where they are large or not alike, as their package finds faster than this module."""
    first = pictures[0]
    if not package or len(pictures) < 2 or len(first.shape) != 3 or first.nbytes > _SMALL:
        return None
    try:
        whole = package.stack(pictures)
    except (RuntimeError, TypeError, ValueError):
        return None
    return whole if whole.dtype == first.dtype else None


def run_list(handle, pictures):
    """Does the same for a list. Small arrays of one shape share launches."""
    package = package_of(type(pictures[0]))
    whole = _stacked(package, pictures)
    if whole is None:
        return [run(handle, each) for each in pictures]
    results = run(handle, whole)
    return package.each(results if results.shape[-1] > 1 else results[..., 0])
