"""Writes the module's types for editors and type checkers: stubs.py FOLDER, which has the module gpufilter

The filters' come from the library's declarations and the options' from struct gf_options, as their functions do.
"""

import inspect
import sys

HEAD = '''"""The types of the module, written by stubs.py."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, Protocol, SupportsFloat, SupportsIndex, TypedDict, TypeVar, overload

from typing_extensions import Buffer, TypeAlias, Unpack

_Array = TypeVar("_Array")
_Path: TypeAlias = str | bytes | PathLike[str] | PathLike[bytes]
_PerChannel: TypeAlias = SupportsFloat | Iterable[Any]
_Range: TypeAlias = Iterable[SupportsFloat] | Literal["float"]
_Progress: TypeAlias = Callable[[float], object]
_Layout: TypeAlias = Literal[{layouts}]
_Format: TypeAlias = Literal[{formats}]

__version__: str
program: str
filters: dict[str, Callable[..., Any]]

class Error(Exception):
    status: str
    def __init__(self, text: str, status: str) -> None: ...

class UsageError(Error, ValueError): ...
class WrongTypeError(UsageError, TypeError): ...
class InputError(Error, ValueError): ...
class UnavailableError(Error): ...
class TryAgainError(Error, OSError): ...
class PictureWarning(UserWarning): ...

class _HasInterface(Protocol):  # arrays of numpy before Python 3.12, which has buffers of classes
    @property
    def __array_interface__(self) -> Any: ...

class _HasDlpack(Protocol):
    def __dlpack__(self, *, stream: Any = None) -> Any: ...

_Bytes: TypeAlias = Buffer | _HasInterface
_Picture: TypeAlias = Image | _HasInterface | _HasDlpack

class _Readable(Protocol):
    def read(self, size: int, /) -> Buffer: ...

class _Writable(Protocol):
    def write(self, data: bytes, /) -> object: ...

class _Coding(TypedDict, total=False):
{options}

class _Options(_Coding, total=False):
    format: _Format

class Image:
    def __init__(self, image: Any, metadata: Any = None) -> None: ...
    def __del__(self) -> None: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def bits(self) -> int: ...
    @property
    def width(self) -> int: ...
    @property
    def height(self) -> int: ...
    @property
    def size(self) -> tuple[int, int]: ...
    @property
    def format(self) -> Literal["gray", "gray+alpha", "RGB", "RGBA"]: ...
    @property
    def dtype(self) -> str: ...
    @property
    def icc(self) -> bytes | None: ...
    @property
    def exif(self) -> bytes | None: ...
    def __getitem__(self, key: Any) -> Any: ...
    def save(self, path: _Path, format: _Format | None = None, **options: Unpack[_Coding]) -> None: ...
    def _repr_png_(self) -> bytes: ...
    @property
    def __array_interface__(self) -> dict[str, Any]: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __dlpack__(self, *, stream: Any = None, max_version: tuple[int, int] | None = None,
                   dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Any: ...
    def __buffer__(self, flags: int) -> memoryview: ...
    def view(self) -> memoryview: ...
    def tobytes(self) -> bytes: ...

class DeviceImage(Image):
    def __init__(self, batch: Any, image: Any, number: Any) -> None: ...
    def __del__(self) -> None: ...
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...
    def view(self) -> memoryview: ...

class Pipeline:
    def __init__(self, chain: str = "", **options: Unpack[_Options]) -> None: ...
    @overload
    def run(self, array: _Array, *, dtype: None = None, layout: None = None, channels: None = None, mean: None = None, std: None = None,
            scale: None = None, value_range: _Range | None = None, progress: _Progress | None = None) -> _Array: ...
    @overload
    def run(self, array: Any, *, dtype: Any, layout: _Layout | None = None, channels: Literal[3] | None = None, mean: _PerChannel | None = None,
            std: _PerChannel | None = None, scale: SupportsFloat | None = None, value_range: _Range | None = None, progress: _Progress | None = None) -> Any: ...
    @overload
    def decode(self, data: _Bytes | _Readable, *, dtype: None = None, layout: None = None, channels: None = None, mean: None = None, std: None = None,
               scale: None = None, progress: _Progress | None = None) -> Image: ...
    @overload
    def decode(self, data: _Bytes | _Readable, *, dtype: Any, layout: _Layout | None = None, channels: Literal[3] | None = None, mean: _PerChannel | None = None,
               std: _PerChannel | None = None, scale: SupportsFloat | None = None, progress: _Progress | None = None) -> Any: ...
    @overload
    def encode(self, array: Any, format: _Format = "auto", *, file: None = None, views: Literal[False] = False, value_range: _Range | None = None,
               progress: _Progress | None = None) -> bytes: ...
    @overload
    def encode(self, array: Any, format: _Format = "auto", *, file: None = None, views: Literal[True], value_range: _Range | None = None,
               progress: _Progress | None = None) -> memoryview: ...
    @overload
    def encode(self, array: Any, format: _Format = "auto", *, file: _Writable, views: bool = False, value_range: _Range | None = None,
               progress: _Progress | None = None) -> None: ...
    @overload
    def run_bytes(self, data: _Bytes | _Readable, format: _Format = "auto", *, file: None = None,
                  progress: _Progress | None = None) -> bytes: ...
    @overload
    def run_bytes(self, data: _Bytes | _Readable, format: _Format = "auto", *, file: _Writable,
                  progress: _Progress | None = None) -> None: ...
    def run_file(self, path: _Path, output: _Path, *, progress: _Progress | None = None) -> None: ...

@overload
def run(chain: str, array: _Array, *, dtype: None = None, layout: None = None, channels: None = None, mean: None = None, std: None = None,
        scale: None = None, value_range: _Range | None = None, **options: Unpack[_Options]) -> _Array: ...
@overload
def run(chain: str, array: Any, *, dtype: Any, layout: _Layout | None = None, channels: Literal[3] | None = None, mean: _PerChannel | None = None,
        std: _PerChannel | None = None, scale: SupportsFloat | None = None, value_range: _Range | None = None,
        **options: Unpack[_Options]) -> Any: ...
@overload
def decode(data: _Bytes | _Readable, chain: str = "", *, dtype: None = None, layout: None = None, channels: None = None, mean: None = None,
           std: None = None, scale: None = None, workers: int | None = None, **options: Unpack[_Options]) -> Image: ...
@overload
def decode(data: Iterable[_Bytes | _Readable], chain: str = "", *, dtype: None = None, layout: None = None, channels: None = None, mean: None = None,
           std: None = None, scale: None = None, workers: int | None = None, **options: Unpack[_Options]) -> list[Image]: ...
@overload
def decode(data: _Bytes | _Readable | Iterable[_Bytes | _Readable], chain: str = "", *, dtype: Any, layout: _Layout | None = None,
           channels: Literal[3] | None = None, mean: _PerChannel | None = None, std: _PerChannel | None = None,
           scale: SupportsFloat | None = None, workers: int | None = None, **options: Unpack[_Options]) -> Any: ...
@overload
def encode(array: list[Any] | tuple[Any, ...], format: _Format = "auto", chain: str = "", *, file: None = None, views: Literal[False] = False,
           workers: int | None = None, value_range: _Range | None = None, **options: Unpack[_Coding]) -> list[bytes]: ...
@overload
def encode(array: list[Any] | tuple[Any, ...], format: _Format = "auto", chain: str = "", *, file: None = None, views: Literal[True],
           workers: int | None = None, value_range: _Range | None = None, **options: Unpack[_Coding]) -> list[memoryview]: ...
@overload
def encode(array: Any, format: _Format = "auto", chain: str = "", *, file: None = None, views: Literal[False] = False,
           workers: int | None = None, value_range: _Range | None = None, **options: Unpack[_Coding]) -> bytes: ...
@overload
def encode(array: Any, format: _Format = "auto", chain: str = "", *, file: None = None, views: Literal[True],
           workers: int | None = None, value_range: _Range | None = None, **options: Unpack[_Coding]) -> memoryview: ...
@overload
def encode(array: Any, format: _Format = "auto", chain: str = "", *, file: _Writable, views: bool = False, workers: int | None = None,
           value_range: _Range | None = None, **options: Unpack[_Coding]) -> None: ...
@overload
def open(path: _Path | _Readable, chain: str = "", *, dtype: None = None, layout: None = None, channels: None = None, mean: None = None,
         std: None = None, scale: None = None, **options: Unpack[_Options]) -> Image: ...
@overload
def open(path: _Path | _Readable, chain: str = "", *, dtype: Any, layout: _Layout | None = None, channels: Literal[3] | None = None,
         mean: _PerChannel | None = None, std: _PerChannel | None = None, scale: SupportsFloat | None = None,
         **options: Unpack[_Options]) -> Any: ...
def save(array: Any, path: _Path, format: _Format | None = None, chain: str = "", **options: Unpack[_Coding]) -> None: ...
def info(path: _Path) -> Any: ...
def compare(a: _Path | _Picture, b: _Path | _Picture, measures: str | Iterable[str] | None = None) -> Any: ...
def batch(inputs: _Path | Iterable[_Path], output: _Path, chain: str = "",
          progress: Callable[[dict[str, Any]], object] | None = None, *, workers: int | None = None,
          **options: Any) -> dict[str, Any]: ...
'''
BASIC = {"c_bool": "bool", "c_double": "SupportsFloat", "c_float": "SupportsFloat", "c_char_p": "_Path"}
KINDS = {"float": "SupportsFloat", "int": "SupportsIndex", "length": "SupportsFloat | str", "relative": "SupportsFloat | str",
         "file": "_Path | _Picture", "matrix": "str | Iterable[Any]", "colour": "str | Iterable[SupportsIndex]"}

SET = "str | int | Iterable[Literal[{}]]"


def literal(words):
    return ", ".join(f'"{word}"' for word in words)


def options_of(abi, library):
    """Yields a line for each option."""
    for name, kind in abi.gf_options._fields_:
        enum = abi.ENUM_OF.get(("gf_options", name))
        if name in library.OWN + ("format",) or name.startswith("reserved"):
            continue
        if name == "device":
            annotation = "str"  # also "cuda:1"
        elif name in library.SETS:
            annotation = SET.format(literal(library.words_of(library.SETS[name])))
        elif enum:
            words = library.words_of(enum)
            annotation = f"Literal[{literal(words)}{''.join(f', {word}' for word in words if word.isdecimal())}]"
        else:
            annotation = BASIC.get(kind.__name__, "SupportsIndex")
        yield f"    {name}: {annotation}" + (" | " + SET.format(literal(library.words_of(library.SETS["stripped"]))) if name == "strip" else "")
    yield f"    keep: {SET.format(literal(library.words_of(library.SETS['kept'])))}"


def filter_of(function, params, options):
    """Returns the declaration of a filter's function; params: its parameters' kinds and words by their names; options: the options' names."""
    parts = []
    for name, parameter in function.__signature__.parameters.items():
        if name == "array":
            parts += ["array: _Array", "/"]
        elif name != "options":
            kind, words = params[name]
            types = [f"Literal[{literal(words)}]"] if words and kind in ("choice", "word") else []
            types += ["bool"] if "yes" in words else []
            types += [] if kind == "choice" else ["SupportsFloat"] if kind == "word" else [KINDS.get(kind, "str")]
            given = parameter.default is not parameter.empty
            optional = " | None" if given and parameter.default is None else ""
            parts.append(f"{name}: {' | '.join(types)}{optional}" + (f" = {parameter.default!r}" if given else ""))
    parts += ["*", "region: _Path | _Picture | Iterable[Any] = ...", "feather: SupportsFloat = ...", "variant: str = ..."]
    others = "Any" if params.keys() & options else "Unpack[_Options]"  # whose names must not stand among the parameters
    return f"def {function.__name__}({', '.join(parts)}, **options: {others}) -> _Array:\n    " + \
        repr(inspect.getdoc(function).splitlines()[0]) + "\n"


def main(folder):
    sys.path.insert(0, folder)
    try:
        import gpufilter as gf
    except OSError as why:  # as a library with a sanitizer
        print(f"the module's types are left out: {why}")
        return
    from gpufilter import _abi, _filters, _library
    text = HEAD.format(layouts=literal(name[len("GF_FLOATS_"):] for name in _abi.ENUMS["gf_floats"] if name != "GF_FLOATS_PATCHES"),
                       formats=literal(_library.words_of("gf_file_format")),
                       options="\n".join(options_of(_abi, _library)))
    for name, function in gf.filters.items():
        text += filter_of(function, _filters.kinds_of(_library.lib, name), _filters._OPTIONS)
    for name, module in inspect.getmembers(gf, inspect.ismodule):  # of which checkers need to know no more
        with open(f"{folder}/gpufilter/{name}.pyi", "w", encoding="utf-8") as file:
            file.write("from typing import Any\n\n" + "".join(f"{each}: Any\n" for each in vars(module) if not each.startswith("__")))
    with open(f"{folder}/gpufilter/__init__.pyi", "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main(sys.argv[1])
