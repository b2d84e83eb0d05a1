"""Compares the machine code of two builds, function by function and table by table: moves.py FOLDER FOLDER.

Each folder has objects that tests/moves.sh compiled, so that a function's code depends on nothing but its own text: nothing is
inlined or specialised, each function and table has a section of its own. What refers to another function or table does so by its
name, what refers to a constant by the constant's bytes. Code that was only moved to another file, or is no longer extern, is
equal, also under another name; the names of all other functions and tables are printed. Exit status 1: there are some."""

import collections
import hashlib
import os
import re
import struct
import sys

ALLOC, MERGE, STRINGS = 2, 16, 32
NOBITS, RELA = 8, 4
OBJECT, FUNCTION, SECTION = 1, 2, 3
RELATIVE = {2, 4, 9, 41, 42}  # R_X86_64_PC32, PLT32 and the GOT's kinds


class Elf:
    """The sections, symbols and relocations of an object of x86-64."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        start, = struct.unpack_from("<Q", self.data, 40)
        size, count, names = struct.unpack_from("<HHH", self.data, 58)
        heads = [struct.unpack_from("<IIQQQQIIQQ", self.data, start + i * size) for i in range(count)]
        self.sections = [{"type": h[1], "flags": h[2], "at": h[4], "size": h[5], "link": h[6], "info": h[7], "entry": h[9], "name_at": h[0]}
                         for h in heads]
        for section in self.sections:
            section["name"] = self.text(self.sections[names]["at"] + section["name_at"])
        self.symbols = []
        for section in self.sections:
            if section["type"] == 2:
                texts = self.sections[section["link"]]["at"]
                for at in range(section["at"], section["at"] + section["size"], 24):
                    name, info, _, where, value, length = struct.unpack_from("<IBBHQQ", self.data, at)
                    self.symbols.append((self.text(texts + name), info & 15, where, value, length))
        self.relocations = collections.defaultdict(list)
        for section in self.sections:
            if section["type"] == RELA:
                for at in range(section["at"], section["at"] + section["size"], 24):
                    offset, info, addend = struct.unpack_from("<QQq", self.data, at)
                    self.relocations[section["info"]].append((offset, info & 0xffffffff, info >> 32, addend))
        self.named = collections.defaultdict(dict)
        for name, kind, where, value, _ in self.symbols:
            if kind in (OBJECT, FUNCTION) and name:
                self.named[where].setdefault(value, name)

    def text(self, at):
        return self.data[at:self.data.index(b"\0", at)].decode("latin-1")

    def content(self, section, begin=0, end=None):
        if section["type"] == NOBITS:
            return b"%d zeros" % section["size"]
        return self.data[section["at"] + begin:section["at"] + (section["size"] if end is None else end)]


RENAMED = {}  # names of the first build, and what they are called in the second


def plain(name):
    """The name without the number that the compiler adds to what is local to a function, and without the prefix of extern names."""
    name = re.sub(r"\.(\d+|lto_priv.*)$", "", name)
    name = name[3:] if name.startswith("gf_") else name
    return RENAMED.get(name, name)


def target(elf, kind, symbol, addend):
    """What a relocation refers to, whichever file it lies in."""
    name, symbol_kind, where, value, _ = elf.symbols[symbol]
    if symbol_kind != SECTION and not name.startswith(".L"):
        return plain(name), addend
    section = elf.sections[where]
    at = addend + value + (4 if kind in RELATIVE else 0)
    if section["flags"] & STRINGS:
        return elf.text(section["at"] + at), 0
    if section["flags"] & MERGE:
        at += -at % section["entry"]  # bytes of the instruction may follow the reference
        return elf.content(section, at, at + section["entry"]), 0
    if 0 in elf.named[where] and len(elf.named[where]) == 1:
        return plain(elf.named[where][0]), addend
    if at in elf.named[where]:
        return plain(elf.named[where][at]), addend - at
    return elf.content(section, at, at + 16), 0


def items(folder):
    """The functions and tables of all objects: hashes by name."""
    found = collections.defaultdict(set)
    for root, _, files in os.walk(folder):
        for file in files:
            if not file.endswith(".o"):
                continue
            elf = Elf(os.path.join(root, file))
            for index, section in enumerate(elf.sections):
                if not section["flags"] & ALLOC or not elf.named[index]:
                    continue
                content = bytearray(elf.content(section))
                digest = hashlib.sha256()
                for offset, kind, symbol, addend in sorted(elf.relocations[index]):
                    width = 8 if kind == 1 else 4
                    content[offset:offset + width] = bytes(width)
                    what = target(elf, kind, symbol, addend)
                    digest.update(repr((offset, kind in RELATIVE, what)).encode())
                digest.update(bytes(content))
                for name in elf.named[index].values():
                    found[plain(name)].add(digest.hexdigest())
    return found


def main(before, after):
    new = items(after)
    while True:  # who calls what was renamed is equal once the new name is known
        old = items(before)
        gone, come = set(old) - set(new), set(new) - set(old)
        by_code = {frozenset(new[name]): name for name in come}
        found = {name: by_code[frozenset(old[name])] for name in gone if frozenset(old[name]) in by_code}
        if not found:
            break
        RENAMED.update(found)
    changed = {name for name in old if name in new and not (old[name] <= new[name] or new[name] <= old[name])}
    for name, other in sorted(RENAMED.items()):
        print(f"renamed: {name} is {other}")
    for word, names in (("gone", gone), ("new", come), ("changed", changed)):
        for name in sorted(names):
            print(f"{word}: {name}")
    print(f"{len(old) - len(gone) - len(changed)} of {len(old)} functions and tables are the same; {len(RENAMED)} of them renamed, "
          f"{len(changed)} changed, {len(gone)} gone, {len(come)} new")
    return 0 if not changed and not gone and not come else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
