"""Arrays as pictures of the library, and its pictures as arrays."""

import ctypes as _c
import functools
import sys
import warnings

from . import _abi, _dlpack, _streams
from ._library import check, lib, usage, wrong_type

_ORDER = "<" if sys.byteorder == "little" else ">"
#: The packages whose arrays may have an axis for pictures, and their modules.
_STACKS = {"numpy": "numpy", "torch": "torch", "jax": "jax.numpy"}
#: The packages whose types others derive theirs from, by the modules of the types.
_KNOWN = {"numpy": "numpy", "torch": "torch", "jax": "jax", "jaxlib": "jax", "cupy": "cupy", "PIL": "PIL"}
_LARGEST = 2**31 - 1  # side, of struct gf_format
#: The modes of Pillow whose samples are those of a picture; others have palettes, inks or premultiplied colours.
_PILLOW = ("L", "LA", "RGB", "RGBA", "I;16")
#: The types of floats, and those that other names mean. Those of 64 bits become 32 first.
FLOATS = ("float16", "bfloat16", "float32", "float64")
_ALIASES = {"f2": "float16", "e": "float16", "half": "float16", "bf16": "bfloat16", "f4": "float32", "f": "float32", "single": "float32",
            "f8": "float64", "d": "float64", "double": "float64", "float": "float64", "u1": "uint8", "u2": "uint16"}


def shape_of(form):
    """Returns the shape of an array for a picture of that struct gf_format."""
    return (form.height, form.width) + ((form.channels,) if form.channels > 1 else ())


def dtype_of(form):
    """Returns numpy's name of the type of the samples of that struct gf_format."""
    return f"{'float' if form.samples else 'uint'}{form.bits}"


class Metadata:
    """What a file holds beside its pixels, which never changes."""

    def __init__(self, pointer):
        self.pointer = pointer

    def __del__(self):
        lib.gf_metadata_close(self.pointer)


class Image:
    """A picture in the library's memory. numpy.asarray(), torch.from_dlpack() and gf.run() take it without a copy.

    It has the metadata of its file, as far as they belong to changed pixels, too: run() hands them on, and encode() writes them.

    Python's own buffers begin with Python 3.12, as memoryview(picture); view() returns the same before.
    """
    _image = _abi.gf_image()  # which has no memory to free
    _metadata = None

    def __init__(self, image, metadata=None):
        self._image, self._metadata = image, metadata

    @property
    def shape(self):
        """(rows, columns) or (rows, columns, channels)"""
        return shape_of(self._image.format)

    @property
    def bits(self):
        """bits of a sample: 8 or 16; 16 or 32 of floats"""
        return self._image.format.bits

    @property
    def width(self):
        """columns"""
        return self._image.format.width

    @property
    def height(self):
        """rows"""
        return self._image.format.height

    @property
    def size(self):
        """(width, height), as Pillow has it"""
        return self.width, self.height

    @property
    def format(self):
        """the channels: gray, gray+alpha, RGB or RGBA"""
        return ("gray", "gray+alpha", "RGB", "RGBA")[self._image.format.channels - 1]

    @property
    def dtype(self):
        """the type of the samples as numpy names it: uint8, uint16, float16 or float32"""
        return dtype_of(self._image.format)

    @property
    def _typestr(self):
        return "|u1" if self.bits == 8 else f"{_ORDER}{self.dtype[0]}{self.bits // 8}"

    @property
    def icc(self):
        """the bytes of the ICC profile; None without one"""
        return self._part(_abi.GF_METADATA_ICC)

    @property
    def exif(self):
        """the bytes of the EXIF, a TIFF structure; None without any"""
        return self._part(_abi.GF_METADATA_EXIF)

    def _part(self, item):
        size = _c.c_size_t()
        part = lib.gf_metadata_part(self._metadata and self._metadata.pointer, item, _c.byref(size))
        return _c.string_at(part, size.value) if part else None

    def __getitem__(self, key):
        """Indexes the samples as numpy does, without a copy."""
        try:
            import numpy
        except ImportError:
            return self.view()[key]
        return numpy.asarray(self)[key]

    def __getattr__(self, name):
        from . import _filters  # whose names people try, as other packages have methods
        raise AttributeError(f"an Image has no {name!r}" + (f": gf.{name}(image, ...) filters one" if name in _filters.functions else ""))

    def save(self, path, format=None, **options):
        """Writes a file, whose format its name says, as gf.save() does."""
        from ._pipelines import save
        save(self, path, format, **options)

    def _repr_png_(self):  # notebooks show it
        from ._pipelines import encode
        return encode(self, "png", "thumbnail=1024" if max(self.size) > 1024 else "")

    @property
    def _strides(self):
        form, size = self._image.format, self.bits // 8
        return (self._image.pitch, form.channels * size) + ((size,) if form.channels > 1 else ())

    def __del__(self):
        lib.gf_image_free(_c.byref(self._image))

    def __repr__(self):
        return f"<gpufilter.Image {self.shape}, {self.bits} bits>"

    def __reduce__(self):  # processes hand pictures to each other
        return _image_of_bytes, (self._image.format.width, self._image.format.height, self._image.format.channels,
                                 self.bits, self.tobytes(), _packed(self), self._image.format.samples)

    @property
    def __array_interface__(self):
        # Without strides Pillow wants a buffer, which begins with Python 3.12.
        return {"version": 3, "shape": self.shape, "strides": self._strides, "data": (self._image.data, False), "typestr": self._typestr}

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if dl_device not in (None, self.__dlpack_device__()) or copy:
            raise BufferError("an Image lies in the host's memory and is not copied")
        return _dlpack.capsule_of(self, self._image.data, self.shape, self.bits, max_version, code=2 if self._image.format.samples else 1)

    def view(self):
        """Returns a memoryview of the samples, in the picture's shape; of float16 it has their bits, since Python's views have no halves."""
        size = self._image.pitch * self._image.format.height
        samples = (_c.c_ubyte * size).from_address(self._image.data)
        samples.owner = self
        return memoryview(samples).cast("B").cast({"uint8": "B", "uint16": "H", "float16": "H", "float32": "f"}[self.dtype], self.shape)

    def __buffer__(self, flags):
        if self.dtype == "float16":
            raise BufferError("Python's views have no halves")  # numpy then takes __array_interface__
        return self.view()

    def tobytes(self):
        """Returns the samples row by row, in the machine's byte order, without gaps."""
        return self.view().tobytes()


def _packed(image):
    """Returns the metadata of an Image as the bytes of a PNG of one pixel."""
    from ._pipelines import Pipeline
    if not image._metadata:
        return None
    form = _abi.gf_format(1, 1, image._image.format.channels, 8 if image._image.format.samples else image.bits)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what no PNG holds
        return Pipeline().encode(Image(_abi.gf_image(form, 8, image._image.data, False), image._metadata), "png")


def _image_of_bytes(width, height, channels, bits, data, packed=None, samples=0):
    from ._pipelines import Pipeline
    image, failure = _abi.gf_image(), _abi.gf_error()
    check(lib.gf_image_alloc(_c.byref(image), _abi.gf_format(width, height, channels, bits, samples), _c.byref(failure)), failure)
    _c.memmove(image.data, data, len(data))
    return Image(image, packed and Pipeline(autorotate=False).decode(packed)._metadata)


def package_of(array):
    """Returns the name of the package whose array this is: numpy, torch, jax, PIL, ..."""
    return package_of_type(type(array))


@functools.lru_cache(maxsize=64)
def package_of_type(kind):
    """Returns the same of a type, which may be derived from a package's."""
    for base in kind.__mro__:
        name = base.__module__.split(".")[0]
        if name in _KNOWN:
            return _KNOWN[name]
    return kind.__module__.split(".")[0]


# ---- arrays in the host's memory ----

def _buffer_interface(array):
    try:
        view = memoryview(array)
    except TypeError:
        raise wrong_type("a picture", "an Image, an array of numpy, torch, jax, cupy or Pillow, or a buffer; gf.open() reads files", array) from None
    if view.format not in ("B", "H", "=H", "@H", "<B", _ORDER + "H"):
        raise usage(f"samples are unsigned integers of 8 or 16 bits, not {view.format!r}")
    raw = view.cast("B") if view.c_contiguous and 0 not in view.shape else memoryview(view.tobytes())
    if raw.readonly:
        raw = memoryview(bytearray(raw))
    holder = (_c.c_char * len(raw)).from_buffer(raw)
    return {"shape": view.shape, "typestr": f"={'u1' if view.itemsize == 1 else 'u2'}", "strides": None,
            "data": (_c.addressof(holder), False)}, holder


def no_gradient():
    return usage("a tensor that requires a gradient: filters have none, so detach() it")


def _host_interface(array):
    package = package_of(array)
    if package == "PIL" and array.mode not in _PILLOW:
        raise usage(f"a Pillow image of mode {array.mode} is no picture: convert() it to one of {', '.join(_PILLOW)}")
    if hasattr(array, "mask") and package == "numpy":
        raise usage("a masked array is no picture: fill it, or take its data")
    interface = getattr(array, "__array_interface__", None)
    if interface and interface.get("data") is not None:
        return interface, array
    if hasattr(array, "__dlpack__"):
        if package == "torch":
            if array.requires_grad and array.dtype.is_floating_point:
                raise no_gradient()
            array = array.detach()
        interface, capsule = _dlpack.interface_of(array)
        return interface, (capsule, array)
    return _buffer_interface(array)


def contiguous(array, strides=None, size=2):
    """Returns a copy of an array without gaps."""
    if package_of(array) == "torch":
        return array.detach().clone(memory_format=sys.modules["torch"].contiguous_format)
    if package_of(array) in ("numpy", "cupy"):
        return array.copy(order="C")
    raise usage(f"the strides {tuple(strides)} are not those of rows of pixels" if strides else "samples of 16 bits at an odd address" if size == 2 else "samples of 32 bits at uneven addresses")


# ---- arrays in a device's memory ----

def on_device(array):
    """Returns whether an array lies in the memory of a CUDA device, for arrays of any package."""
    try:
        return hasattr(array, "__cuda_array_interface__")
    except (TypeError, RuntimeError):  # torch, of a type or a kind that the interface does not know
        return True


def _device_interface(array):
    try:
        return array.__cuda_array_interface__, array
    except (TypeError, RuntimeError) as problem:
        raise usage(f"{type(array).__name__} on a device: {problem}") from problem


# ---- both ----

def type_name(dtype):
    """Returns numpy's name of a type of numpy, torch or jax, of a class or of an alias: "float16"."""
    dtype = dtype.dtype if isinstance(getattr(getattr(dtype, "dtype", None), "name", None), str) else dtype  # jax.numpy.float32
    name = dtype if isinstance(dtype, str) else getattr(dtype, "__name__", None) or getattr(dtype, "name", None) or str(dtype)
    name = name.rpartition(".")[2].lower().lstrip("<=|")
    return _ALIASES.get(name, name)


def float_type(array):
    """Returns the name of the type of an array of floats; None for other arrays."""
    dtype = None if isinstance(array, Image) else getattr(array, "dtype", None)
    name = type_name(dtype) if dtype is not None and getattr(dtype, "isnative", True) else None
    return name if name in FLOATS else None


def stays_floats(value_range):
    """Returns whether arrays of floats become pictures of floats."""
    return isinstance(value_range, str) and value_range == "float"


def range_of(value_range):
    """Returns the numbers of black and white."""
    try:
        black, white = (0, 1) if value_range is None else value_range
        return float(black), float(white)
    except (OverflowError, TypeError, ValueError):
        raise wrong_type("value_range", "two numbers, those of black and white", value_range) from None


def _of_floats(array, value_range):
    """Returns an Image of an array of floats, of 16 bits or, for value_range="float", of 32 bits of floats."""
    if on_device(array):
        raise usage("floats in a device's memory are taken by run() and encode() as arrays of torch or cupy, in lists that begin with floats")
    kind = float_type(array)
    if kind == "float64":
        array, kind = array.float() if package_of(array) == "torch" else array.astype("float32"), "float32"
    interface, owner = _host_interface(array)
    as_floats = stays_floats(value_range)
    form, strides, step = form_of_shape(interface["shape"], 32 if as_floats else 16), interface.get("strides"), 4 if kind == "float32" else 2
    form.samples = as_floats
    for side, stride in zip(interface["shape"][::-1], (strides or ())[::-1]):
        if side > 1 and stride != step:
            return _of_floats(contiguous(array, strides), value_range)
        step *= side
    image, failure = _abi.gf_image(), _abi.gf_error()
    check(lib.gf_image_alloc(_c.byref(image), form, _c.byref(failure)), failure)
    made = Image(image)
    status = _streams.unhurried(image.pitch * form.height, lib.gf_image_from_numbers, (owner, made), interface["data"][0],
                                _abi.ENUMS["gf_number"]["GF_NUMBER_" + kind.upper()], *range_of(None if as_floats else value_range), _c.byref(image),
                                _c.byref(failure))
    check_range(status, failure)
    return made


def check_range(status, failure):
    """Raises what a conversion of floats has failed with."""
    if status == _abi.GF_ERROR_UNFIT:
        raise usage(failure.text.decode() + ": value_range=(0, 255), say, names another")
    check(status, failure)


def no_range():
    return usage("value_range= is for arrays of floats in the machine's byte order")


def form_of_shape(shape, bits):
    """Returns the struct gf_format of an array of that shape."""
    if len(shape) not in (2, 3) or (len(shape) == 3 and not 1 <= shape[2] <= 4):
        first = len(shape) > 2 and shape[-3] <= 4
        raise usage(f"a picture's shape is (rows, columns) or (rows, columns, 1 to 4 channels), not {tuple(shape)}"
                    + (": move the channels to the end, as permute(1, 2, 0) or numpy.moveaxis(array, 0, -1) do" if first else ""))
    if 0 in shape:
        raise usage(f"an array of shape {tuple(shape)} has no pixels")
    if max(shape) > _LARGEST:
        raise usage(f"an array of shape {tuple(shape)} is too large")
    return _abi.gf_format(shape[1], shape[0], shape[2] if len(shape) == 3 else 1, bits)


def picture(array, value_range=None):
    """Returns (struct gf_image, the object that owns its memory) of an array.

    value_range: the numbers of black and white in floats, or "float" for floats that stay as they are.
    """
    as_floats = stays_floats(value_range) and float_type(array) in ("float16", "float32")
    if float_type(array) and not as_floats:
        made = _of_floats(array, value_range)
        return made._image, made
    if value_range is not None and not as_floats:
        raise no_range()
    if isinstance(array, Image):
        return array._image, array
    interface, owner = _device_interface(array) if on_device(array) else _host_interface(array)
    shape, kind, data = interface["shape"], interface["typestr"], interface["data"]
    size = ({"f2": 2, "f4": 4} if as_floats else {"u1": 1, "u2": 2}).get(kind[1:])
    if not size or (size > 1 and kind[0] not in ("=", _ORDER)):
        raise usage("samples are unsigned integers of 8 or 16 bits in the machine's byte order, or floats of numpy, torch or jax, not "
                    f"{kind!r}: " + ("array.astype(array.dtype.newbyteorder('=')) turns the bytes" if kind[1:] in ("u2", "f2", "f4", "f8") else "astype('uint8')"))
    form = form_of_shape(shape, 8 * size)
    form.samples = as_floats
    held = None
    if not isinstance(data, (tuple, list)):  # but a buffer
        held = (data if isinstance(data, bytes) else memoryview(data).tobytes())[interface.get("offset", 0):]
        owner = _c.create_string_buffer(held, len(held))
        data = (_c.addressof(owner),)
    channels = shape[2] if len(shape) == 3 else 1
    row = shape[1] * channels * size
    pitch, *inner = interface.get("strides") or (row, channels * size, size)
    if shape[0] == 1:  # no stride counts along an axis of one
        pitch = row
    pixels_touch = (shape[1] == 1 or inner[0] == channels * size) and (channels == 1 or inner[1] == size)
    if not pixels_touch or pitch < row or (data[0] | pitch) % size:
        return picture(contiguous(array, interface.get("strides"), size), value_range)
    if held is not None and len(held) < pitch * (shape[0] - 1) + row:
        raise usage(f"{len(held)} bytes are not an array of shape {tuple(shape)}")
    return _abi.gf_image(form, pitch, data[0], False), owner


def several(array):
    """Returns the pictures of an array of the host of the shape (pictures, rows, columns, channels); None for other arrays."""
    if package_of(array) not in _STACKS or len(getattr(array, "shape", ())) != 4:
        return None
    if not len(array):
        raise usage(f"an array of shape {tuple(array.shape)} has no pixels")
    return [array[i] for i in range(len(array))]


def stack(results):
    """Returns results of one size as one array, whose first axis counts them."""
    first = results[0]
    for number, result in enumerate(results):
        if result.shape != first.shape or result.dtype != first.dtype:
            raise usage(f"[{number}]: its result has the shape {tuple(result.shape)} and that of [0] {tuple(first.shape)}, which are not "
                        "one array: give a list of pictures")
    if package_of(first) == "torch":  # whose stack() does not know 16 bits
        whole = first.new_empty((len(results),) + tuple(first.shape))
        for place, result in zip(whole, results):
            place.copy_(result)
    else:
        whole = sys.modules[_STACKS[package_of(first)]].stack(results)
    return whole if len(whole.shape) == 4 else whole[..., None]


def like(array, image):
    """Returns the image as what `array` is: an array of its package, or an Image for everything else."""
    package = package_of(array)
    if package in _STACKS and len(array.shape) == 3 and array.shape[2] == image._image.format.channels == 1:
        return like(array[..., 0], image)[..., None]
    if package == "numpy":
        return sys.modules["numpy"].asarray(image)
    if package == "PIL":
        channels = image._image.format.channels
        if image.dtype == "float32" and channels == 1:
            return sys.modules["PIL.Image"].frombytes("F", image.shape[1::-1], image.tobytes())
        if image._image.format.samples:
            raise usage(f"the result has {channels} channels of {image.dtype}, and Pillow no such images: filter numpy.asarray(image)")
        if image.bits == 16 and channels > 1:
            raise usage(f"the result has {channels} channels of 16 bits, and Pillow no such images: filter numpy.asarray(image)")
        mode = "I;16" if image.bits == 16 else _PILLOW[channels - 1]
        return sys.modules["PIL.Image"].frombytes(mode, image.shape[1::-1], image.tobytes())
    module = sys.modules.get("jax.numpy" if package == "jax" else package)
    return module.from_dlpack(image) if hasattr(array, "__dlpack__") and hasattr(module, "from_dlpack") else image
