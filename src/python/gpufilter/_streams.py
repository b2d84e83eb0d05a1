"""Functions of Python that the library calls during a call: what they raise ends it, and comes out. File objects as the library's
readers and writers: what has read() gives bytes, what has write() takes them."""

import _thread
import contextlib
import ctypes as _c
import io
import os
import sys
import threading
import time

from . import _abi
from ._library import lib

_WATCH = lib.gf_pipeline_watch.argtypes[1]


@contextlib.contextmanager
def nothing_lost(raised, callbacks):
    """Adds to `raised` what signals' handlers raise as a callback of C begins: before its first line, where ctypes drops it."""
    if threading.current_thread() is not threading.main_thread():  # which alone runs handlers
        yield
        return
    before = sys.unraisablehook

    def hook(lost):
        if any(lost.object is each or repr(each) in (lost.err_msg or "") for each in callbacks):
            raised.append(lost.exc_value or lost.exc_type())
        else:
            before(lost)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        if sys.unraisablehook is hook:
            sys.unraisablehook = before


@contextlib.contextmanager
def watched(handle, progress):
    """Lets a function follow the calls of a handle. What it raises ends a call, and is raised afterwards."""
    if not progress:
        yield
        return
    raised = []

    def watch(_, part):
        try:
            if not raised:
                progress(part)
        except BaseException as problem:
            raised.append(problem)
        return not raised

    followed = handle.followed = _WATCH(watch)
    lib.gf_pipeline_watch(handle.pipeline, followed, None)
    try:
        with nothing_lost(raised, [watch]):
            yield
    finally:
        if not handle.left:
            lib.gf_pipeline_watch(handle.pipeline, _WATCH(), None)
        if raised:
            raise raised[0]


PATIENCE = 0.06  # seconds that a call has to end before it is left
LONG = 1 << 18  # bytes of pixels whose call may take longer than a user waits


class _Nobody:
    """What stands for a handle where there is none: nothing ends the call before its time."""
    pipeline, left = None, False


def unhurried(size, function, kept, *arguments):
    """Returns function(*arguments), for so many bytes: for many of them by interruptible()."""
    return interruptible(_Nobody(), function, kept, *arguments) if size >= LONG else function(*arguments)


def interruptible(handle, function, kept, *arguments):
    """Returns function(*arguments), a call of a handle, during which signals' handlers run: what one raises ends the call soon.

    The main thread alone runs handlers, and only between Python's instructions: so another thread is within the library. Some
    codecs look for the end between pictures alone: such a call is left to its thread, with `kept`, the memory that it needs.
    """
    if threading.current_thread() is not threading.main_thread():
        return function(*arguments)
    gate, done, allowed, results = _thread.allocate_lock(), _thread.allocate_lock(), [], []

    def call():
        gate.acquire()
        if allowed[0]:
            try:
                results.append(function(*arguments))
            except BaseException as problem:
                results.append(problem)
        done.release()
        return kept, handle

    gate.acquire()
    done.acquire()
    try:
        _thread.start_new_thread(call, ())
        allowed.append(True)
        gate.release()
        done.acquire()
    except BaseException as problem:  # from a handler, at any instruction
        has_no_thread = isinstance(problem, RuntimeError) and not allowed
        if not allowed:
            allowed.append(False)
        if gate.locked():
            gate.release()
        until = time.monotonic() + PATIENCE
        while allowed[0] and not results and not handle.left:
            with contextlib.suppress(BaseException):  # the first of several signals counts
                while not results and not handle.left:
                    lib.gf_pipeline_cancel(handle.pipeline)
                    time.sleep(0.005)
                    handle.left = time.monotonic() > until
        if has_no_thread:
            return function(*arguments)
        raise
    if isinstance(results[0], BaseException):
        raise results[0]
    return results[0]


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
