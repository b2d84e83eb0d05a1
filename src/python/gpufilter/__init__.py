"""Image filters on NVIDIA GPUs, and the same pictures without one.

    import gpufilter as gf
    result = gf.run("blur=2,equalize", array)       # numpy in, numpy out; torch in, torch out
    picture = gf.open("photo.jpg")                   # an Image: numpy.asarray(picture)
    small = gf.thumbnail(picture, 256)               # every filter is a function: help(gf.thumbnail)
    data = gf.encode(small, "webp", quality=80)     # or small.save("small.webp", quality=80)
    batch = gf.decode(files, "resize=224:224", dtype="float32", layout="NCHW")  # a list of bytes, on all processors
    gf.batch(["photos"], "small/", "thumbnail=256")  # the program: every processor and GPU

Arrays have the shape (rows, columns) or (rows, columns, channels): 1 to 4 channels are gray, gray with alpha, RGB, RGBA.
Their samples are unsigned integers of 8 or 16 bits, or floats, which are filtered as 16 bits and come back as they were, or stay floats (value_range=);
alpha is not premultiplied. Options are the members of struct gf_options in gpufilter/options.h, enums by their words: device="cuda:1",
subsampling="444", strip=True or strip="gps,exif", keep="icc", max_pixels=10**8.
Every function may be called from several threads, and lets other threads run meanwhile. A child of fork() starts its own
pipelines. It must not be forked while another thread is within a call, nor after a GPU was used, since CUDA does not survive
that: multiprocessing's "spawn" and "forkserver" have no such limits.
"""

from . import _filters
from ._batch import batch, compare, info
from ._batches import DeviceImage
from ._library import Error, InputError, PictureWarning, TryAgainError, UnavailableError, UsageError, WrongTypeError, lib as _lib, program
from ._pictures import Image
from ._pipelines import Pipeline, decode, encode, open, run, save

__version__ = _lib.gf_version().decode()

for _name in (Error, InputError, PictureWarning, TryAgainError, UnavailableError, UsageError, WrongTypeError, DeviceImage, Image,
              Pipeline, batch, compare, decode, encode, info, open, run, save):
    _name.__module__ = __name__

#: The filters by their names, as functions made from the library's declarations.
filters = _filters.functions = _filters.make(_lib, run)
globals().update({_name: _function for _name, _function in filters.items() if _name not in globals()})
