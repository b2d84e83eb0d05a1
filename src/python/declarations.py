"""Writes the C declarations of include/gpufilter as ctypes classes: declarations.py include >_abi.py

The headers are the only place where structs, enums and functions are declared. The reader knows the few forms that they
use, and stops at one that it does not know.
"""

import re
import sys

BASIC = {
    "void": "None", "bool": "c_bool", "int": "c_int", "float": "c_float", "double": "c_double", "char": "c_char",
    "size_t": "c_size_t", "uint32_t": "c_uint32", "uint64_t": "c_uint64", "long long": "c_longlong",
}


def headers(folder, name, seen):
    """Returns the text of the header with those that it includes before it."""
    if name in seen:
        return ""
    seen.add(name)
    with open(f"{folder}/{name}", encoding="utf-8") as file:
        text = file.read()
    included = re.findall(r'#include "(.*)"', text)
    return "".join(headers(folder, other, seen) for other in included) + plain(text)


def plain(text):
    """Returns the header's text without comments, directives and macros of declarations."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    statuses = re.findall(r"X\((GF_\w+),", text)
    text = re.sub(r"^#(?:.*\\\n)*.*$", "", text, flags=re.M)
    text = re.sub(r"static inline.*?\n\}", "", text, flags=re.S)
    text = re.sub(r'extern "C" \{|GF_CHECKED|GF_PRINTF\([^)]*\)', " ", text)
    return text.replace("GF_STATUS_LIST(GF_STATUS_ENUM)", "".join(name + "," for name in statuses))


def ctype(words, stars):
    """Returns the name of the ctypes type of a C type with so many stars."""
    words = " ".join(word for word in words.split() if word != "const")
    kind, _, name = words.partition(" ")
    if words in ("char", "unsigned char") and stars:
        base, stars = ("c_char_p" if words == "char" else "c_void_p"), stars - 1
    elif words == "void" and stars:
        base, stars = "c_void_p", stars - 1
    elif kind == "enum":
        base = "c_int"
    elif kind == "struct":
        base = name
    else:
        base = BASIC[words]
    return "POINTER(" * stars + base + ")" * stars


def declared(text):
    """Yields (name, ctypes type) of each declarator in "int a, *b[4]"."""
    pointer = re.fullmatch(r"(.*?)\(\*(\w+)\)\((.*)\)", text)
    if pointer:
        result, name, arguments = pointer.groups()
        types = [ctype(*split(argument)[:2]) for argument in arguments.split(",")]
        yield name, f"CFUNCTYPE({', '.join([ctype(*split(result + ' x')[:2])] + types)})"
        return
    first, *others = text.split(",")
    words, stars, name, sizes = split(first)
    yield name, array(ctype(words, stars), sizes)
    for other in others:
        _, stars, name, sizes = split(words + " " + other)
        yield name, array(ctype(words, stars), sizes)


def split(text):
    """Returns a declaration as the words of its type, the number of stars, its name and its dimensions."""
    match = re.fullmatch(r"\s*([\w\s]+?)((?:\s*\*\s*(?:const\b)?\s*)*)(?<![\w])(\w*)\s*((?:\[[^\]]*\])*)\s*", text)
    if not match:
        raise SystemExit(f"declarations.py: cannot read: {text}")
    words, stars, name, sizes = match.groups()
    return words, stars.count("*"), name, re.findall(r"\[([^\]]*)\]", sizes)


def array(base, sizes):
    """Returns the ctypes type of an array."""
    for size in reversed(sizes):
        base = f"{base} * ({size})"
    return base


def main(folder):
    """Prints the module."""
    text = headers(folder, "gpufilter/gpufilter.h", set())
    print('"""The declarations of gpufilter\'s headers, written by declarations.py."""\nfrom ctypes import *\n\nENUMS, ENUM_OF, FUNCTIONS = {}, {}, {}')
    blocks = re.compile(r"(enum|struct)\s*(\w*)\s*\{([^{}]*)\}\s*;|struct\s+(\w+)\s*;|GF_API\s+([^;]*);", re.S)
    for kind, name, body, opaque, function in blocks.findall(text):
        if kind == "enum":
            print("\nvalue, names = -1, {}")
            for item in filter(None, (item.strip() for item in body.split(","))):
                item, _, given = item.partition("=")
                print(f"value = {given.strip() or 'value + 1'}; {item.strip()} = names[{item.strip()!r}] = value")
            print(f"ENUMS[{name!r}] = names")
        elif kind == "struct":
            print(f"\n\nclass {name}(Structure):\n    _fields_ = [")
            for member in filter(None, (" ".join(member.split()) for member in body.split(";"))):
                for declarator in declared(member):
                    print("        ({!r}, {}),".format(*declarator))
            print("    ]\n")
            for enum, member in re.findall(r"\benum (\w+) (\w+);", body):
                print(f"ENUM_OF[{name!r}, {member!r}] = {enum!r}")
        elif opaque:
            print(f"\n\nclass {opaque}(Structure):\n    pass\n")
        else:
            print_function(" ".join(function.split()))


def print_function(text):
    """Prints the types of a function; one with "..." is left out."""
    head, _, arguments = text.partition("(")
    arguments = arguments.rstrip(") ")
    if "..." in arguments:
        return
    words, stars, name, _ = split(head)
    depth, pieces, piece = 0, [], ""
    for letter in arguments + ",":
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            pieces.append(piece.strip())
            piece = ""
        else:
            piece += letter
    types = [kind for piece in pieces if piece != "void" for _, kind in declared(piece)]
    print(f"FUNCTIONS[{name!r}] = ({ctype(words, stars)}, [{', '.join(types)}])" if name else "")


if __name__ == "__main__":
    main(sys.argv[1])
