"""Pictures and tables in memory as the files that filters read."""

import collections
import hashlib
import os

from ._library import usage, wrong_type
from ._pictures import FLOATS, package_of, type_name

_MOST = 64  # files that are kept beside those of the calls in progress
_kept: "collections.OrderedDict[bytes, _File]" = collections.OrderedDict()  # its operations are atomic: no lock that a fork could find taken


class _File(os.PathLike):
    """A file in memory, which no process leaves behind however it ends. It has a name as long as it is referred to."""

    def __init__(self, data):
        self._number = os.memfd_create("gpufilter")
        with open(self._number, "wb", closefd=False) as file:
            file.write(data)

    def __fspath__(self):
        return f"/proc/self/fd/{self._number}"

    def __del__(self, close=os.close):
        if hasattr(self, "_number"):
            close(self._number)


def _keep(data):
    """Returns a file with these bytes. The same bytes have the same file, so that a pipeline is found again."""
    key = hashlib.blake2b(data, digest_size=16).digest()
    file = _kept[key] = _kept.pop(key, None) or _File(data)
    while len(_kept) > _MOST:
        _kept.popitem(last=False)
    return file


def is_picture(kind, value):
    """Returns whether a parameter of that kind gets a picture or a table. An array of rows of four numbers is a region."""
    if kind not in ("file", "region") or isinstance(value, (str, bytes, os.PathLike)):
        return False
    shape = getattr(value, "shape", None) if package_of(value) != "PIL" else value.size
    if shape is None:
        return hasattr(value, "__dlpack__") or hasattr(value, "__array_interface__")
    return len(shape) > 0 and (kind == "file" or package_of(value) == "gpufilter" or (len(shape) > 1 and shape[1] != 4))


def _cube(table):
    """Returns the text of a .cube file of a table: of shape (N,) or (N, 3) curves, of shape (N, N, N, 3) a cube [red, green, blue]."""
    table = table.detach().cpu() if package_of(table) == "torch" else table
    if not hasattr(table, "tolist"):
        raise wrong_type("lut: file", "a name, or an array of numbers", table)
    shape, kind = tuple(table.shape), type_name(table.dtype)
    most = {"uint8": 255, "uint16": 65535, **dict.fromkeys(FLOATS, 1)}.get(kind)
    if not most:
        raise usage(f"lut: a table has floats of 0..1, uint8 or uint16, not {kind}")
    if len(shape) == 4 and shape[0] == shape[1] == shape[2] and shape[3] == 3:
        values, nodes, head = table.tolist(), range(shape[0]), "LUT_3D_SIZE"
        rows = [values[red][green][blue] for blue in nodes for green in nodes for red in nodes]
    elif len(shape) == 1 or (len(shape) == 2 and shape[1] == 3):
        rows, head = [each if len(shape) == 2 else [each] * 3 for each in table.tolist()], "LUT_1D_SIZE"
    else:
        raise usage(f"lut: a table's shape is (N,), (N, 3) or (N, N, N, 3), not {shape}")
    return f"{head} {shape[0]}\n" + "".join("{:.9g} {:.9g} {:.9g}\n".format(*(v / most for v in row)) for row in rows)


def file_of(value, table=False):
    """Returns a file with a picture, or with a table of numbers."""
    from ._pipelines import encode
    if table:
        return _keep(_cube(value).encode())
    if getattr(value, "dtype", None) is not None and type_name(value.dtype) == "bool":  # a mask
        value = value.byte() * 255 if package_of(value) == "torch" else value.astype("uint8") * 255
    return _keep(encode(value, "png"))
