"""Pictures and tables in memory as the files that filters read."""

import atexit
import collections
import functools
import hashlib
import os
import shutil
import tempfile

from ._library import usage
from ._pictures import package_of, shape_of

_MOST = 64  # files that are kept
_kept: "collections.OrderedDict[str, None]" = collections.OrderedDict()


@functools.lru_cache(maxsize=1)
def _folder(process):
    """Returns a folder of this process, which is removed at its end."""
    folder = tempfile.mkdtemp(prefix="gpufilter-")
    atexit.register(lambda: process == os.getpid() and shutil.rmtree(folder, ignore_errors=True))
    return folder


def _keep(data, extension):
    """Returns the name of a file with these bytes. The same bytes have the same name, so that a pipeline is found again."""
    name = os.path.join(_folder(os.getpid()), hashlib.blake2b(data, digest_size=16).hexdigest() + extension)
    if not os.path.exists(name):
        part = tempfile.mktemp(dir=os.path.dirname(name))
        with open(part, "wb") as file:
            file.write(data)
        os.replace(part, name)
    _kept[name] = _kept.pop(name, None)
    while len(_kept) > _MOST:
        oldest, _ = _kept.popitem(last=False)
        if os.path.dirname(oldest) == os.path.dirname(name) and os.path.exists(oldest):
            os.unlink(oldest)
    return name


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
    shape, most = tuple(table.shape), {"uint8": 255, "uint16": 65535}.get(str(table.dtype).rpartition(".")[2], 1)
    if len(shape) == 4 and shape[0] == shape[1] == shape[2] and shape[3] == 3:
        values, nodes, head = table.tolist(), range(shape[0]), "LUT_3D_SIZE"
        rows = [values[red][green][blue] for blue in nodes for green in nodes for red in nodes]
    elif len(shape) == 1 or (len(shape) == 2 and shape[1] == 3):
        rows, head = [each if len(shape) == 2 else [each] * 3 for each in table.tolist()], "LUT_1D_SIZE"
    else:
        raise usage(f"lut: a table's shape is (N,), (N, 3) or (N, N, N, 3), not {shape}")
    return f"{head} {shape[0]}\n" + "".join("{:.9g} {:.9g} {:.9g}\n".format(*(v / most for v in row)) for row in rows)


def name_of(value, table=False):
    """Returns the name of a file with a picture, or with a table of numbers."""
    from ._pipelines import encode
    if table:
        return _keep(_cube(value).encode(), ".cube")
    if str(getattr(value, "dtype", "")).rpartition(".")[2] == "bool":  # a mask
        value = value.byte() * 255 if package_of(value) == "torch" else value.astype("uint8") * 255
    return _keep(encode(value, "png"), ".png")
