"""Makes a function of every filter from the library's declarations, with its signature, defaults and help."""

import contextlib
import functools
import inspect
import itertools
import keyword
import math
import operator
import os

from . import _abi, _files
from ._library import are_lasting, NAMED, wrong_type

#: What every filter takes besides its own parameters, where it can.
_COMMON = ("region", "feather", "variant")
_OPTIONS = {name for name, _ in _abi.gf_options._fields_} | NAMED.keys() | {"value_range"}
functions: dict = {}  # those of the module
_TYPES = {value: name[len("GF_TYPE_"):].lower() for name, value in _abi.ENUMS["gf_param_type"].items()}


def _choices(param):
    words = []
    for index in itertools.count():
        if not param.choices or not param.choices[index]:
            return words
        words.append(param.choices[index].decode())


def _default(param, words):
    """Returns the default as Python shows it; None: the parameter is not given."""
    kind = _TYPES[param.type]
    if kind == "choice":
        return words[int(param.value)]
    if kind == "word":
        return words[0] if math.isnan(param.value) else param.value
    if kind == "colour":
        return words[-1 - int(param.value)] if param.value < 0 else f"#{int(param.value):06x}"
    if kind in ("float", "int"):
        return int(param.value) if kind == "int" or param.value == int(param.value) else param.value
    return None


def _line(name, param, words):
    kind = _TYPES[param.type]
    limits = f"{param.least:g}..{param.greatest:g}" if kind in ("float", "int", "word", "relative", "length") else ""
    about = "; ".join(filter(None, [limits, ", ".join(words)]))
    return f"    {name}: {(param.help or b'').decode()}" + (f" ({about})" if about else "")


def _number(value):
    """Returns a number as text, without the type that numpy's show, or None for what is none."""
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):  # numpy's has neither of the following
        return "yes" if value else "no"
    with contextlib.suppress(TypeError):
        return str(operator.index(value))
    if hasattr(value, "__float__") and not getattr(value, "shape", ()):
        return repr(float(value))
    return None


def _numbers(value, axes):
    """Returns the texts of an array's numbers, or of those of nested lists, of at most so many axes; None for anything else."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if not axes or not isinstance(value, (list, tuple)):
        return _number(value)
    texts = [_numbers(each, axes - 1) for each in value]
    return None if None in texts or not texts else texts


def _array_text(kind, value):
    """Returns the text of numbers in an array, a list or a tuple; None where the parameter takes none."""
    if _files.is_picture(kind, value):
        return None
    rows = _numbers(value, 2) if kind in ("matrix", "region") else _numbers(value, 1)
    if not isinstance(rows, list):
        return None
    if kind == "colour" and len(rows) == 3 and all(text.isdigit() and int(text) < 256 for text in rows):
        return "#" + "".join(f"{int(text):02x}" for text in rows)
    rows = [rows] if isinstance(rows[0], str) else rows
    if kind == "matrix" or (kind == "region" and {4}.issuperset(map(len, rows))):
        return "/".join(map(" ".join, rows))
    return None


#: What a parameter takes besides the text of a chain.
_TAKES = {"matrix": "a text or an array of numbers", "colour": "a text or three numbers of 0..255",
          "file": "str, bytes or os.PathLike, an Image or an array", "text": "a text or a number", "choice": "a word",
          "region": "str, bytes, os.PathLike, X, Y, WIDTH, HEIGHT, or a mask as an Image or an array"}


def _text(name, kind, value):
    """Returns the value of a parameter of that kind as a chain writes it."""
    number = _number(value) if not isinstance(value, (str, bytes)) else None
    if number is not None and kind != "file":
        return number
    text = os.fsdecode(value) if isinstance(value, (str, bytes, os.PathLike)) else _array_text(kind, value)
    if text is None:
        raise wrong_type(name, _TAKES.get(kind, "one number or a text"), value)
    return "'" + text.replace("'", "'\"'\"'") + "'"


def _params(lib, found):
    """Yields (name in Python, declaration, words) of each parameter of a filter."""
    params = lib.gf_filter_params(found)
    for param in itertools.takewhile(lambda param: param.name, map(params.__getitem__, itertools.count())):
        name = param.name.decode()
        yield name + "_" * keyword.iskeyword(name), param, _choices(param)  # from_


def kinds_of(lib, name):
    """Returns {parameter: (its type's name, its words)} of the filter of that name."""
    return {shown: (_TYPES[param.type], words) for shown, param, words in _params(lib, lib.gf_filter_find(name.encode()))}


def _function(lib, found, run):
    name = lib.gf_filter_name(found).decode()
    parameters, lines, types = [], [], {"region": "region"}
    kinds = inspect.Parameter
    for shown, param, words in _params(lib, found):
        default = kinds.empty if param.required else _default(param, words)
        types[shown] = _TYPES[param.type]
        parameters.append(kinds(shown, kinds.POSITIONAL_OR_KEYWORD, default=default))
        lines.append(_line(shown, param, words))
    needed = [parameter for parameter in parameters if parameter.default is kinds.empty]
    free = [parameter for parameter in parameters if parameter.default is not kinds.empty]
    names = [parameter.name for parameter in parameters] or ["none"]
    signature = inspect.Signature([kinds("array", kinds.POSITIONAL_ONLY)] + needed + free +
                                  [kinds("options", kinds.VAR_KEYWORD)])

    def chain_of(*arguments, **keywords):
        """Returns (the chain, the options, what must live during the call) of a call with an array and these arguments."""
        bound = signature.bind(None, *arguments, **keywords).arguments
        options = bound.pop("options", {})
        del bound["array"]
        common = {key: options.pop(key) for key in _COMMON if key in options}
        for key in options.keys() - _OPTIONS:
            raise TypeError(f"{name} has no parameter {key!r}: it has {', '.join(names)}")
        values = {key: _files.file_of(value, name == "lut" and key == "file") if _files.is_picture(types.get(key), value) else value
                  for key, value in {**bound, **common}.items() if value is not None}
        given = [f"{key.rstrip('_')}={_text(f'{name}: {key}', types.get(key), value)}" for key, value in values.items()]
        return ":".join([name] + given).replace(":", "=", 1), options, values

    found_again = functools.lru_cache(maxsize=64, typed=True)(chain_of)  # which takes longer than the call of a small picture

    def function(array, /, *arguments, **keywords):
        # What else can be a key may later be another text.
        lasting = are_lasting(arguments) and are_lasting(keywords.values())
        chain, options, _held = (found_again if lasting else chain_of)(*arguments, **keywords)
        return run(chain, array, **options)

    function.__name__ = function.__qualname__ = name
    function.__module__ = "gpufilter"
    function.__signature__ = signature
    definition = (lib.gf_filter_definition(found) or b"").decode()
    function.__doc__ = "\n".join([lib.gf_filter_summary(found).decode(), "", definition, "", "Parameters:", *lines, "",
                                  f"{', '.join(_COMMON)} are given by their names, as in a chain, and options as to run()."])
    return function


def make(lib, run):
    """Returns a dict of the functions by the filters' names."""
    made = {}
    for index in itertools.count():
        found = lib.gf_filter_at(index)
        if not found:
            return made
        function = _function(lib, found, run)
        made[function.__name__] = function
