"""File objects as the library's readers and writers: what has read() gives bytes, what has write() takes them."""

import ctypes as _c
import io

from . import _abi

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
    """Returns whether this is a file object. A mmap has read(), too, but is bytes."""
    return hasattr(data, "read") and not is_buffer(data)


def write(file, data):
    """Writes all bytes; a file without a buffer takes some at a time."""
    while isinstance(file, io.RawIOBase) and data:
        taken = file.write(data)
        if not taken:
            raise BlockingIOError("write() has taken no bytes")
        data = data[taken:]
    if data:
        file.write(data)


class Streams:
    """The file objects of one call. What they raise ends it, and is in `raised` afterwards."""

    def __init__(self):
        self.raised, self._kept = [], []

    def reader(self, file):
        """Returns the address of a struct gf_reader."""
        def read(_, address, size, got, __):
            data = bytes(memoryview(file.read(min(size, _MOST))))
            if len(data) > size:
                raise ValueError(f"read({size}) has returned {len(data)} bytes")
            _c.memmove(address, data, len(data))
            got[0] = len(data)

        return self._keep(_abi.gf_reader, _READ, read, _abi.GF_ERROR_READ)

    def writer(self, file):
        """Returns the address of a struct gf_writer."""
        def take(_, address, size, __):
            write(file, _c.string_at(address, size))

        return self._keep(_abi.gf_writer, _WRITE, take, _abi.GF_ERROR_OUTPUT)

    def _keep(self, struct, kind, work, failed):
        def call(*arguments):
            try:
                work(*arguments)
            except BaseException as problem:
                self.raised.append(problem)
                return failed
            return _abi.GF_OK

        made = struct(_c.sizeof(struct), kind(call))
        self._kept.append(made)
        return _c.byref(made)
