"""libgpufilter by ctypes: pictures as arrays of rows, columns and channels (rows and columns alone: gray)."""
import ctypes

import numpy


class Format(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int) for name in ("width", "height", "channels", "bits", "samples")]


class Image(ctypes.Structure):
    _fields_ = [("format", Format), ("pitch", ctypes.c_size_t), ("data", ctypes.c_void_p), ("owned", ctypes.c_bool)]


class Options(ctypes.Structure):
    """The first members of struct gf_options; gf_options_init leaves the others at their defaults."""
    _fields_ = [("size", ctypes.c_size_t)] + [
        (name, ctypes.c_int) for name in ("device", "device_index", "lanes", "band_rows", "threads")]


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("text", ctypes.c_char * 400)]


DEVICE_CPU = 1


class Library:
    def __init__(self, path):
        self.path, self.calls = path, ctypes.CDLL(path)
        self.calls.gf_pipeline_close.argtypes = [ctypes.c_void_p]
        self.calls.gf_pipeline_close.restype = None
        self.calls.gf_pipeline_format.argtypes = [ctypes.c_void_p, Format] + [ctypes.c_void_p] * 2
        self.calls.gf_pipeline_run_image.argtypes = [ctypes.c_void_p] * 4

    def open(self, chain, threads):
        return Pipeline(self.calls, chain, threads)

    def run(self, chain, picture):
        """The result for one picture."""
        pipeline = self.open(chain, 1)
        try:
            return pipeline.run(picture)
        finally:
            pipeline.close()


class Pipeline:
    """A chain on the CPU. run() gives the same array again for pictures of the same format, as its peers do."""

    def __init__(self, calls, chain, threads):
        self.calls, self.error, self.picture, self.result = calls, Error(), None, None
        self.pipeline = ctypes.c_void_p()
        options = Options()
        calls.gf_options_init(ctypes.byref(options), ctypes.c_size_t(ctypes.sizeof(options)))
        options.device, options.threads = DEVICE_CPU, threads
        self._check(calls.gf_pipeline_open(chain.encode(), ctypes.byref(options), ctypes.byref(self.pipeline),
                                           ctypes.byref(self.error)))

    def _check(self, status):
        if status:
            raise RuntimeError(self.error.text.decode())

    def close(self):
        self.calls.gf_pipeline_close(self.pipeline)

    def shape(self, picture):
        """Rows, columns and, where there are several, channels of the result."""
        wanted = Format()
        self._check(self.calls.gf_pipeline_format(self.pipeline, _image(picture).format, ctypes.byref(wanted),
                                                  ctypes.byref(self.error)))
        return (wanted.height, wanted.width) + ((wanted.channels,) if wanted.channels > 1 else ())

    def run(self, picture):
        """What the call takes is kept for the next run of the same array: making it in Python, which the peers' bindings do
        in C, would take longer than the call of a small picture."""
        if self.picture is not picture:
            self.picture, image, shape = picture, _image(picture), self.shape(picture)
            if self.result is None or self.result.shape != shape:
                self.result = numpy.empty(shape, picture.dtype)
            self.arguments = (self.pipeline, *map(ctypes.pointer, (image, _image(self.result), self.error)))
        self._check(self.calls.gf_pipeline_run_image(*self.arguments))
        return self.result


def _image(array):
    channels = array.shape[2] if array.ndim == 3 else 1
    return Image(Format(array.shape[1], array.shape[0], channels, 8 * array.itemsize, array.dtype.kind == "f"), array.strides[0],
                 array.ctypes.data, False)
