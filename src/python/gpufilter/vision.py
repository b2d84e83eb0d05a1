"""Pictures as the numbers that vision models take, of the sizes that their image processors make.

    from gpufilter import vision
    rows, grid_thw = vision.qwen2_vl(pictures, dtype="bfloat16")
    tensor = vision.clip(pictures)                    # (pictures, 3, 224, 224)

The numbers are those of the image processors of the package transformers that work by Pillow: the "slow" ones before version
5, backend="pil" since. With dtype="uint8", mean=None and std=None they are the samples before normalisation, bit by bit; float32
is equal, too, and other types have the nearest number to that.

What all functions take: pictures are arrays of the host or of a CUDA device, Images and DeviceImages (see gpufilter.run()), one
or a list of them, of 8 or 16 bits, with 1 to 4 channels and of any sizes. Gray becomes three equal channels, and transparent
pixels become white, as version 5 has it; before, transparency was ignored. mean and std are of samples from 0 to `scale` (by
default 1), a number or one for each channel. resample is a kernel of the filter resize, by Pillow's name in small letters.
Other keywords are options of gpufilter.run(). The numbers are an array of the package of the first picture, otherwise of numpy; on
a device of torch or cupy. Wrong sizes and values raise UsageError or InputError.
"""

from __future__ import annotations

import math
import sys
from typing import Any, Callable, Optional, Sequence, Union

from . import _batches, _device, _pictures, _pipelines
from ._library import Error, usage

#: The means and standard deviations of OpenAI's CLIP, and those that map 0..1 to -1..1.
CLIP_MEAN, CLIP_STD = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
HALF = (0.5, 0.5, 0.5)
#: The (height, width) that LLaVA-NeXT chooses from.
PINPOINTS = ((336, 672), (672, 336), (672, 672), (1008, 336), (336, 1008))

_PerChannel = Union[float, Sequence[float], None]
_KERNELS = {"lanczos": "lanczos3", "bicubic": "cubic", "bilinear": "linear", "nearest": "nearest", "box": "box", "hamming": "hamming"}

#: Makes three equal channels of a gray one: colours that aren't gray do so, and red becomes all of them.
_COLOUR = "duotone=black:#fffffe,colormatrix=1 0 0/1 0 0/1 0 0"


def smart_resize(height: int, width: int, factor: int = 28, min_pixels: int = 56 * 56, max_pixels: int = 14 * 14 * 4 * 1280) -> tuple[int, int]:
    """Returns the (height, width) in pixels that Qwen2-VL resizes a picture to: multiples of `factor` whose product lies from
    min_pixels to max_pixels where it can, by transformers' rule of the same name. UsageError if one side is more than 200 times the
    other, or if a number is below 1."""
    if min(height, width, factor, min_pixels, max_pixels) < 1:
        raise usage(f"smart_resize: {height}x{width} by factor={factor}, min_pixels={min_pixels}, max_pixels={max_pixels}: all are 1 or more")
    if max(height, width) / min(height, width) > 200:
        raise usage(f"smart_resize: of {height}x{width} pixels one side is more than 200 times the other")
    rows, columns = round(height / factor) * factor, round(width / factor) * factor
    if rows * columns > max_pixels:
        beta = math.sqrt((height * width) / max_pixels)
        return tuple(max(factor, math.floor(side / beta / factor) * factor) for side in (height, width))  # type: ignore[return-value]
    if rows * columns < min_pixels:
        beta = math.sqrt(min_pixels / (height * width))
        return tuple(math.ceil(side * beta / factor) * factor for side in (height, width))  # type: ignore[return-value]
    return rows, columns


def _resized(height: int, width: int, resample: str) -> str:
    if resample not in _KERNELS:
        raise usage(f"resample={resample!r} is none of {', '.join(_KERNELS)}")
    return f"resize={width}:{height}:{_KERNELS[resample]}:like=pillow"


def _shortest(height: int, width: int, size: int) -> tuple[int, int]:
    """Returns the (height, width) whose shorter side is `size`; the other one is rounded down."""
    longer = int(size * max(height, width) / min(height, width))
    return (longer, size) if width <= height else (size, longer)


def _cropped(height: int, width: int, size: int) -> str:
    """Returns the filters that cut the middle out, or add black where a picture is smaller, by the larger half before it."""
    cut, left, above = f"crop={min(width, size)}:{min(height, size)}", max(width - size, 0) // 2, max(height - size, 0) // 2
    far = [min(side, size) + max(size - side + 1, 0) // 2 for side in (width, height)]
    return f"{cut}:{left}:{above}:northwest,pad={far[0]}:{far[1]}:southeast:black,pad={size}:{size}:northwest:black"


def _taken(picture: Any) -> Any:
    """Returns a picture whose modes of Pillow the library knows."""
    if _pictures.package_of(picture) != "PIL":
        return picture
    clear = "transparency" in picture.info or picture.mode == "PA"
    return picture if picture.mode in ("L", "LA", "RGB", "RGBA") and not clear else picture.convert("RGBA" if clear else "RGB")


def _filtered(pictures: Any, chain_of: Callable[[int, int], str], options: Any, colour: bool = False) -> list[Any]:
    """Filters each picture by chain_of(height, width); those of one size together. With `colour` gray ones get three channels before."""
    pictures = [_taken(picture) for picture in (pictures if isinstance(pictures, (list, tuple)) else [pictures])]
    together: dict[str, list[int]] = {}
    for number, picture in enumerate(pictures):
        form = _pictures.picture(picture)[0].format
        try:
            chain = chain_of(form.height, form.width)
        except Error as failure:
            raise type(failure)(f"[{number}]: {failure}", failure.status) from None
        before = ["flatten"] if form.channels in (2, 4) else []
        if form.channels < 3 and colour:
            before.append(_COLOUR)
        together.setdefault(",".join(before + [chain] if chain else before), []).append(number)
    for chain, numbers in together.items():
        for number, result in zip(numbers, _pipelines.run(chain, [pictures[number] for number in numbers], **options)):
            pictures[number] = result
    return pictures


def _numbers(pictures: list[Any], dtype: Any, **form: Any) -> Any:
    """Returns the numbers of filtered pictures."""
    made = _batches.form_of(dtype, **form)
    if not pictures or not _device.has(pictures[0]):
        return _pipelines.numbers(pictures, made)
    pipeline = _pipelines._kept("", {"device": f"cuda:{_device.number_of(pictures[0])}"})
    return _batches.floats(pipeline, pictures, made, _device.package_of(type(pictures[0])))


def patches(pictures: Any, patch: int = 14, merge: int = 2, temporal: int = 2, *, dtype: Any = "float32", mean: _PerChannel = None,
            std: _PerChannel = None, scale: Optional[float] = None) -> tuple[Any, Any]:
    """Returns (rows, grid_thw) of pictures, whose sides in pixels are multiples of patch x merge.

    A row has the numbers of a square of `patch` pixels: all of a channel after another, each `temporal` times. merge x merge rows that
    follow each other are a block. Rows of all pictures follow each other. grid_thw has a row for each picture: 1, and how many patches
    are below and beside each other.
    """
    return _patches(_filtered(pictures, lambda height, width: "", {}), patch, merge, temporal, dtype=dtype, mean=mean, std=std, scale=scale)


def _patches(pictures: list[Any], patch: int, merge: int, temporal: int, **form: Any) -> tuple[Any, Any]:
    rows = _numbers(pictures, layout=None, channels=3, patches=(patch, merge, temporal), **form)
    forms = [_pictures.picture(picture)[0].format for picture in pictures]
    grid = [[1, form.height // patch, form.width // patch] for form in forms]
    package = "torch" if _pictures.package_of(rows) == "torch" else "numpy"
    if package not in sys.modules:
        return rows, grid
    return rows, sys.modules["torch"].tensor(grid) if package == "torch" else sys.modules["numpy"].array(grid, "int64")


def qwen2_vl(pictures: Any, *, min_pixels: int = 56 * 56, max_pixels: int = 28 * 28 * 1280, patch: int = 14, merge: int = 2,
             temporal: int = 2, dtype: Any = "float32", mean: _PerChannel = CLIP_MEAN, std: _PerChannel = CLIP_STD,
             scale: Optional[float] = None, resample: str = "bicubic", **options: Any) -> tuple[Any, Any]:
    """Returns Qwen2-VL's (pixel_values, image_grid_thw), see patches(), of pictures that smart_resize() gives their sizes. Qwen2.5-VL
    has the same, and Qwen3-VL patch=16, mean=std=HALF and limits of its own. The rule: Qwen2VLImageProcessor."""
    return _patches(_filtered(pictures, lambda height, width: _resized(
        *smart_resize(height, width, patch * merge, min_pixels, max_pixels), resample), options), patch, merge, temporal, dtype=dtype,
        mean=mean, std=std, scale=scale)


def clip(pictures: Any, size: int = 224, crop: Optional[int] = None, *, dtype: Any = "float32", layout: str = "NCHW",
         mean: _PerChannel = CLIP_MEAN, std: _PerChannel = CLIP_STD, scale: Optional[float] = None, resample: str = "bicubic",
         **options: Any) -> Any:
    """Returns CLIP's pixel_values: the shorter side becomes `size` pixels, of which the square of `crop` (by default `size`) in the
    middle is taken. The rule: CLIPImageProcessor."""
    def chain_of(height: int, width: int) -> str:
        shape = _shortest(height, width, size)
        return _resized(*shape, resample) + "," + _cropped(*shape, crop or size)
    return _numbers(_filtered(pictures, chain_of, options), dtype, layout=layout, channels=3, mean=mean, std=std, scale=scale)


def siglip(pictures: Any, size: Union[int, tuple[int, int]] = 224, *, dtype: Any = "float32", layout: str = "NCHW", mean: _PerChannel = HALF,
           std: _PerChannel = HALF, scale: Optional[float] = None, resample: str = "bicubic", **options: Any) -> Any:
    """Returns SigLIP's pixel_values: pictures of `size` pixels, or of (height, width), whatever their shape was. The rule:
    SiglipImageProcessor."""
    shape = size if isinstance(size, tuple) else (size, size)
    return _numbers(_filtered(pictures, lambda height, width: _resized(*shape, resample), options), dtype, layout=layout, channels=3,
                    mean=mean, std=std, scale=scale)


def llava(pictures: Any, size: int = 336, crop: Optional[int] = None, *, background: Sequence[float] = CLIP_MEAN, dtype: Any = "float32",
          layout: str = "NCHW", mean: _PerChannel = CLIP_MEAN, std: _PerChannel = CLIP_STD, scale: Optional[float] = None,
          resample: str = "bicubic", **options: Any) -> Any:
    """Returns LLaVA's pixel_values: the shorter side grows to the longer one by the colour `background`, three numbers 0..1 that are
    rounded down to bytes, and clip() follows. The rule: LlavaImageProcessor with do_pad=True."""
    colour = "#" + "".join(f"{int(255 * part):02x}" for part in background)

    def chain_of(height: int, width: int) -> str:
        side = max(height, width)
        return f"pad={side}:{side}:centre:{colour}," + _resized(size, size, resample) + "," + _cropped(size, size, crop or size)
    return _numbers(_filtered(pictures, chain_of, options, colour=True), dtype, layout=layout, channels=3, mean=mean, std=std, scale=scale)


def llava_next(pictures: Any, size: int = 336, pinpoints: Sequence[Sequence[int]] = PINPOINTS, *, dtype: Any = "float32", layout: str = "NCHW",
               mean: _PerChannel = CLIP_MEAN, std: _PerChannel = CLIP_STD, scale: Optional[float] = None, resample: str = "bicubic",
               **options: Any) -> tuple[Any, list[int]]:
    """Returns LLaVA-NeXT's tiles of size x size pixels (anyres), those of all pictures after each other, and how many each picture has.

    The first is the whole picture, the others are parts of it, scaled into the one of `pinpoints`, (height, width) in multiples of
    `size`, that shows most of it; the rest is black. torch.nn.utils.rnn.pad_sequence(tiles.split(counts), batch_first=True) makes the
    processor's pixel_values of them. The rule: LlavaNextImageProcessor, whose size and crop_size are `size`.
    """
    pinpoints = [tuple(point) for point in pinpoints]  # also of numpy's array
    if not pinpoints or size < 1 or any(len(point) != 2 or side < size or side % size for point in pinpoints for side in point):
        raise usage(f"pinpoints={pinpoints!r} are no (height, width) in multiples of size={size}")

    def chain_of(height: int, width: int) -> str:
        def shown(point: Sequence[int]) -> tuple[int, int]:
            by = min(point[1] / width, point[0] / height)
            return min(int(width * by) * int(height * by), width * height), -point[0] * point[1]
        high, wide = max(pinpoints, key=shown)
        by, other = wide / width, high / height
        shape = (min(math.ceil(height * by), high), wide) if by < other else (high, min(math.ceil(width * other), wide))
        return _resized(*shape, resample) + f",pad={wide}:{high}:centre:black"
    tiles, counts = [], []
    scaled = _filtered(pictures, chain_of, options, colour=True)
    for whole, parts in zip(_filtered(pictures, lambda height, width: _resized(size, size, resample), options, colour=True), scaled):
        form = _pictures.picture(parts)[0].format
        corners = [(x, y) for y in range(0, form.height, size) for x in range(0, form.width, size)]
        tiles += [whole] + [_pipelines.run(f"crop={size}:{size}:{x}:{y}:northwest", parts, **options) for x, y in corners]
        counts.append(1 + len(corners))
    return _numbers(tiles, dtype, layout=layout, channels=3, mean=mean, std=std, scale=scale), counts
