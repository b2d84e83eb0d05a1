"""Image filters on NVIDIA GPUs, and the same pictures without one.

    import gpufilter as gf
    result = gf.run("blur=2,equalize", array)       # numpy in, numpy out; torch in, torch out
    picture = gf.open("photo.jpg")                   # an Image: numpy.asarray(picture)
    small = gf.thumbnail(picture, 256)               # every filter is a function: help(gf.thumbnail)
    data = gf.encode(small, "webp", quality=80)
    gf.batch(["photos"], "small/", "thumbnail=256")  # the program: every processor and GPU

Arrays have the shape (rows, columns) or (rows, columns, channels): 1 to 4 channels are gray, gray with alpha, RGB, RGBA.
Their samples are unsigned integers of 8 or 16 bits; alpha is not premultiplied. Options are the members of struct gf_options
in gpufilter/options.h, enums by their words: device="cuda:1", subsampling="444", stripped="gps,exif", max_pixels=10**8.
Every function may be called from several threads, and lets other threads run meanwhile. A child of fork() starts its own
pipelines; on a GPU it must not be forked after the first use, since CUDA does not survive that: use "spawn".
"""

import ctypes as _c
import functools as _functools
import json as _json
import os as _os
import subprocess as _subprocess
import sys as _sys
import sysconfig as _sysconfig
import threading as _threading
import warnings as _warnings

from . import _abi, _filters

_folder = _os.path.dirname(_os.path.abspath(__file__))


def _program():
    """Returns the path of the program that was installed with this module, or that lies beside it."""
    scripts = [_folder, _sysconfig.get_path("scripts"), _sysconfig.get_path("scripts", f"{_os.name}_user")]
    paths = [_os.path.join(folder, "gpufilter") for folder in scripts]
    return next((path for path in paths if _os.path.isfile(path)), "gpufilter")


#: The path of the program gpufilter that belongs to this module.
program = _program()


def _load():
    library = _c.CDLL(_os.path.join(_folder, "libgpufilter.so"))
    for name, (result, arguments) in _abi.FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


_lib = _load()
__version__ = _lib.gf_version().decode()


class Error(Exception):
    """A failure, in the library's words. `status` is the name of its enum gf_status, as "GF_ERROR_INPUT"."""

    def __init__(self, text, status):
        super().__init__(text)
        self.status = status


class UsageError(Error, ValueError):
    """An unknown filter, option or parameter, a value out of range, or an array that cannot be a picture."""


class InputError(Error, ValueError):
    """A picture that is damaged, of no known format, over a limit, or that does not fit the chain or the format."""


class UnavailableError(Error):
    """Something that is not on this machine: a GPU, or the library of a file format."""


class TryAgainError(Error, OSError):
    """A failure that may not come again: memory ran out, a device failed, a file cannot be read or written."""


class PictureWarning(UserWarning):
    """A warning of the library about a picture."""


_CLASSES = {"USAGE": UsageError, "INPUT": InputError, "UNFIT": InputError, "DIFFERENT": InputError,
            "UNAVAILABLE": UnavailableError, "LIBRARY": UnavailableError}
_EXITS = {2: "USAGE", 3: "UNAVAILABLE", 4: "INPUT"}


def _error(text, kind):
    return _CLASSES.get(kind, TryAgainError)(text, "GF_ERROR_" + kind)


def _check(status, error):
    if status:
        name = {number: name for name, number in _abi.ENUMS["gf_status"].items()}[status]
        raise _error(error.text.decode(errors="replace"), name[len("GF_ERROR_"):])


# ---- options ----

_SETS = {"stripped": "gf_metadata_item", "kept": "gf_metadata_item", "formats": "gf_file_format"}


def _number_of(enum, word, option):
    """Returns the value of an enum's name: "444" of gf_subsampling is GF_SUBSAMPLING_444."""
    wanted = str(word).upper().replace("-", "_")
    names = _abi.ENUMS[enum]
    found = [value for name, value in names.items() if name.endswith("_" + wanted)]
    if len(found) != 1:
        prefix = _os.path.commonprefix(list(names))
        words = ", ".join(name[len(prefix):].lower().replace("_", "-") for name in names if not name.endswith("_ITEMS"))
        raise UsageError(f"{option}={word!r} is none of {words}", "GF_ERROR_USAGE")
    return found[0]


def _options(given):
    """Returns a struct gf_options with the options that are given as keywords."""
    options = _abi.gf_options()
    _lib.gf_options_init(_c.byref(options), _c.sizeof(options))
    options.sandbox_program = _os.fsencode(program)
    types = dict(_abi.gf_options._fields_)
    for name, value in given.items():
        if name not in types or name in ("size", "warn", "warn_context") or name.startswith("reserved"):
            raise UsageError(f"there is no option {name!r}", "GF_ERROR_USAGE")
        if name == "device" and isinstance(value, str) and value.startswith("cuda:"):
            value, _, options.device_index = "cuda", None, int(value[5:])
        enum = _abi.ENUM_OF.get(("gf_options", name))
        if name in _SETS and not isinstance(value, int):
            words = value.split(",") if isinstance(value, str) else value
            value = sum(1 << _number_of(_SETS[name], word, name) for word in set(words))
        elif enum and not isinstance(value, int):
            value = _number_of(enum, value, name)
        elif types[name] is _c.c_char_p:
            value = _os.fsencode(value)
        try:
            setattr(options, name, value)
        except TypeError as error:
            raise UsageError(f"{name}={value!r}: {error}", "GF_ERROR_USAGE") from None
    return options


# ---- pictures ----

class Image:
    """A picture in the library's memory, which numpy.asarray(), memoryview-like users and gf.run() take without a copy."""

    def __init__(self, image):
        self._image = image
        form = image.format
        #: (rows, columns) or (rows, columns, channels)
        self.shape = (form.height, form.width) + ((form.channels,) if form.channels > 1 else ())
        #: bits of a sample: 8 or 16
        self.bits = form.bits

    def __del__(self):
        _lib.gf_image_free(_c.byref(self._image))

    def __repr__(self):
        return f"<gpufilter.Image {self.shape}, {self.bits} bits>"

    @property
    def __array_interface__(self):
        form, size = self._image.format, self.bits // 8
        strides = (self._image.pitch, form.channels * size, size)
        return {"version": 3, "shape": self.shape, "strides": strides[:len(self.shape)],
                "typestr": "|u1" if size == 1 else ("<u2" if _sys.byteorder == "little" else ">u2"),
                "data": (self._image.data, False)}

    def tobytes(self):
        """Returns the samples row by row, in the machine's byte order, without gaps."""
        form = self._image.format
        row = form.width * form.channels * self.bits // 8
        return b"".join(_c.string_at(self._image.data + y * self._image.pitch, row) for y in range(form.height))


def _usage(text):
    return UsageError(text, "GF_ERROR_USAGE")


def _on_device(array):
    try:
        return hasattr(array, "__cuda_array_interface__")
    except TypeError:  # torch, of a type that the interface does not know
        return True


def _device_of(array):
    """Returns the number of the CUDA device of an array of torch or cupy."""
    device = getattr(array, "device", None)
    number = getattr(device, "index", None) if hasattr(device, "index") else getattr(device, "id", None)
    return 0 if number is None else number


def _new_on_device(array, form):
    """Returns (array for a result like `array`, the stream on which the caller's work is queued)."""
    shape = (form.height, form.width) + ((form.channels,) if form.channels > 1 else ())
    package = _sys.modules[type(array).__module__.split(".")[0]]
    kind = getattr(package, f"uint{form.bits}")
    if package.__name__ == "torch":
        return (package.empty(shape, dtype=kind, device=array.device),
                package.cuda.current_stream(array.device).cuda_stream)
    if package.__name__ == "cupy":
        with array.device:
            return package.empty(shape, kind), package.cuda.get_current_stream().ptr
    raise _usage(f"results in a device's memory are arrays of torch or cupy, not of {package.__name__}")


def _interface_of(array):
    """Returns (array interface, the object that owns the memory) of an array on the host or on a device."""
    if _on_device(array):
        return array.__cuda_array_interface__, array
    if type(array).__module__.split(".")[0] == "torch":
        array = array.detach().numpy()
    if not hasattr(array, "__array_interface__") and hasattr(array, "__dlpack__") and "numpy" in _sys.modules:
        array = _sys.modules["numpy"].from_dlpack(array)
    if hasattr(array, "__array_interface__"):
        return array.__array_interface__, array
    try:
        view = memoryview(array)
    except TypeError:
        raise _usage(f"{type(array).__name__} is no array") from None
    if view.format not in ("B", "H", "=H", "@H"):
        raise _usage(f"samples are unsigned integers of 8 or 16 bits, not {view.format!r}")
    raw = view.cast("B") if view.c_contiguous else memoryview(view.tobytes())
    if raw.readonly:
        raw = memoryview(bytearray(raw))
    holder = (_c.c_char * len(raw)).from_buffer(raw)
    return {"shape": view.shape, "typestr": "|u1" if view.itemsize == 1 else "=u2", "strides": None,
            "data": (_c.addressof(holder), False)}, holder


def _picture(array):
    """Returns (struct gf_image, the object that owns its memory) of an array."""
    if isinstance(array, Image):
        return array._image, array
    interface, owner = _interface_of(array)
    shape, kind, data = interface["shape"], interface["typestr"], interface["data"]
    size = {"u1": 1, "u2": 2}.get(kind[1:])
    if not size or (size == 2 and kind[0] not in ("=", "<" if _sys.byteorder == "little" else ">")):
        raise _usage(f"samples are unsigned integers of 8 or 16 bits in the machine's byte order, not {kind!r}")
    if len(shape) not in (2, 3) or (len(shape) == 3 and not 1 <= shape[2] <= 4):
        raise _usage(f"a picture's shape is (rows, columns) or (rows, columns, 1 to 4 channels), not {tuple(shape)}")
    channels = shape[2] if len(shape) == 3 else 1
    row = shape[1] * channels * size
    strides = interface.get("strides") or (row, channels * size, size)
    pixels_touch = strides[1] == channels * size and (channels == 1 or strides[2] == size)
    if not pixels_touch or strides[0] < row:
        if hasattr(owner, "contiguous"):
            return _picture(owner.contiguous())
        if not hasattr(owner, "copy"):
            raise _usage(f"the strides {tuple(strides)} are not those of rows of pixels")
        return _picture(owner.copy(order="C"))
    if isinstance(data, (bytes, bytearray)):
        owner = _c.create_string_buffer(bytes(data), len(data))
        data = (_c.addressof(owner),)
    form = _abi.gf_format(shape[1], shape[0], channels, 8 * size)
    return _abi.gf_image(form, strides[0], data[0], False), owner


def _like(array, image):
    """Returns the image as what `array` is: numpy's, torch's or Pillow's; an Image for everything else."""
    package = type(array).__module__.split(".")[0]
    if package in ("numpy", "torch"):
        result = __import__("numpy").asarray(image)
        return _sys.modules["torch"].from_numpy(result) if package == "torch" else result
    return _sys.modules["PIL.Image"].fromarray(__import__("numpy").asarray(image)) if package == "PIL" else image


# ---- pipelines ----

class _Handle:
    """A pipeline of the library, which serves one call at a time."""

    def __init__(self, chain, options):
        self.process = _os.getpid()
        self.texts = []
        self.options = _options(options)
        warn = dict(_abi.gf_options._fields_)["warn"]
        self.options.warn = self.keep = warn(lambda _, text: self.texts.append(text.decode(errors="replace")))
        self.pipeline = _c.POINTER(_abi.gf_pipeline)()
        error = _abi.gf_error()
        _check(_lib.gf_pipeline_open(chain.encode(), _c.byref(self.options), _c.byref(self.pipeline), _c.byref(error)),
               error)

    def __del__(self):
        if getattr(self, "pipeline", None) and self.process == _os.getpid():  # a parent's threads are not in its child
            _lib.gf_pipeline_close(self.pipeline)


class Pipeline:
    """A chain of filters that is opened once and run on any number of pictures, by any number of threads.

    chain: as on the command line, "blur=2,equalize"; "" changes nothing.
    options: the members of struct gf_options.
    """

    def __init__(self, chain="", **options):
        self._chain, self._options = chain, options
        self._idle, self._lock = [], _threading.Lock()
        self._give_back(self._take())  # wrong chains and options are told at once

    def _take(self):
        with self._lock:
            while self._idle:
                handle = self._idle.pop()
                if handle.process == _os.getpid():
                    return handle
        return _Handle(self._chain, self._options)

    def _give_back(self, handle):
        texts, handle.texts[:] = list(handle.texts), []
        with self._lock:
            self._idle.append(handle)
        for text in texts:
            _warnings.warn(text, PictureWarning, stacklevel=4)

    def _call(self, function, *arguments):
        handle, error = self._take(), _abi.gf_error()
        status = function(handle.pipeline, *arguments, _c.byref(error))
        self._give_back(handle)
        _check(status, error)

    def run(self, array):
        """Filters a picture: takes numpy's, torch's and Pillow's arrays, Images and buffers, and returns the same kind.

        Arrays of torch and cupy may lie in the memory of the pipeline's CUDA device (device="cuda:0"): nothing is copied
        unless rows begin at addresses that are no multiples of 16. The result is complete when the call returns.
        """
        picture, owner = _picture(array)
        if _on_device(array):
            return self._run_on_device(array, picture, owner)
        result = self._image_of(_lib.gf_pipeline_run_image, _c.byref(picture))
        del owner
        return _like(array, result)

    def _run_on_device(self, array, picture, owner):
        form = _abi.gf_format()
        self._call(_lib.gf_pipeline_format, picture.format, _c.byref(form))
        result, stream = _new_on_device(array, form)
        to, kept = _picture(result)
        self._call(_lib.gf_pipeline_run_device, _c.byref(picture), _c.byref(to), stream)
        del owner, kept
        return result

    def decode(self, data):
        """Filters the picture in the bytes of a file, and returns an Image."""
        return self._image_of(_lib.gf_pipeline_decode, _bytes(data), len(data))

    def encode(self, array, format="auto"):
        """Filters a picture, and returns the bytes of a file of that format: "png", "jpeg", "webp". "auto" is PNG."""
        picture, owner = _picture(array)
        result = self._bytes_of(_lib.gf_pipeline_encode, _c.byref(picture),
                                _number_of("gf_file_format", format, "format"))
        del owner
        return result

    def run_bytes(self, data, format="auto"):
        """Filters the bytes of a file to the bytes of a file; "auto" is the format of the input."""
        return self._bytes_of(_lib.gf_pipeline_run_bytes, _bytes(data), len(data),
                              _number_of("gf_file_format", format, "format"))

    def run_file(self, path, output):
        """Filters from file to file. The output appears complete or not at all."""
        self._call(_lib.gf_pipeline_run_file, _os.fsencode(path), _os.fsencode(output))

    # The result is freed even if a warning is an error.
    def _image_of(self, function, *arguments):
        result = _abi.gf_image()
        try:
            self._call(function, *arguments, _c.byref(result))
        except BaseException:
            _lib.gf_image_free(_c.byref(result))
            raise
        return Image(result)

    def _bytes_of(self, function, *arguments):
        result, size = _c.c_void_p(), _c.c_size_t()
        try:
            self._call(function, *arguments, _c.byref(result), _c.byref(size))
            return _c.string_at(result, size.value)
        finally:
            _lib.gf_free(result)


def _bytes(data):
    return data if isinstance(data, bytes) else bytes(data)


@_functools.lru_cache(maxsize=32)
def _pipeline(chain, options):
    return Pipeline(chain, **dict(options))


def _kept(chain, options):
    """Returns a pipeline that later calls with the same chain and options find again."""
    try:
        return _pipeline(chain, tuple(sorted(options.items())))
    except TypeError:  # an option that cannot be a key, such as a list
        return Pipeline(chain, **options)


def run(chain, array, **options):
    """Filters a picture by a chain: run("blur=2,equalize", array). See Pipeline.run().

    An array in the memory of a CUDA device is filtered there, after the work of the current stream.
    """
    if _on_device(array):
        options.setdefault("device", f"cuda:{_device_of(array)}")
    return _kept(chain, options).run(array)


def decode(data, chain="", **options):
    """Decodes the bytes of a file to an Image, or a list of them to a list."""
    pipeline = _kept(chain, options)
    if isinstance(data, (bytes, bytearray, memoryview)):
        return pipeline.decode(data)
    return [pipeline.decode(each) for each in data]


def encode(array, format="auto", chain="", **options):
    """Encodes a picture, or a list of them, to the bytes of files. See Pipeline.encode()."""
    pipeline = _kept(chain, options)
    if isinstance(array, list):
        return [pipeline.encode(each, format) for each in array]
    return pipeline.encode(array, format)


def open(path, chain="", **options):
    """Reads a file to an Image."""
    import builtins
    with builtins.open(path, "rb") as file:
        return decode(file.read(), chain, **options)


def batch(inputs, output, chain="", progress=None, **options):
    """Filters files, folders and archives by the program, on all processors and GPUs.

    inputs: a list of names, as -i takes them. output: a file, a folder, a template or an archive, as -o takes it.
    progress: a function that gets a dict for each line of --progress=json.
    options: the options of the command line, as skip_existing=True or quality=80.
    Returns the last line of the progress as a dict. The exception after a failure has the program's messages.
    """
    command = [program, "--progress=json"]
    for name, value in options.items():
        if value is not False:
            command.append("--" + name.replace("_", "-") + ("" if value is True else f"={value}"))
    for name in [inputs] if isinstance(inputs, (str, _os.PathLike)) else inputs:
        command += ["-i", _os.fspath(name)]
    command += ["-o", _os.fspath(output)] + ([chain] if chain else [])
    last, messages = {}, []
    with _subprocess.Popen(command, stderr=_subprocess.PIPE, stdin=_subprocess.DEVNULL) as process:
        for line in process.stderr:
            if line.startswith(b"{"):
                last = _json.loads(line)
                if progress:
                    progress(last)
            else:
                messages.append(line.decode(errors="replace").rstrip())
    if process.returncode:
        raise _error("\n".join(messages) or f"exit status {process.returncode}", _EXITS.get(process.returncode, "OUTPUT"))
    return last


#: The filters by their names, as functions made from the library's declarations.
filters = _filters.make(_lib, run)
globals().update({name: function for name, function in filters.items() if name not in globals()})
