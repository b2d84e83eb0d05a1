"""Pictures in the memory of a CUDA device: arrays of torch and cupy, without a copy and without waiting.

A call takes a few microseconds, as long as small kernels do. What it needs to know of arrays of one shape is therefore kept.
"""

import ctypes as _c
import functools
import sys

from . import _abi, _pictures
from ._library import address_of, check, lib, usage

_KEPT = 64  # shapes of a pipeline


class _Torch:
    """What is asked of torch's tensors."""

    def __init__(self, torch):
        self._torch = torch
        #: returns the stream on which the caller's work on a device is queued
        self.stream = getattr(torch._C, "_cuda_getCurrentRawStream", self._stream)

    def _stream(self, number):
        return self._torch.cuda.current_stream(number).cuda_stream

    has = staticmethod(lambda tensor: tensor.is_cuda)
    layout = staticmethod(lambda tensor: (tensor.shape, tensor.stride(), tensor.dtype))
    address = staticmethod(lambda tensor: tensor.data_ptr())
    number = staticmethod(lambda tensor: tensor.get_device())

    def kind(self, bits):
        return getattr(self._torch, f"uint{bits}")

    def empty(self, tensor, shape, kind):
        return tensor.new_empty(shape, dtype=kind)


class _Cupy:
    """What is asked of cupy's arrays."""

    def __init__(self, cupy):
        self._cupy = cupy

    has = staticmethod(lambda array: True)
    layout = staticmethod(lambda array: (array.shape, array.strides, array.dtype))
    address = staticmethod(lambda array: array.data.ptr)
    number = staticmethod(lambda array: array.device.id)
    kind = staticmethod(lambda bits: f"uint{bits}")

    def stream(self, number):
        with self._cupy.cuda.Device(number):
            return self._cupy.cuda.get_current_stream().ptr

    def empty(self, array, shape, kind):
        with array.device:
            return self._cupy.empty(shape, kind)


@functools.lru_cache(maxsize=None)
def package_of(kind):
    """Returns what is asked of arrays of that type, which are of torch or cupy; None for other types."""
    name = kind.__module__.split(".")[0]
    package = {"torch": _Torch, "cupy": _Cupy}.get(name)
    return package and package(sys.modules[name])


class _Form:
    """The descriptions of arrays of one shape and of their results, without the addresses."""

    def __init__(self, handle, picture, package):
        failure, form = _abi.gf_error(), _abi.gf_format()
        check(lib.gf_pipeline_format(handle.pipeline, picture.format, _c.byref(form), _c.byref(failure)), failure)
        self.shape, self.kind = _pictures.shape_of(form), package.kind(form.bits)
        self.source = _abi.gf_image(picture.format, picture.pitch)
        self.result = _abi.gf_image(form, form.width * form.channels * (form.bits // 8))
        self.source_at, self.result_at = _c.addressof(self.source), _c.addressof(self.result)


_run = address_of("gf_pipeline_run_device")


def has(array):
    """Returns whether an array lies in the memory of a CUDA device."""
    package = package_of(type(array))
    return package.has(array) if package else _pictures.on_device(array)


def number_of(array):
    """Returns the number of an array's device."""
    package = package_of(type(array))
    return package.number(array) if package else 0


def run(handle, array):
    """Queues the filters on the current stream of the array's device."""
    package = package_of(type(array))
    if package is None:
        _pictures.picture(array)  # tells what is wrong with it, too
        raise usage(f"results in a device's memory are arrays of torch or cupy, not of {_pictures.package_of(array)}")
    layout = package.layout(array)
    form = handle.forms.get(layout)
    if form is None:
        picture, owner = _pictures.picture(array)
        if owner is not array:
            return run(handle, owner)
        if len(handle.forms) == _KEPT:
            handle.forms.clear()
        form = handle.forms[layout] = _Form(handle, picture, package)
    result = package.empty(array, form.shape, form.kind)
    form.source.data, form.result.data = package.address(array), package.address(result)
    status = _run(handle.address, form.source_at, form.result_at, package.stream(package.number(array)), handle.failure_at)
    if status:
        check(status, handle.failure)
    return result
