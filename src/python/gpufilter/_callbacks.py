"""Functions of Python that the library calls during a call: what they raise ends it, and comes out."""

import contextlib
import sys
import threading

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
