"""The library's binary interface as text, a line for each fact, sorted: abi.py [write]

Members of structs with their places and types, sizes, values of enums, functions with their types. Without an argument it
says how the headers differ from tests/abi.txt, and so do tests; `write` (make abi) writes that file anew. What is new may
appear at any time. What has changed or is gone breaks programs that were compiled before: it needs a new version.
"""

import contextlib
import ctypes
import io
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIST = os.path.join(ROOT, "tests", "abi.txt")
#: They grow at their ends: the first three say their sizes, the last is the library's own.
GROWS = ("gf_options", "gf_reader", "gf_writer", "gf_profile")

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "src", "python"))
import declarations  # noqa: E402


def type_name(kind):
    """Returns the name of a ctypes type, as "POINTER(gf_image)"."""
    if kind is None:
        return "void"
    if hasattr(kind, "_argtypes_"):
        return f"{type_name(kind._restype_)}({', '.join(map(type_name, kind._argtypes_))})"
    if isinstance(getattr(kind, "_type_", None), type):
        inner = type_name(kind._type_)
        return f"{inner}[{kind._length_}]" if hasattr(kind, "_length_") else f"{inner}*"
    return kind.__name__


def facts(folder):
    """Returns (version, the set of lines)."""
    text, scope = io.StringIO(), {}
    with contextlib.redirect_stdout(text):
        declarations.main(folder)
    exec(text.getvalue(), scope)  # the classes that declarations.py writes
    lines = set()
    for name, kind in scope.items():
        if not (name.startswith("gf_") and isinstance(kind, type) and issubclass(kind, ctypes.Structure)):
            continue
        if hasattr(kind, "_fields_") and name not in GROWS:
            lines.add(f"struct {name}: {ctypes.sizeof(kind)} bytes")
        for member, its in getattr(kind, "_fields_", ()):
            if not member.startswith("reserved"):  # which later members may take
                lines.add(f"struct {name}: {member} at {getattr(kind, member).offset}, {type_name(its)}")
    for enum, values in scope["ENUMS"].items():
        lines |= {f"enum {enum}: {name} = {value}" for name, value in values.items()
                  if not re.search(r"_(COUNT|KINDS|ITEMS)$", name)}  # which say how many there are
    for name, (result, arguments) in scope["FUNCTIONS"].items():
        lines.add(f"{name}({', '.join(map(type_name, arguments))}): {type_name(result)}")
    with open(f"{folder}/gpufilter/version.h", encoding="utf-8") as file:
        return ".".join(re.findall(r"define GF_VERSION_[MP]\w+ (\d+)", file.read())), lines


def main(folder, write):
    """Returns the exit status."""
    version, now = facts(folder)
    try:
        with open(LIST, encoding="utf-8") as file:
            _, listed_version, *before = file.read().splitlines()
    except FileNotFoundError:
        listed_version, before = "", []
    gone, new = sorted(set(before) - now), sorted(now - set(before))
    if gone and listed_version == f"version {version}":
        print("\n".join(f"changed or gone: {line}" for line in gone))
        print(f"programs that were compiled with version {version} would break: restore it, or change gpufilter/version.h")
        return 1
    if write:
        with open(LIST, "w", encoding="utf-8") as file:
            file.write("\n".join(["# Written by make abi.", f"version {version}"] + sorted(now)) + "\n")
    elif gone or new or listed_version != f"version {version}":
        print("\n".join(f"not in tests/abi.txt: {line}" for line in new) or f"tests/abi.txt is of {listed_version}")
        print("make abi writes it anew")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(os.environ.get("GF_INCLUDE", os.path.join(ROOT, "include")), sys.argv[1:] == ["write"]))
