"""Functions of Python that the library calls during a call: what they raise ends it, and comes out."""

import _thread
import contextlib
import sys
import threading
import time

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

    followed = _WATCH(watch)
    lib.gf_pipeline_watch(handle.pipeline, followed, None)
    try:
        with nothing_lost(raised, [watch]):
            yield
    finally:
        lib.gf_pipeline_watch(handle.pipeline, _WATCH(), None)
        if raised:
            raise raised[0]


def interruptible(handle, function, *arguments):
    """Returns function(*arguments), a call of a handle, during which signals' handlers run: what one raises ends the call soon.

    The main thread alone runs handlers, and only between Python's instructions: so another thread is within the library.
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
        while allowed[0] and not results:
            with contextlib.suppress(BaseException):  # the first of several signals counts
                while not results:
                    lib.gf_pipeline_cancel(handle.pipeline)
                    time.sleep(0.005)
        if has_no_thread:
            return function(*arguments)
        raise
    if isinstance(results[0], BaseException):
        raise results[0]
    return results[0]
