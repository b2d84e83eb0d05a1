"""The tables of rows: chains of gpufilter, and the calls of CV-CUDA (0.19), cuCIM (26.10) and kornia (0.9) that compute the same.

A call of CV-CUDA gets the case, the tensor to write and the tensor to read. A call of cuCIM or kornia gets the case and a
source (adapters.py), and returns arrays. FLOATS has the rows in RGBA of floats. Left out are what no peer computes alike: saturation, addnoise, clahe of colours,
and resizing by kernels that look at other pixels.
"""
import dataclasses
import math
import typing

WHITE = [255.0] * 4
SEPIA = [[.393, .769, .189], [.349, .686, .168], [.272, .534, .131]]


@dataclasses.dataclass
class Row:
    """A row of `make bench-gpu` by its chain, note and format. text: the chain, where the bench's name is not one. level: by how
    many levels of 255 (of floats, 1/255) samples may differ; share: per cent of them that may differ by more; edge: pixels of the sides that are
    not compared, or a part of the sides below 1. times: what a peer's result is multiplied by before it is compared."""
    chain: str
    note: str = ""
    format: str = "RGB8"
    cvcuda: typing.Callable | None = None
    cucim: typing.Callable | None = None
    kornia: typing.Callable | None = None
    level: int = 1
    share: float = .1
    edge: float = 0
    text: str = ""
    times: dict = dataclasses.field(default_factory=dict)


def gauss(sigma, form="RGB8"):
    taps = 2 * math.ceil(3 * sigma) + 1
    return Row(
        f"blur={sigma}", f"{taps} taps", form,
        lambda c, d, s: c.cv.gaussian_into(d, s, (taps, taps), (sigma, sigma), c.Border.REPLICATE, **c.on),
        lambda c, x: c.filters.gaussian(x.unit, sigma, mode="nearest", truncate=3.0, channel_axis=-1 if form == "RGB8" else None),
        lambda c, x: c.kornia.filters.gaussian_blur2d(x.planes, (taps, taps), (float(sigma), float(sigma)), "replicate"))


def median(radius, kornia=False):
    side = 2 * radius + 1
    return Row(
        f"median={radius}", f"{side}x{side}", "RGB8",
        lambda c, d, s: c.cv.median_blur_into(d, s, (side, side), **c.on),
        lambda c, x: [c.filters.median(p, c.once("box", lambda: c.cupy.ones((side, side), bool))) for p in x.channels],
        (lambda c, x: c.kornia.filters.median_blur(x.planes, (side, side))) if kornia else None, level=0, edge=radius)


def dilate(radius, kornia=False):
    side = 2 * radius + 1
    def cucim(c, x):
        box = c.once("box", lambda: c.morphology.footprint_rectangle((side, side), decomposition="separable"))
        return [c.morphology.dilation(p, box) for p in x.channels]
    return Row(
        f"dilate={radius}", f"{side}x{side}", "RGB8", lambda c, d, s: c.cv.morphology_into(
            d, s, c.cv.MorphologyType.DILATE, (side, side), (-1, -1), border=c.Border.REPLICATE, **c.on), cucim,
        (lambda c, x: c.kornia.morphology.dilation(x.planes, c.once("box", lambda: c.torch.ones(side, side, device="cuda"))))
        if kornia else None, level=0, edge=radius)


def convolve(side):
    weights = [[((side * y + x) * 7 + 3) % 11 + 1 for x in range(side)] for y in range(side)]
    total = sum(map(sum, weights))
    def cvcuda(c, d, s):
        kernels, anchor = c.once("kernel", lambda: (c.batch(c.torch.tensor(weights, device="cuda").float() / total, "F32"), c.cv.as_tensor(
            c.torch.full((1, 2), -1, dtype=c.torch.int32, device="cuda"), "NC")))
        c.cv.conv2d_into(c.batch(d, "RGB8"), c.batch(s, "RGB8"), kernels, anchor, c.Border.REPLICATE, **c.on)
    return Row("convolve", f"{side}x{side}", "RGB8", cvcuda, text="convolve=" + "/".join(" ".join(map(str, w)) for w in weights))


def box(radius, kornia=False):
    side = 2 * radius + 1
    return Row(
        f"boxblur={radius}", f"{side}x{side}" if radius == 4 else "", "RGB8",
        lambda c, d, s: c.cv.averageblur_into(d, s, (side, side), (-1, -1), c.Border.REPLICATE, **c.on), None,
        (lambda c, x: c.kornia.filters.box_blur(x.planes, (side, side), "replicate", separable=True)) if kornia else None)


def bilateral(sigma, form="RGB8"):
    """The other sigma is a tenth of the full scale."""
    side, tenth = 2 * math.floor(2 * sigma) + 1, 25.5 if form == "RGB8" else .1
    return Row(
        f"bilateral={sigma}", f"radius {side // 2}", form,
        lambda c, d, s: c.cv.bilateral_filter_into(d, s, side, tenth, float(sigma), c.Border.REPLICATE, **c.on), None,
        (lambda c, x: c.kornia.filters.bilateral_blur(x.planes, (side, side), .1, (float(sigma), float(sigma)), "replicate"))
        if sigma == 2 else None, level=12, share=1)


def half(kernel, plain=None, smooth=None, level=1):
    """Half of the picture by CV-CUDA: resize as it is, or a resize that looks at all pixels."""
    def cvcuda(c, d, s):
        if plain:
            c.cv.resize_into(d, s, getattr(c.Interp, plain), **c.on)
        else:
            c.cv.hq_resize_into(d, s, antialias=True, interpolation=getattr(c.Interp, smooth), **c.on)
    return Row(f"resize=50%:50%:kernel={kernel}", "", "RGB8", cvcuda, level=level)


def turn(kernel, level, share):
    """rotate=7:fit=keep, whose corners are white; cuCIM rotates the other way."""
    def cvcuda(c, d, s):
        c.warp(d, s, about_middle(c, [[math.cos(math.radians(7)), math.sin(math.radians(7))],
                                      [-math.sin(math.radians(7)), math.cos(math.radians(7))]]), kernel)
    return Row("rotate=7:fit=keep" if kernel == "LINEAR" else "rotate=7:cubic:fit=keep", "linear" if kernel == "LINEAR" else "", "RGB8", cvcuda,
               lambda c, x: c.transform.rotate(x.unit, -7, order=1 if kernel == "LINEAR" else 3, cval=1.0),
               (lambda c, x: c.kornia.geometry.transform.rotate(x.planes, c.once("angle", lambda: c.torch.tensor([-7.0], device="cuda"))))
               if kernel == "LINEAR" else None, level, share, edge=.25)


def about_middle(c, matrix):
    """Where pixels come from, for pixel centres at whole numbers: `matrix` applies to what counts from the middle."""
    x, y = (c.width - 1) / 2, (c.height - 1) / 2
    return [[a, b, o - a * x - b * y] for (a, b), o in zip(matrix, (x, y))]


def inverse(a, b, c, d):
    return [[d / (a * d - b * c), -b / (a * d - b * c)], [-c / (a * d - b * c), a / (a * d - b * c)]]


def homography(points):
    """The map that takes the corners of a unit square, clockwise from the left upper one, to `points` (Heckbert, 1989)."""
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = points
    dx1, dx2, dx3, dy1, dy2, dy3 = x1 - x2, x3 - x2, x0 - x1 + x2 - x3, y1 - y2, y3 - y2, y0 - y1 + y2 - y3
    g, h = (dx3 * dy2 - dx2 * dy3) / (dx1 * dy2 - dx2 * dy1), (dx1 * dy3 - dx3 * dy1) / (dx1 * dy2 - dx2 * dy1)
    return [[x1 - x0 + g * x1, x3 - x0 + h * x3, x0], [y1 - y0 + g * y1, y3 - y0 + h * y3, y0], [g, h, 1]]


def keystone(c, d, s):
    def make():
        n = c.numpy
        size, half_ = n.diag([c.width, c.height, 1.0]), n.array([[1, 0, .5], [0, 1, .5], [0, 0, 1]])
        return (n.linalg.inv(half_) @ size @ homography([(.15, 0), (.85, 0), (1, 1), (0, 1)]) @ n.linalg.inv(size) @ half_).astype(n.float32)
    c.cv.warp_perspective_into(d, s, c.once("map", make), c.Interp.LINEAR | c.Interp.WARP_INVERSE_MAP,
                               border_mode=c.Border.CONSTANT, border_value=c.white, **c.on)


def lens(c, d, s):
    """remap: the map is there before."""
    def make():
        t = c.torch
        y, x = t.meshgrid(t.arange(c.height, device="cuda") + .5 - c.height / 2, t.arange(c.width, device="cuda") + .5 - c.width / 2, indexing="ij")
        far = 1 - .1 * (x * x + y * y) / (c.height / 2) ** 2
        return c.tensor(t.stack((x * far + c.width / 2 - .5, y * far + c.height / 2 - .5), -1).float().contiguous())
    c.cv.remap_into(d, s, c.once("map", make), c.Interp.LINEAR, c.Interp.NEAREST, c.cv.Remap.ABSOLUTE, False, c.Border.CONSTANT, c.white, **c.on)


def quarter_turn(c, d, s):
    c.cv.rotate_into(d, s, 270.0, (float(c.height - 1), 0.0), c.Interp.NEAREST, **c.on)


def pad(c, d, s):
    c.cv.copymakeborder_into(d, s, c.Border.CONSTANT, WHITE, top=round(c.height * .1) // 2, left=round(c.width * .1) // 2, **c.on)


def twist(matrix):
    def cvcuda(c, d, s):
        c.cv.color_twist_into(d, s, c.once("twist", lambda: c.cv.as_tensor(c.torch.tensor(
            [list(row) + [0] for row in matrix], dtype=c.torch.float32, device="cuda"), "HW")), **c.on)
    return cvcuda


def hue(degrees):
    """The matrix of hue-rotate() of CSS."""
    luma = [.213, .715, .072]
    more = [[-.213, -.715, .928], [.143, .140, -.283], [-.787, .715, .072]]
    a, b = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return [[luma[j] + a * ((i == j) - luma[j]) + b * more[i][j] for j in range(3)] for i in range(3)]


def gamma(c, d, s):
    c.cv.gamma_contrast_into(d, s, 1 / 2.2, **c.on)


def contrast(c, d, s, factor=1.5):
    c.cv.brightness_contrast_into(d, s, 1.0, factor, 0.0, 127.5, **c.on)


def gray(c, d, s):
    c.cv.cvtcolor_into(d, s, c.cv.ColorConversion.RGB2GRAY, **c.on)


def threshold(kind, level):
    def cvcuda(c, d, s):
        if c.row.format == "RGB8":
            gray(c, c.between(d), s)
            s = c.between(d)
        least, most = (c.once(v, lambda v=v: c.cv.as_tensor(c.torch.tensor([v], dtype=c.torch.float64, device="cuda"), "N")) for v in (level, 255.0))
        c.cv.threshold_into(d, s, least, most, kind(c.cv.ThresholdType), **c.on)
    return cvcuda


def calls_in_turn(*calls):
    """A chain of calls; results between them go to pictures of their own."""
    def cvcuda(c, d, s):
        for i, call in enumerate(calls):
            to = d if i + 1 == len(calls) else c.between(d, i % 2)
            call(c, to, s)
            s = to
    return cvcuda


ROWS = [
    gauss(2), gauss(5), gauss(20), gauss(2, "gray8"),
    median(1, True), median(2, True), median(5), median(15),
    bilateral(2), bilateral(2.5),
    dilate(1, True), dilate(4), dilate(20),
    Row("morphology=open:3", "7x7", "RGB8", lambda c, d, s: c.cv.morphology_into(
        d, s, c.cv.MorphologyType.OPEN, (7, 7), (-1, -1), workspace=c.between(d), iteration=1, border=c.Border.REPLICATE, **c.on), level=0, edge=6),
    Row("dilate=1:1:cross", "", "RGB8", None, lambda c, x: [c.morphology.dilation(p, c.once("cross", lambda: c.morphology.disk(1))) for p in x.channels],
        level=0, edge=1),
    Row("unsharp=1", "", "RGB8", None, lambda c, x: c.filters.unsharp_mask(x.unit, 1.0, 1.0, channel_axis=-1),
        lambda c, x: c.kornia.filters.unsharp_mask(x.planes, (7, 7), (1.0, 1.0), "replicate"), level=2),
    convolve(3), convolve(5), convolve(31),
    box(4, True), box(50),
    Row("laplace", "", "RGB8", lambda c, d, s: c.cv.laplacian_into(d, s, 1, 1.0, c.Border.REPLICATE, **c.on), level=0),
    Row("sobel", "", "RGB8", None, None, lambda c, x: c.kornia.filters.sobel(x.planes), level=3, edge=1, times={"kornia": 8}),
    Row("sobel", "", "gray8", None, lambda c, x: c.filters.sobel(x.unit, mode="nearest"), level=2, edge=1, times={"cucim": 4 * math.sqrt(2)}),
    Row("distance", "", "gray8", None, lambda c, x: c.distance(x.bytes >= 128, float64_distances=False), times={"cucim": 1 / 255}),
    Row("equalize", "luma", "gray8", lambda c, d, s: c.cv.histogrameq_into(d, s, **c.on), lambda c, x: c.exposure.equalize_hist(x.bytes), level=3, share=1),
    Row("equalize=channel", "", "RGB8", lambda c, d, s: c.cv.histogrameq_into(d, s, **c.on), None,
        lambda c, x: c.kornia.enhance.equalize(x.planes), level=3, share=1),
    Row("clahe", "8x8 tiles", "gray8", lambda c, d, s: c.cv.clahe_into(d, s, 2.0, (8, 8), **c.on), level=3, share=1),
    Row("normalize", "", "RGB8", lambda c, d, s: c.cv.autocontrast_into(d, s, **c.on)),
    Row("threshold=otsu", "", "RGB8", threshold(lambda kind: kind.OTSU | kind.BINARY, 128.0), share=1),
    Row("threshold=otsu", "", "gray8", threshold(lambda kind: kind.OTSU | kind.BINARY, 128.0),
        lambda c, x: x.bytes > c.filters.threshold_otsu(x.bytes), share=1),
    Row("threshold=0.5", "", "RGB8", threshold(lambda kind: kind.BINARY, 127.0), share=1),
    half("nearest", plain="NEAREST", level=0), half("area", plain="AREA"),
    half("linear", smooth="LINEAR"), half("cubic", smooth="CUBIC", level=2), half("lanczos3", smooth="LANCZOS", level=2),
    turn("LINEAR", 2, .5), turn("CUBIC", 4, 2),
    Row("rotate=90", "", "RGB8", quarter_turn, lambda c, x: c.cupy.ascontiguousarray(c.cupy.rot90(x.bytes, -1)), level=0),
    Row("affine=1 0.2/-0.1 1.1:linear:white:keep", "", "RGB8", lambda c, d, s: c.warp(d, s, about_middle(c, inverse(1, .2, -.1, 1.1)), "LINEAR"), level=2, share=.5),
    Row("perspective=keystone", "linear, up to 2 samples", "RGB8", keystone, level=6, share=5),
    Row("lens=-0.1", "", "RGB8", lens, level=2, share=1),
    Row("hflip", "", "RGB8", lambda c, d, s: c.cv.flip_into(d, s, 1, **c.on), level=0),
    Row("vflip", "", "RGB8", lambda c, d, s: c.cv.flip_into(d, s, 0, **c.on), level=0),
    Row("pad=110%:110%", "", "RGB8", pad, level=0),
    Row("crop=50%:50%", "", "RGB8", lambda c, d, s: c.cv.customcrop_into(d, s, c.cv.RectI(c.width // 4, c.height // 4, c.width // 2, c.height // 2), **c.on), level=0),
    Row("gamma=2.2", "", "RGB8", gamma, lambda c, x: c.exposure.adjust_gamma(x.unit, 1 / 2.2), lambda c, x: c.kornia.enhance.adjust_gamma(x.planes, 1 / 2.2)),
    Row("brightness=0.1", "", "RGB8", lambda c, d, s: c.cv.brightness_contrast_into(d, s, 1.0, 1.0, 25.5, 127.5, **c.on)),
    Row("contrast=1.5", "", "RGB8", contrast),
    Row("colormatrix=sepia", "", "RGB8", twist(SEPIA)),
    Row("hue=40", "", "RGB8", twist(hue(40))),
    Row("invert", "", "RGB8", lambda c, d, s: c.cv.invert_into(d, s, **c.on), level=0),
    Row("solarize", "", "RGB8", lambda c, d, s: c.cv.solarize_into(d, s, 128.0, **c.on), level=0),
    Row("grayscale", "", "RGB8", gray, None, lambda c, x: c.kornia.color.rgb_to_grayscale(x.planes)),
    Row("grayscale=bt709", "", "RGB8", None, lambda c, x: c.color.rgb2gray(x.unit)),
    Row("gamma=2.2,contrast=1.2,invert", "", "RGB8", calls_in_turn(gamma, lambda c, d, s: contrast(c, d, s, 1.2), lambda c, d, s: c.cv.invert_into(d, s, **c.on)), level=2),
    Row("gamma=2.2,blur=2,contrast=1.2", "", "RGB8", calls_in_turn(gamma, gauss(2).cvcuda, lambda c, d, s: contrast(c, d, s, 1.2)), level=2),
]
FLOATS = [
    dataclasses.replace(row, format=form, cucim=None, kornia=None) for form in ("RGBAf16", "RGBAf32") for row in (
        gauss(2), median(1), bilateral(2, form), half("linear", smooth="LINEAR"), half("cubic", smooth="CUBIC", level=2), half("lanczos3", smooth="LANCZOS", level=2))
]
