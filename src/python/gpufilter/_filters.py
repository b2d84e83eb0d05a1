"""Makes a function of every filter from the library's declarations, with its signature, defaults and help."""

import functools
import inspect
import itertools
import keyword
import math
import os

from . import _abi
from ._library import are_lasting

#: What every filter takes besides its own parameters, where it can.
_COMMON = ("region", "feather", "variant")
_OPTIONS = {name for name, _ in _abi.gf_options._fields_}
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


def _text(value):
    """Returns a value as a chain writes it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return float.__repr__(value)  # numpy's numbers show their type
    if isinstance(value, int):
        return int.__repr__(value)
    return "'" + (os.fsdecode(value) if isinstance(value, os.PathLike) else str(value)).replace("'", "'\"'\"'") + "'"


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
    parameters, lines = [], []
    kinds = inspect.Parameter
    for shown, param, words in _params(lib, found):
        default = kinds.empty if param.required else _default(param, words)
        parameters.append(kinds(shown, kinds.POSITIONAL_OR_KEYWORD, default=default))
        lines.append(_line(shown, param, words))
    needed = [parameter for parameter in parameters if parameter.default is kinds.empty]
    free = [parameter for parameter in parameters if parameter.default is not kinds.empty]
    names = [parameter.name for parameter in parameters] or ["none"]
    signature = inspect.Signature([kinds("array", kinds.POSITIONAL_ONLY)] + needed + free +
                                  [kinds("options", kinds.VAR_KEYWORD)])

    def chain_of(*arguments, **keywords):
        """Returns (the chain, the options) of a call with an array and these arguments."""
        bound = signature.bind(None, *arguments, **keywords).arguments
        options = bound.pop("options", {})
        del bound["array"]
        common = {key: options.pop(key) for key in _COMMON if key in options}
        for key in options.keys() - _OPTIONS:
            raise TypeError(f"{name} has no parameter {key!r}: it has {', '.join(names)}")
        given = [f"{key.rstrip('_')}={_text(value)}" for key, value in {**bound, **common}.items() if value is not None]
        return ":".join([name] + given).replace(":", "=", 1), options

    found_again = functools.lru_cache(maxsize=64, typed=True)(chain_of)  # which takes longer than the call of a small picture

    def function(array, /, *arguments, **keywords):
        # What else can be a key may later be another text.
        lasting = are_lasting(arguments) and are_lasting(keywords.values())
        chain, options = (found_again if lasting else chain_of)(*arguments, **keywords)
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
