"""Compares the machine code of two builds, function by function and table by table: moves.py FOLDER FOLDER.

Each folder has objects that tests/moves.sh compiled, so that a function's code depends on nothing but its own text: nothing is
inlined or specialised, each function and table has a section of its own. What refers to another function or table refers to its
content, in twelve steps, and what refers to a constant to the constant's bytes; names count for nothing but outside of the
objects. So code that was moved to another file, got another name or is no longer extern is equal. What differs is printed, at first
what differs by itself, then how many in all. Exit status 1: there are some."""

import collections
import hashlib
import os
import re
import struct
import sys

ALLOC, MERGE, STRINGS = 2, 16, 32
NOBITS, RELA = 8, 4
OBJECT, FUNCTION, SECTION, THREAD_LOCAL, INDIRECT = 1, 2, 3, 6, 10
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
                    name, info, _, where, value, _ = struct.unpack_from("<IBBHQQ", self.data, at)
                    self.symbols.append((self.text(texts + name), info & 15, where, value, info >> 4))
        self.relocations = collections.defaultdict(list)
        for section in self.sections:
            if section["type"] == RELA:
                for at in range(section["at"], section["at"] + section["size"], 24):
                    offset, info, addend = struct.unpack_from("<QQq", self.data, at)
                    self.relocations[section["info"]].append((offset, info & 0xffffffff, info >> 32, addend))
        self.referred = None
        self.named = collections.defaultdict(dict)
        for name, kind, where, value, _ in self.symbols:
            if kind in (OBJECT, FUNCTION, THREAD_LOCAL, INDIRECT) and name:
                self.named[where].setdefault(value, name)

    def next_reference(self, where, at):
        """The next offset of a section that something refers to, behind this one."""
        if self.referred is None:
            self.referred = collections.defaultdict(set)
            for relocations in self.relocations.values():
                for _, kind, symbol, addend in relocations:
                    _, _, section, value, _ = self.symbols[symbol]
                    self.referred[section].add(addend + value + (4 if kind in RELATIVE else 0))
        return min((other for other in self.referred[where] if other > at), default=self.sections[where]["size"])

    def text(self, at):
        return self.data[at:self.data.index(b"\0", at)].decode("latin-1")

    def content(self, section, begin=0, end=None):
        if section["type"] == NOBITS:
            return b"%d zeros" % section["size"]
        return self.data[section["at"] + begin:section["at"] + (section["size"] if end is None else end)]


def plain(name):
    """The name without the number that the compiler adds to what is local to a function, and without the prefix of extern names."""
    name = re.sub(r"\.(\d+|lto_priv.*)$", "", name)
    return name[3:] if name.startswith("gf_") else name


class Item:
    """A function or table: its names, its bytes without what is relocated, and what it refers to: text, or another item."""

    def __init__(self, names):
        self.names, self.references, self.digest = names, [], b""


def load(folder):
    """The items of all objects in a folder."""
    objects, items, defined = [], {}, {}
    for root, _, files in os.walk(folder):
        objects += [Elf(os.path.join(root, file)) for file in files if file.endswith(".o")]
    for elf in objects:
        for index, section in enumerate(elf.sections):
            if section["flags"] & ALLOC and elf.named[index]:
                items[elf, index] = Item([plain(name) for name in elf.named[index].values()])
        for name, kind, where, value, bind in elf.symbols:
            if bind and name and (elf, where) in items:
                defined[name] = items[elf, where], value
    for (elf, index), item in items.items():
        content = bytearray(elf.content(elf.sections[index]))
        for offset, kind, symbol, addend in sorted(elf.relocations[index]):
            width = 8 if kind == 1 else 4
            content[offset:offset + width] = bytes(width)
            item.references.append(((offset, kind in RELATIVE), *target(elf, items, defined, kind, symbol, addend)))
        item.digest = hashlib.sha256(bytes(content)).digest()
    return list(items.values())


def target(elf, items, defined, kind, symbol, addend):
    """What a relocation refers to, whichever file it lies in, and where in it."""
    name, symbol_kind, where, value, _ = elf.symbols[symbol]
    if name in defined and symbol_kind != SECTION:
        return defined[name][0], addend + defined[name][1]
    if (elf, where) in items:
        return items[elf, where], addend + value
    if symbol_kind != SECTION and not name.startswith(".L"):
        return name, addend
    section = elf.sections[where]
    at = addend + value + (4 if kind in RELATIVE else 0)
    if section["flags"] & STRINGS:
        return elf.text(section["at"] + at), 0
    if section["flags"] & MERGE:
        at += -at % min(section["entry"], 8)  # bytes of the instruction may follow the reference
        return elf.content(section, at, at + min(section["entry"], 8)).rstrip(b"\0"), 0  # a wider one may begin with the bytes of this one
    return elf.content(section, at, min(at + 8, elf.next_reference(where, at))), 0  # how long it is, nothing else says


def digests(items, rounds):
    """What items are, and what they refer to, in as many steps."""
    for item in items:
        item.now = item.digest
    for _ in range(rounds):
        for item in items:
            told = hashlib.sha256(item.digest)
            for place, what, offset in item.references:
                told.update(repr((place, what.now if isinstance(what, Item) else what, offset)).encode())
            item.next = told.digest()
        for item in items:
            item.now = item.next
    return {item.now for item in items}


def main(before, after):
    old, new = load(before), load(after)
    told = set()
    for rounds in range(13):  # those that differ by themselves come before those that refer to them
        there, here = digests(old, rounds), digests(new, rounds)
        for word, items, others in (("changed or gone", old, here), ("changed or new", new, there)):
            lines = {f"{word}: {', '.join(item.names)}" for item in items if item.now not in others}
            if rounds < 2:
                print("".join(line + "\n" for line in sorted(lines - told)), end="")
            told |= lines
    same = sum(item.now in here for item in old)
    names = collections.Counter(name for item in old for name in item.names)
    lost = names - collections.Counter(name for item in new for name in item.names)
    print(f"{same} of {len(old)} functions and tables are the same, {sum(item.now not in there for item in new)} of {len(new)} are new; "
          f"{len(lost)} names are no longer there")
    return 0 if same == len(old) and all(item.now in there for item in new) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
