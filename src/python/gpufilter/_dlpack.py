"""DLPack, the protocol by which packages hand arrays to each other: arrays that are taken, and Images that are given."""

import ctypes as _c

from ._library import Error, locked_address_of, usage


class _Tensor(_c.Structure):
    _fields_ = [("data", _c.c_void_p), ("device_type", _c.c_int32), ("device_id", _c.c_int32), ("ndim", _c.c_int32),
                ("code", _c.c_uint8), ("bits", _c.c_uint8), ("lanes", _c.c_uint16), ("shape", _c.POINTER(_c.c_int64)),
                ("strides", _c.POINTER(_c.c_int64)), ("byte_offset", _c.c_uint64)]


class _Managed(_c.Structure):
    _fields_ = [("tensor", _Tensor), ("context", _c.c_void_p), ("deleter", _c.c_void_p)]


class _Versioned(_c.Structure):
    _fields_ = [("major", _c.c_uint32), ("minor", _c.c_uint32), ("context", _c.c_void_p), ("deleter", _c.c_void_p),
                ("flags", _c.c_uint64), ("tensor", _Tensor)]


_NAMES = {b"dltensor": _Managed, b"dltensor_versioned": _Versioned}
_CPU, CUDA, _PINNED = (1, 0), 2, 3
_KINDS = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}

_api = _c.pythonapi
_is_valid = _c.PYFUNCTYPE(_c.c_int, _c.py_object, _c.c_char_p)(("PyCapsule_IsValid", _api))
_pointer = _c.PYFUNCTYPE(_c.c_void_p, _c.py_object, _c.c_char_p)(("PyCapsule_GetPointer", _api))
_new = _c.PYFUNCTYPE(_c.py_object, _c.c_void_p, _c.c_char_p, _c.c_void_p)(("PyCapsule_New", _api))


def interface_of(array):
    """Returns (array interface, the object that owns the memory) of an array in the host's memory."""
    try:
        device = tuple(map(int, array.__dlpack_device__()))
        if device[0] not in (_CPU[0], _PINNED):
            raise usage(f"DLPack's device {device} is neither the host nor one with __cuda_array_interface__")
        try:
            capsule = array.__dlpack__(max_version=(1, 0))
        except TypeError:  # a producer of the time before versions
            capsule = array.__dlpack__()
        kind = next(kind for name, kind in _NAMES.items() if _is_valid(capsule, name))
    except Error:
        raise
    except (AttributeError, BufferError, RuntimeError, StopIteration, TypeError, ValueError) as problem:
        raise usage(f"{type(array).__name__} gives no array by DLPack: {problem}") from problem
    name = next(name for name in _NAMES if _NAMES[name] is kind)
    tensor = kind.from_address(_pointer(capsule, name)).tensor
    size = tensor.bits * tensor.lanes // 8
    shape, strides = tuple(tensor.shape[:tensor.ndim]), None
    if tensor.strides:
        strides = tuple(size * stride for stride in tensor.strides[:tensor.ndim])
    letter = _KINDS.get(tensor.code, "V") if tensor.lanes == 1 else "V"
    # The capsule keeps the array alive, and frees it: its name stays "dltensor", since nobody else has taken it.
    return {"shape": shape, "strides": strides, "typestr": f"={letter}{size}",
            "data": ((tensor.data or 0) + tensor.byte_offset, True)}, capsule


#: gf_images_place()
place = locked_address_of("gf_images_place")


def exchange_of(kind):
    """Returns the address of the exchange API of a type of arrays; None where there is none, or one that place() does not know."""
    capsule = getattr(kind, "__dlpack_c_exchange_api__", None)
    api = _pointer(capsule, b"dlpack_exchange_api") if _is_valid(capsule, b"dlpack_exchange_api") else None
    return api if api and not place(api, api, 0, api, None) else None


def _keep_for_good(function):
    """Arrays of other packages may be freed when this module has been unloaded already."""
    _api.Py_IncRef(_c.py_object(function))
    return function


def _make_exports():
    given = {}  # the images that other packages hold, by the addresses of what describes them

    @_keep_for_good
    @_c.CFUNCTYPE(None, _c.c_void_p)
    def free(address, given=given):
        given.pop(address, None)

    @_keep_for_good
    @_c.PYFUNCTYPE(None, _c.c_void_p)
    def forget(capsule, given=given, names=tuple(_NAMES), api=_c.pythonapi, cast=_c.c_void_p):
        for name in names:
            if api.PyCapsule_IsValid(cast(capsule), name):  # nobody has taken it
                given.pop(_raw_pointer(capsule, name), None)

    return given, free, forget


_raw_pointer = _c.PYFUNCTYPE(_c.c_void_p, _c.c_void_p, _c.c_char_p)(("PyCapsule_GetPointer", _api))
_given, _free, _forget = _make_exports()


def capsule_of(image, address, shape, bits, max_version, device=_CPU, strides=None, code=1):
    """Returns a capsule of an image's samples, which keeps the image alive. strides: in samples; None: there are no gaps. code: 1, or 2 of floats."""
    name = b"dltensor_versioned" if max_version and max_version[0] >= 1 else b"dltensor"
    managed = _NAMES[name]()
    sizes = (_c.c_int64 * len(shape))(*shape)
    if strides is None:
        strides, step = [1] * len(shape), 1
        for axis in reversed(range(len(shape))):
            strides[axis], step = step, step * shape[axis]
    strides = (_c.c_int64 * len(shape))(*strides)
    managed.tensor = _Tensor(address, *device, len(shape), code, bits, 1, sizes, strides, 0)
    managed.deleter = _c.cast(_free, _c.c_void_p)
    if name == b"dltensor_versioned":
        managed.major = 1
    at = _c.addressof(managed)
    _given[at] = (image, managed, sizes, strides)
    return _new(at, name, _c.cast(_forget, _c.c_void_p))
