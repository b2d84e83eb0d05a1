"""Memory into which the library writes the files of a batch: new bytes, or memory that is used again.

New memory takes longer than encoding: the system clears each page when it is first touched. The library's threads share that, since
they write into the bytes objects themselves, which are made with more room than a file needs, and cut afterwards. Room that nobody
touches costs nothing.
"""

import collections
import ctypes as _c
import mmap

_api = _c.pythonapi
_new = _c.PYFUNCTYPE(_c.c_void_p, _c.c_void_p, _c.c_ssize_t)(("PyBytes_FromStringAndSize", _api))
_cut = _c.PYFUNCTYPE(_c.c_int, _c.c_void_p, _c.c_ssize_t)(("_PyBytes_Resize", _api))
_object_at = _c.PYFUNCTYPE(_c.py_object, _c.c_void_p)(("PyBytes_FromObject", _api))
_drop = _c.PYFUNCTYPE(None, _c.c_void_p)(("Py_DecRef", _api))
FIRST = bytes.__basicsize__ - 1  # the place of the bytes in an object


class NewBytes:
    """Bytes objects that nobody else knows yet."""

    def __init__(self, rooms):
        self.rooms = rooms
        self._objects = (_c.c_void_p * len(rooms))()  # a reference to each
        for i, room in enumerate(rooms):
            self._objects[i] = _new(None, room)
        self.addresses = [place + FIRST for place in self._objects]

    def take(self, sizes):
        """Returns the objects, which become as long as their files."""
        at, step = _c.addressof(self._objects), _c.sizeof(_c.c_void_p)
        for i, size in enumerate(sizes):
            _cut(at + i * step, size)
        return [_object_at(place) for place in self._objects]

    def __del__(self):
        for place in self._objects:
            if place:
                _drop(place)


_PAGE = mmap.PAGESIZE
_idle = collections.deque(maxlen=2)  # its operations are atomic: no lock that a fork could find taken


class _Lent:
    """Memory that memoryviews refer to. With the last of them it is idle again."""

    def __init__(self, memory):
        self._memory = memory

    def __del__(self, idle=_idle):
        idle.append(self._memory)


def _take(size):
    try:
        memory = _idle.pop()
        if len(memory) >= size:
            return memory
    except IndexError:  # there is none, or another thread was faster
        pass
    return mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)


class Views:
    """Parts of memory that is used again: its pages have been touched before."""

    def __init__(self, rooms):
        self.rooms, starts = rooms, [0]
        for room in rooms:
            starts.append(starts[-1] + -(-room // _PAGE) * _PAGE)
        memory = _take(max(starts[-1], _PAGE))
        holder = (_c.c_char * len(memory)).from_buffer(memory)
        holder.lent = _Lent(memory)
        first, self._starts, self._view = _c.addressof(holder), starts, memoryview(holder).cast("B")
        self.addresses = [first + start for start in starts[:-1]]

    def take(self, sizes):
        """Returns a memoryview of each file."""
        return [self._view[start:start + size] for start, size in zip(self._starts, sizes)]


def file_of(address, size, views):
    """Returns a copy of a file that the library has allocated."""
    data = _c.string_at(address, size)
    return memoryview(bytearray(data)) if views else data
