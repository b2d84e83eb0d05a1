"""Results as the floating-point numbers that networks take: dtype="float32" of run() and decode()."""

import ctypes as _c
import sys

from . import _abi
from ._library import check, lib, usage
from ._pictures import package_of


def numbers_of(value, name, channels):
    """Returns a number, or one for each channel, as a C array; None: the default."""
    if value is None:
        return None
    try:
        values = [float(each) for each in value] if hasattr(value, "__iter__") and getattr(value, "ndim", 1) and not isinstance(value, str) else [float(value)] * channels
    except (TypeError, ValueError) as problem:
        raise usage(f"{name}={value!r}: {problem}") from None
    if len(values) != channels:
        raise usage(f"{name} has {len(values)} numbers for {channels} channels")
    return (_c.c_float * channels)(*values)


class Floats:
    """How a result becomes an array of numbers."""

    def __init__(self, layout, channels, mean, std):
        layouts = {name[len("GF_FLOATS_"):]: value for name, value in _abi.ENUMS["gf_floats"].items()}
        if layout not in list(layouts):
            raise usage(f"layout={layout!r} is none of {', '.join(layouts)}")
        if channels is not None and (isinstance(channels, str) or str(channels) != "3"):
            raise usage(f"channels={channels!r} is neither None nor 3")
        self.layout, self.channels, self.mean, self.std = layouts[layout], channels, mean, std

    def shape_of(self, form):
        """Returns the shape of the numbers of a picture of that struct gf_format."""
        channels = self.channels or form.channels
        return (channels, form.height, form.width) if self.layout == _abi.GF_FLOATS_NCHW else (form.height, form.width, channels)

    def shape(self, image):
        """Returns the shape of an Image's numbers."""
        return self.shape_of(image._image.format)

    def write(self, image, address):
        """Writes an Image's numbers to that address."""
        channels = self.channels or image._image.format.channels
        failure = _abi.gf_error()
        check(lib.gf_image_to_floats(_c.byref(image._image), self.layout, channels, numbers_of(self.mean, "mean", channels),
                                     numbers_of(self.std, "std", channels), _c.cast(address, _c.POINTER(_c.c_float)),
                                     _c.byref(failure)), failure)

    def of(self, image, array):
        """Returns an Image's numbers as an array of the package of `array`."""
        result, address, finish = new_floats(self.shape(image), array)
        self.write(image, address)
        return finish(result)


def new_floats(shape, array):
    """Returns (a new array of floats of the package of `array`, its address, what makes it ready)."""
    package = package_of(array)
    if package == "torch":
        torch = sys.modules["torch"]
        result = torch.empty(shape, dtype=torch.float32)
        return result, result.data_ptr(), lambda result: result
    try:
        import numpy
    except ImportError:
        count = 1
        for side in shape:
            count *= side
        memory = bytearray(4 * count)
        return memory, _c.addressof(_c.c_char.from_buffer(memory)), lambda it: memoryview(it).cast("f", shape)
    result = numpy.empty(shape, numpy.float32)
    return result, result.ctypes.data, sys.modules["jax.numpy"].asarray if package == "jax" else lambda result: result


def form_of(dtype, layout, channels, mean, std):
    """Returns a Floats for the arguments of run() and decode(); None: results are pictures."""
    if dtype is layout is channels is mean is std is None:
        return None
    if dtype in (None, "uint8", "uint16"):
        arguments = {"dtype": dtype, "layout": layout, "channels": channels, "mean": mean, "std": std}
        given = [name for name, value in arguments.items() if value is not None]
        if given:
            raise usage(f"{given[0]}= is for dtype='float32'; without it a result has the samples of its picture")
        return None
    if str(dtype) not in ("float32", "torch.float32", "<class 'numpy.float32'>"):
        raise usage(f"dtype={dtype!r} is not 'float32'")
    return Floats(layout or "NHWC", channels, mean, std)
