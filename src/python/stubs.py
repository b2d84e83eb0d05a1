"""Writes the module's types for editors and type checkers: stubs.py FOLDER, which has the module gpufilter

The filters' come from the library's declarations and the options' from struct gf_options, as their functions do.
"""

import inspect
import sys

HEAD = '''"""The types of the module, written by stubs.py."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, Protocol, TypedDict, TypeVar, overload

from typing_extensions import Buffer, Unpack

_Array = TypeVar("_Array")
_Path = str | bytes | PathLike[str] | PathLike[bytes]
_PerChannel = float | Sequence[float]
_Progress = Callable[[float], object]
_Layout = Literal[{layouts}]
_Format = Literal[{formats}]

__version__: str
program: str
filters: dict[str, Callable[..., Any]]

class Error(Exception):
    status: str
    def __init__(self, text: str, status: str) -> None: ...

class UsageError(Error, ValueError): ...
class InputError(Error, ValueError): ...
class UnavailableError(Error): ...
class TryAgainError(Error, OSError): ...
class PictureWarning(UserWarning): ...

class _Readable(Protocol):
    def read(self, size: int, /) -> Buffer: ...

class _Writable(Protocol):
    def write(self, data: bytes, /) -> object: ...

class _Coding(TypedDict, total=False):
{options}

class _Options(_Coding, total=False):
    format: _Format

class Image:
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def bits(self) -> int: ...
    @property
    def __array_interface__(self) -> dict[str, Any]: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __dlpack__(self, *, stream: Any = None, max_version: tuple[int, int] | None = None,
                   dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Any: ...
    def __buffer__(self, flags: int) -> memoryview: ...
    def view(self) -> memoryview: ...
    def tobytes(self) -> bytes: ...

class DeviceImage(Image):
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...
    def view(self) -> memoryview: ...

class Pipeline:
    def __init__(self, chain: str = "", **options: Unpack[_Options]) -> None: ...
    @overload
    def run(self, array: _Array, *, dtype: None = None, layout: None = None, channels: None = None, mean: None = None, std: None = None,
            progress: _Progress | None = None) -> _Array: ...
    @overload
    def run(self, array: Any, *, dtype: Any, layout: _Layout | None = None, channels: Literal[3] | None = None, mean: _PerChannel | None = None,
            std: _PerChannel | None = None, progress: _Progress | None = None) -> Any: ...
    @overload
    def decode(self, data: Buffer | _Readable, *, dtype: None = None, layout: None = None, channels: None = None, mean: None = None, std: None = None,
               progress: _Progress | None = None) -> Image: ...
    @overload
    def decode(self, data: Buffer | _Readable, *, dtype: Any, layout: _Layout | None = None, channels: Literal[3] | None = None, mean: _PerChannel | None = None,
               std: _PerChannel | None = None, progress: _Progress | None = None) -> Any: ...
    @overload
    def encode(self, array: Any, format: _Format = "auto", *, file: None = None, views: Literal[False] = False,
               progress: _Progress | None = None) -> bytes: ...
    @overload
    def encode(self, array: Any, format: _Format = "auto", *, file: None = None, views: Literal[True],
               progress: _Progress | None = None) -> memoryview: ...
    @overload
    def encode(self, array: Any, format: _Format = "auto", *, file: _Writable, views: bool = False, progress: _Progress | None = None) -> None: ...
    @overload
    def run_bytes(self, data: Buffer | _Readable, format: _Format = "auto", *, file: None = None,
                  progress: _Progress | None = None) -> bytes: ...
    @overload
    def run_bytes(self, data: Buffer | _Readable, format: _Format = "auto", *, file: _Writable,
                  progress: _Progress | None = None) -> None: ...
    def run_file(self, path: _Path, output: _Path, *, progress: _Progress | None = None) -> None: ...

@overload
def run(chain: str, array: _Array, *, dtype: None = None, layout: None = None, channels: None = None, mean: None = None, std: None = None,
        **options: Unpack[_Options]) -> _Array: ...
@overload
def run(chain: str, array: Any, *, dtype: Any, layout: _Layout | None = None, channels: Literal[3] | None = None, mean: _PerChannel | None = None,
        std: _PerChannel | None = None, **options: Unpack[_Options]) -> Any: ...
@overload
def decode(data: Buffer | _Readable, chain: str = "", *, dtype: None = None, layout: None = None, channels: None = None, mean: None = None,
           std: None = None, workers: int | None = None, **options: Unpack[_Options]) -> Image: ...
@overload
def decode(data: Iterable[Buffer | _Readable], chain: str = "", *, dtype: None = None, layout: None = None, channels: None = None, mean: None = None,
           std: None = None, workers: int | None = None, **options: Unpack[_Options]) -> list[Image]: ...
@overload
def decode(data: Buffer | _Readable | Iterable[Buffer | _Readable], chain: str = "", *, dtype: Any, layout: _Layout | None = None,
           channels: Literal[3] | None = None, mean: _PerChannel | None = None, std: _PerChannel | None = None, workers: int | None = None,
           **options: Unpack[_Options]) -> Any: ...
@overload
def encode(array: list[Any] | tuple[Any, ...], format: _Format = "auto", chain: str = "", *, file: None = None, views: Literal[False] = False,
           workers: int | None = None, **options: Unpack[_Coding]) -> list[bytes]: ...
@overload
def encode(array: list[Any] | tuple[Any, ...], format: _Format = "auto", chain: str = "", *, file: None = None, views: Literal[True],
           workers: int | None = None, **options: Unpack[_Coding]) -> list[memoryview]: ...
@overload
def encode(array: Any, format: _Format = "auto", chain: str = "", *, file: None = None, views: Literal[False] = False,
           workers: int | None = None, **options: Unpack[_Coding]) -> bytes: ...
@overload
def encode(array: Any, format: _Format = "auto", chain: str = "", *, file: None = None, views: Literal[True],
           workers: int | None = None, **options: Unpack[_Coding]) -> memoryview: ...
@overload
def encode(array: Any, format: _Format = "auto", chain: str = "", *, file: _Writable, views: bool = False, workers: int | None = None,
           **options: Unpack[_Coding]) -> None: ...
def open(path: _Path | _Readable, chain: str = "", **options: Any) -> Any: ...
def batch(inputs: str | PathLike[str] | Iterable[str | PathLike[str]], output: str | PathLike[str], chain: str = "",
          progress: Callable[[dict[str, Any]], object] | None = None, *, workers: int | None = None,
          **options: Any) -> dict[str, Any]: ...
'''
BASIC = {"c_bool": "bool", "c_double": "float", "c_float": "float", "c_char_p": "_Path"}
KINDS = {"float": "float", "int": "int", "length": "float | str", "relative": "float | str", "file": "_Path",
         "matrix": "str | Iterable[Any]", "colour": "str | Iterable[int]"}


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
            annotation = f"str | int | Iterable[Literal[{literal(library.words_of(library.SETS[name]))}]]"
        elif enum:
            annotation = f"Literal[{literal(library.words_of(enum))}]"
        else:
            annotation = BASIC.get(kind.__name__, "int")
        yield f"    {name}: {annotation}"


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
            types += [] if kind == "choice" else ["float"] if kind == "word" else [KINDS.get(kind, "str")]
            given = parameter.default is not parameter.empty
            optional = " | None" if given and parameter.default is None else ""
            parts.append(f"{name}: {' | '.join(types)}{optional}" + (f" = {parameter.default!r}" if given else ""))
    parts += ["*", "region: _Path | Iterable[Any] = ...", "feather: float = ...", "variant: str = ..."]
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
    text = HEAD.format(layouts=literal(name[len("GF_FLOATS_"):] for name in _abi.ENUMS["gf_floats"]),
                       formats=literal(_library.words_of("gf_file_format")),
                       options="\n".join(options_of(_abi, _library)))
    for name, function in gf.filters.items():
        text += filter_of(function, _filters.kinds_of(_library.lib, name), _filters._OPTIONS)
    with open(f"{folder}/gpufilter/__init__.pyi", "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main(sys.argv[1])
