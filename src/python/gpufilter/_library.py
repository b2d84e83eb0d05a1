"""The library by ctypes: its functions, its errors as exceptions, its options as keywords."""

import contextlib
import ctypes as _c
import operator
import os
import sys
import warnings

from . import _abi

_folder = os.path.dirname(os.path.abspath(__file__))
#: The path of the program gpufilter that was installed with this module.
program = os.path.join(_folder, "gpufilter")


def _load():
    library = _c.CDLL(os.path.join(_folder, "libgpufilter.so.1"))
    for name, (result, arguments) in _abi.FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


lib = _load()


def address_of(name):
    """Returns a function of the library that takes addresses as numbers for all its pointers, which is faster."""
    function = lib[name]
    function.restype, function.argtypes = lib[name].restype, [_c.c_void_p] * len(_abi.FUNCTIONS[name][1])
    return function


def locked_address_of(name):
    """Returns the same of a function that calls back into Python's objects: it keeps the interpreter's lock."""
    return _c.PYFUNCTYPE(lib[name].restype, *address_of(name).argtypes)((name, lib))


class Error(Exception):
    """A failure, in the library's words. `status` is the name of its enum gf_status, as "GF_ERROR_INPUT"."""

    def __init__(self, text, status):
        super().__init__(text)
        self.status = status

    def __reduce__(self):  # processes hand exceptions to each other
        return type(self), (self.args[0], self.status)


class UsageError(Error, ValueError):
    """An unknown filter, option or parameter, a value out of range, or an array that cannot be a picture."""


class WrongTypeError(UsageError, TypeError):
    """A value of a type that is not taken."""


class InputError(Error, ValueError):
    """A picture that is damaged, of no known format, over a limit, or that does not fit the chain or the format."""


class UnavailableError(Error):
    """Something that is not on this machine: a GPU, or the library of a file format."""


class TryAgainError(Error, OSError):
    """A failure that may not come again: memory ran out, a device failed, a file cannot be read or written."""


class PictureWarning(UserWarning):
    """A warning of the library about a picture."""


def warn(text):
    """Warns of a picture at the line that calls this module: warnings of one line and text are shown once."""
    frame, level = sys._getframe(), 1
    while frame.f_back and frame.f_globals.get("__package__") == __package__:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, PictureWarning, stacklevel=level)


_CLASSES = {"USAGE": UsageError, "INPUT": InputError, "UNFIT": InputError, "DIFFERENT": InputError,
            "UNAVAILABLE": UnavailableError, "LIBRARY": UnavailableError}


def error(text, kind):
    """Returns the exception for a status without its "GF_ERROR_"."""
    return _CLASSES.get(kind, TryAgainError)(text, "GF_ERROR_" + kind)


def usage(text):
    """Returns the exception for a caller's mistake."""
    return error(text, "USAGE")


def wrong_type(name, takes, value):
    """Returns the exception for a value of a wrong type."""
    shown = repr(value) if isinstance(value, (str, bytes, int, float, list, tuple)) else ""
    return WrongTypeError(f"{name} takes {takes}, not {type(value).__name__}" + (f" {shown}" if 0 < len(shown) < 60 else ""), "GF_ERROR_USAGE")


def check(status, failure):
    """Raises what a function of the library has failed with."""
    if status:
        name = {number: name for name, number in _abi.ENUMS["gf_status"].items()}[status]
        raise error(failure.text.decode(errors="replace"), name[len("GF_ERROR_"):])


# ---- options ----

#: The options that are sets of an enum's values.
SETS = {"stripped": "gf_metadata_item", "kept": "gf_metadata_item", "formats": "gf_file_format", "yuv": "gf_yuv_item"}
#: The same sets by the names that they have on the command line. strip=True is also an option.
NAMED = {"strip": "stripped", "keep": "kept"}
#: The members of struct gf_options that are no options of a caller of this module.
OWN = ("size", "warn", "warn_context")


def words_of(enum):
    """Returns the words of an enum's values: "444" of GF_SUBSAMPLING_444."""
    names = [name for name in _abi.ENUMS[enum] if not name.endswith(("_ITEMS", "_COUNT"))]
    prefix = os.path.commonprefix(names).rpartition("_")[0]
    return [name[len(prefix) + 1:].lower().replace("_", "-") for name in names]


def number_of(enum, word, option):
    """Returns the value of an enum's word: "444" of gf_subsampling is GF_SUBSAMPLING_444."""
    words, wanted = words_of(enum), word.lower().replace("_", "-") if isinstance(word, str) else None
    if wanted is None:
        raise wrong_type(option, f"one of {', '.join(words)}", word)
    if wanted not in words:
        raise usage(f"{option}={word!r} is none of {', '.join(words)}")
    return list(_abi.ENUMS[enum].values())[words.index(wanted)]


def text_of(value, name):
    """Returns a text or path for C."""
    try:
        text = os.fsencode(value)
    except TypeError:
        raise wrong_type(name, "str, bytes or os.PathLike", value) from None
    except UnicodeError as wrong:
        raise usage(f"{name}: {wrong}") from None
    if b"\0" in text:  # where C's text would end
        raise usage(f"{name}={value!r:.60} has a zero byte")
    return text


_LASTING = {str, int, float, bool, type(None)}


def are_lasting(values):
    """Returns whether values are of types that never change."""
    return _LASTING.issuperset(map(type, values))


def lasting(name, value):
    """Returns the value of an option as one that does not change."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, str):
        return str.__str__(value)
    with contextlib.suppress(TypeError):
        return operator.index(value)
    try:
        if name in SETS or name in NAMED:
            return tuple(lasting("", each) for each in value)
        return float(value) if hasattr(value, "__float__") else value
    except TypeError:
        raise wrong_type(name, "a number or words", value) from None


def _takes(kind, enum):
    """Returns what an option of that type takes."""
    if enum:
        return "one of " + ", ".join(words_of(enum))
    return {_c.c_bool: "True or False", _c.c_double: "a number", _c.c_char_p: "a text or a path"}.get(kind, "an integer")


def _set_option(options, name, value):
    enum, kind = _abi.ENUM_OF.get(("gf_options", name)), dict(_abi.gf_options._fields_).get(name)
    if name == "device" and isinstance(value, str) and value.lower().startswith("cuda:"):
        if not value[5:].isdecimal():
            raise usage(f"device={value!r} is none of auto, cpu, cuda, cuda:0, cuda:1, ...")
        _set_option(options, "device_index", int(value[5:]))
        value = "cuda"
    if name == "keep" or (name == "strip" and not isinstance(value, int)):
        name, kind = NAMED[name], _c.c_uint64
    if name in SETS and not isinstance(value, int):
        words = value.split(",") if isinstance(value, str) else value
        if not hasattr(words, "__iter__"):
            raise wrong_type(name, "words: some of " + ", ".join(words_of(SETS[name])), value)
        value = sum(1 << number_of(SETS[name], word, name) for word in set(words))
    elif enum and (not isinstance(value, int) or str(value) in words_of(enum)):  # subsampling=444, too
        value = number_of(enum, str(value) if isinstance(value, int) else value, name)
    try:
        value = text_of(value, name) if kind is _c.c_char_p else value
        setattr(options, name, value)
    except TypeError:
        raise wrong_type(name, _takes(kind, enum), value) from None
    except OverflowError as wrong:
        raise usage(f"{name}={value!r}: {wrong}") from None
    options.quality_chosen |= name == "quality"
    if kind is not _c.c_double and getattr(options, name) != value:  # ctypes cuts off what is too large, and takes "no" for true
        raise usage(f"{name}={value!r} is " + ("neither True nor False" if kind is _c.c_bool else "out of range"))


def make_options(given):
    """Returns a struct gf_options with the options that are given as keywords."""
    options = _abi.gf_options()
    lib.gf_options_init(_c.byref(options), _c.sizeof(options))
    options.sandbox_program = os.fsencode(program)
    members = dict(_abi.gf_options._fields_)
    for name, value in given.items():
        if (name not in members and name not in NAMED) or name in OWN or name.startswith("reserved"):
            raise usage(f"there is no option {name!r}")
        _set_option(options, name, value)
    return options
