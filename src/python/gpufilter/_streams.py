"""File objects as the library's readers and writers: what has read() gives bytes, what has write() takes them."""

import ctypes as _c
import io
import os

from . import _abi
from ._callbacks import nothing_lost

_READ, _WRITE = dict(_abi.gf_reader._fields_)["read"], dict(_abi.gf_writer._fields_)["write"]
_MOST = 1 << 20  # bytes that are asked for at once


def is_buffer(data):
    """Returns whether these are bytes."""
    try:
        memoryview(data)
    except TypeError:
        return False
    return True


def can_read(data):
    """Returns whether this is a file object. A mmap has read(), too, but is bytes, and so have some paths."""
    return hasattr(data, "read") and not isinstance(data, os.PathLike) and not is_buffer(data)


def read(file, size):
    """Returns at most `size` bytes; none at the end."""
    data = file.read(size)
    if data is None:
        raise BlockingIOError("read() has given no bytes")
    if isinstance(data, str):
        raise TypeError("read() has given a str: open the file in binary mode")
    data = bytes(memoryview(data))
    if len(data) > size:
        raise ValueError(f"read({size}) has given {len(data)} bytes")
    return data


def read_all(file):
    """Returns all bytes to the end."""
    return b"".join(iter(lambda: read(file, _MOST), b""))


def write(file, data):
    """Writes all bytes; a file without a buffer takes some at a time, and says how many."""
    while data:
        taken = file.write(data)
        if not taken and (taken == 0 or isinstance(file, io.RawIOBase)):
            raise BlockingIOError("write() has taken no bytes")
        data = data[taken:] if isinstance(taken, int) else b""


class Streams:
    """The file objects of one call. What they raise ends it, and is in `raised` afterwards."""

    def __init__(self):
        self.raised, self._kept, self._callbacks = [], [], []

    def around(self, function):
        """Returns a function of the library that calls these streams."""
        def run(*arguments):
            with nothing_lost(self.raised, self._callbacks):
                return function(*arguments)

        return run

    def reader(self, file):
        """Returns the address of a struct gf_reader."""
        def give(_, address, size, got, __):
            data = read(file, min(size, _MOST))
            _c.memmove(address, data, len(data))
            got[0] = len(data)

        return self._keep(_abi.gf_reader, _READ, give, _abi.GF_ERROR_READ)

    def writer(self, file):
        """Returns the address of a struct gf_writer."""
        def take(_, address, size, __):
            write(file, _c.string_at(address, size))

        return self._keep(_abi.gf_writer, _WRITE, take, _abi.GF_ERROR_OUTPUT)

    def _keep(self, struct, kind, work, failed):
        raised = self.raised  # not self, which would keep the file in a cycle of references

        def call(*arguments):
            try:
                if not raised:
                    work(*arguments)
            except BaseException as problem:
                raised.append(problem)
            return failed if raised else _abi.GF_OK

        self._callbacks.append(call)
        made = struct(_c.sizeof(struct), kind(call))
        self._kept.append(made)
        return _c.byref(made)
