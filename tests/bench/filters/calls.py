"""What the peers are asked for: calls of OpenCV (5) and libvips (8) that compute what a chain does."""
import dataclasses
import math
import typing

import numpy

try:
    import cv2
except ImportError:
    cv2 = None


@dataclasses.dataclass
class Pair:
    """A chain and its peers. opencv is called with the picture, the array that it returned before (None at first) and
    the case, vips with an image and the case. level: by how many levels of 255 samples may differ; share: per cent of
    them that may differ by more; edge: pixels of the sides that are not compared."""
    chain: str
    opencv: typing.Callable | None = None
    vips: typing.Callable | None = None
    formats: str = "rgb gray"
    level: int = 1
    share: float = 0
    edge: int = 0
    note: str = ""
    small: bool = False  # a ninth of the pixels


class Case:
    """What the calls of a chain need besides the picture: all of it made before the clock starts."""

    def __init__(self, library, pair, picture, other):
        self.library, self.pair, self.other = library, pair, other
        self.chain = pair.chain
        self.height, self.width = picture.shape[:2]
        self.has_alpha, self.most = picture.shape[2:] == (4,), numpy.iinfo(picture.dtype).max
        self.kind = picture.dtype
        self.made = {}

    def once(self, name, make):
        if name not in self.made:
            self.made[name] = make()
        return self.made[name]

    def table(self):
        """The table of a filter of each sample by itself, for cv2.LUT: all levels, of each channel; alpha stays."""
        def make():
            levels = numpy.arange(self.most + 1, dtype=self.kind)[None, :, None]
            colours = self.library.run(self.chain, numpy.repeat(levels, 3, 2))
            return numpy.dstack([colours, levels] if self.has_alpha else [colours])
        return self.once("table", make)

    def each(self, colour, alpha=0):
        """A number for each channel of colour, and one for alpha, if there is one."""
        return [colour] * 3 + [alpha] * self.has_alpha

    def kernel(self, height=4096.0):
        """The weights of a stencil, from its answer to one bright pixel."""
        def make():
            flat = numpy.zeros((63, 63), numpy.uint16)
            none = self.library.run(self.chain, flat).astype(float)
            flat[31, 31] = height
            answer = (self.library.run(self.chain, flat) - none)[::-1, ::-1] / height
            side = max(max(abs(numpy.argwhere(answer) - 31).max(axis=0)), 1)
            return numpy.ascontiguousarray(answer[31 - side:32 + side, 31 - side:32 + side], numpy.float32)
        return self.once("kernel", make)

    def mean_kernel(self):
        """The same of a mean: its weights sum to 1."""
        return self.once("mean", lambda: self.kernel(65535.0) / self.kernel(65535.0).sum())

    def whole(self, kernel, scale=1):
        """A kernel of whole numbers as an image of vips."""
        import pyvips
        return self.once("whole", lambda: pyvips.Image.new_from_array(kernel, scale=scale))

    def mask(self, offset=0, scale=1):
        """The kernel as an image of vips, in whole numbers."""
        import pyvips
        def make():
            rows = numpy.rint(self.kernel() * scale).astype(int).tolist()
            return pyvips.Image.new_from_array(rows, scale=scale, offset=offset)
        return self.once("mask", make)


REPLICATE = cv2.BORDER_REPLICATE if cv2 else 0
SEPIA = [[.393, .769, .189], [.349, .686, .168], [.272, .534, .131]]
ALL = "rgb gray rgba rgb16 gray16"
LUMA = [77 / 256, 150 / 256, 29 / 256]


def hue(degrees):
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    of = numpy.array([[.213, .715, .072]] * 3)
    return (of + c * (numpy.eye(3) - of)
            + s * numpy.array([[-.213, -.715, .928], [.143, .140, -.283], [-.787, .715, .072]])).tolist()


def gauss(sigma, **more):
    side = 2 * math.ceil(3 * sigma) + 1
    return Pair(f"blur={sigma}", lambda p, d, c: cv2.GaussianBlur(p, (side, side), sigma, dst=d, borderType=REPLICATE),
                lambda v, c: v.gaussblur(sigma, min_ampl=0.01), level=3, share=.1, **more)


def box(radius):
    side = 2 * radius + 1
    def vips(v, c):
        import pyvips
        return v.convsep(pyvips.Image.new_from_array([[1] * side], scale=side))
    return Pair(f"boxblur={radius}", lambda p, d, c: cv2.blur(p, (side, side), dst=d, borderType=REPLICATE), vips)


def unsharp(p, d, c, sigma=1, side=7):
    m = c.made
    m["blurred"] = cv2.GaussianBlur(p, (side, side), sigma, dst=m.get("blurred"), borderType=REPLICATE)
    return cv2.addWeighted(p, 2, m["blurred"], -1, 0, dst=d)


def sobel(p, d, c):
    m = c.made
    m["x"] = cv2.Sobel(p, cv2.CV_32F, 1, 0, dst=m.get("x"), borderType=REPLICATE)
    m["y"] = cv2.Sobel(p, cv2.CV_32F, 0, 1, dst=m.get("y"), borderType=REPLICATE)
    m["size"] = cv2.magnitude(m["x"], m["y"], m.get("size"))
    return cv2.convertScaleAbs(m["size"], dst=d)


def rank(side, index):
    return lambda v, c: v.rank(side, side, index)


def morph(make, radius):
    operation = {"open": "MORPH_OPEN", "close": "MORPH_CLOSE", "gradient": "MORPH_GRADIENT", "tophat": "MORPH_TOPHAT",
                 "blackhat": "MORPH_BLACKHAT"}[make]
    side = 2 * radius + 1
    def vips(v, c):
        low, high = v.rank(side, side, 0), v.rank(side, side, side * side - 1)
        opened, closed = low.rank(side, side, side * side - 1), high.rank(side, side, 0)
        return {"open": opened, "close": closed, "gradient": high - low, "tophat": v - opened,
                "blackhat": closed - v}[make].cast("uchar")
    def opencv(p, d, c):
        return cv2.morphologyEx(p, getattr(cv2, operation), numpy.ones((side, side), numpy.uint8), dst=d)
    return Pair(f"morphology={make}:{radius}", opencv, vips, edge=2 * radius, level=0, note="vips: other edges")


def ellipse(radius):
    side = 2 * radius + 1
    def opencv(p, d, c):
        element = c.once("element", lambda: cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side)))
        return cv2.dilate(p, element, dst=d)
    return Pair(f"dilate={radius}:{radius}:ellipse", opencv, level=0)


def guided(radius):
    def opencv(p, d, c):
        if p.ndim == 2:
            return cv2.ximgproc.guidedFilter(p, p, radius, 650.25, dst=d)
        return cv2.merge([cv2.ximgproc.guidedFilter(q, q, radius, 650.25) for q in cv2.split(p)], d)
    return Pair(f"guided={radius}", opencv, edge=2 * radius, note="other edges; of RGB, each channel alone")


def distance(p, d, c):
    m = c.made
    m["cut"] = cv2.threshold(p, 127, 255, cv2.THRESH_BINARY, dst=m.get("cut"))[1]
    m["far"] = cv2.distanceTransform(m["cut"], cv2.DIST_L2, cv2.DIST_MASK_PRECISE, dst=m.get("far"))
    return cv2.convertScaleAbs(m["far"], dst=d, alpha=6)


def threshold(value, flag=0):
    def opencv(p, d, c):
        if p.ndim == 3:
            p = c.made["gray"] = cv2.cvtColor(p, cv2.COLOR_RGB2GRAY, dst=c.made.get("gray"))
        least, most = (value, 255) if p.dtype == numpy.uint8 else (257 * value + 128, 65535)
        return cv2.threshold(p, least, most, cv2.THRESH_BINARY | flag, dst=d)[1]
    return opencv


def equalize_luma(p, d, c):
    if p.ndim == 2:
        return cv2.equalizeHist(p, d)
    luma = c.made["gray"] = cv2.cvtColor(p, cv2.COLOR_RGB2GRAY, dst=c.made.get("gray"))
    sums = numpy.cumsum(cv2.calcHist([luma], [0], None, [256], [0, 256]))
    first = sums[numpy.flatnonzero(sums)[0]]
    table = numpy.clip(numpy.rint((sums - first) * (255 / (sums[-1] - first))), 0, 255)
    return cv2.LUT(p, table.astype(numpy.uint8), d)


def each_channel(call):
    def opencv(p, d, c):
        return call(p, d) if p.ndim == 2 else cv2.merge([call(q, None) for q in cv2.split(p)], d)
    return opencv


def clahe(p, d, c):
    tool = c.once("clahe", lambda: cv2.createCLAHE(2, (8, 8)))
    if p.ndim == 2:
        return tool.apply(p, d)
    m = c.made
    m["ycc"] = cv2.cvtColor(p, cv2.COLOR_RGB2YCrCb, dst=m.get("ycc"))
    cv2.insertChannel(tool.apply(cv2.extractChannel(m["ycc"], 0)), m["ycc"], 0)
    return cv2.cvtColor(m["ycc"], cv2.COLOR_YCrCb2RGB, dst=d)


def saturation(p, d, c):
    m = c.made
    m["lab"] = cv2.cvtColor(p, cv2.COLOR_RGB2Lab, dst=m.get("lab"))
    table = c.once("lab table", lambda: numpy.stack([numpy.arange(256)] + [numpy.clip(
        (numpy.arange(256) - 128) * 1.5 + 128, 0, 255)] * 2, 1).astype(numpy.uint8)[None])
    m["more"] = cv2.LUT(m["lab"], table, m.get("more"))
    return cv2.cvtColor(m["more"], cv2.COLOR_Lab2RGB, dst=d)


def lut(chain, **more):
    def opencv(p, d, c):
        table = c.table()
        return cv2.LUT(p, table if p.ndim == 3 else numpy.ascontiguousarray(table[:, :, 0]), d)
    def vips(v, c):
        import pyvips
        table = c.once("vips", lambda: pyvips.Image.new_from_array(numpy.ascontiguousarray(c.table())))
        return v.maplut(table if v.bands >= 3 else table[0])
    return Pair(chain, opencv, vips, level=0, **{"formats": ALL, **more})


def matrix(chain, weights):
    def of(c):
        return c.once("weights", lambda: numpy.array([row + [0] for row in weights] + [[0, 0, 0, 1]], numpy.float32)
                      if c.has_alpha else numpy.array(weights, numpy.float32))
    return Pair(chain, lambda p, d, c: cv2.transform(p, of(c), d), lambda v, c: v.recomb(of(c).tolist()).cast(v.format),
                formats="rgb rgba rgb16", level=1)


def duotone(p, d, c):
    m = c.made
    if p.ndim == 3:
        p = m["gray"] = cv2.cvtColor(p, cv2.COLOR_RGB2GRAY, dst=m.get("gray"))
    return cv2.applyColorMap(p, numpy.ascontiguousarray(c.table()[0][:, None]), d)


def vips_duotone(v, c):
    import pyvips
    table = c.once("vips", lambda: pyvips.Image.new_from_array(numpy.ascontiguousarray(c.table())))
    return (v.recomb([LUMA]).rint().cast("uchar") if v.bands == 3 else v).maplut(table)


def frame(p, d, c):
    d = cv2.copyTo(p, None, d)
    for x, y, w, h in ((0, 0, c.width, 40), (0, c.height - 40, c.width, 40), (0, 0, 40, c.height),
                       (c.width - 40, 0, 40, c.height)):
        cv2.rectangle(d, (x, y, w, h), (255, 255, 255), -1)
    return d


def filter2d(kernel, delta=0, depth=-1):
    return lambda p, d, c: cv2.filter2D(p, depth, kernel(c), dst=d, delta=delta, borderType=REPLICATE)


def over(mode):
    def vips(v, c):
        import pyvips
        top = c.once("top", lambda: pyvips.Image.new_from_array(c.other))
        return v.copy(interpretation="srgb").composite2(top.copy(interpretation="srgb"), mode)[0:3]
    return vips


def mean(chain, **more):
    """A mean whose weights the filter itself gives away."""
    def vips(v, c):
        import pyvips
        mask = c.once("mask", lambda: pyvips.Image.new_from_array(c.mean_kernel().tolist()))
        return v.conv(mask, precision="float").rint().cast("uchar")
    return Pair(chain, filter2d(Case.mean_kernel), vips, **more)


def whole_numbers(chain, kernel, scale, **more):
    """convolve by a kernel of whole numbers."""
    def weights(c):
        return c.once("weights", lambda: numpy.array(kernel, numpy.float32) / scale)
    def vips(v, c):
        return v.conv(c.whole(kernel, scale), precision="integer")
    return Pair(chain, filter2d(weights), vips, share=.01, **more)


def written(kernel):
    return "/".join(" ".join(map(str, row)) for row in kernel)


def turned(interpolation, name):
    """rotate=7:fit=keep on white."""
    def opencv(p, d, c):
        m = c.once("m", lambda: cv2.getRotationMatrix2D(((c.width - 1) / 2, (c.height - 1) / 2), -7, 1))
        return cv2.warpAffine(p, m, (c.width, c.height), dst=d, flags=getattr(cv2, interpolation),
                              borderMode=cv2.BORDER_CONSTANT, borderValue=(255, 255, 255, 255))
    def vips(v, c):
        import pyvips
        t = math.radians(7)
        a, b = math.cos(t), math.sin(t)
        x, y = (c.width - 1) / 2, (c.height - 1) / 2
        return v.affine([a, -b, b, a], interpolate=pyvips.Interpolate.new(name), background=255, idx=-x, idy=-y,
                        odx=x, ody=y, oarea=[0, 0, c.width, c.height], extend="background")
    return opencv, vips


def perspective(p, d, c):
    """perspective=10 10/90 5/95 95/5 90, in per cent of the sides."""
    def make():
        w, h = c.width, c.height
        corners = numpy.array([[0, 0], [w, 0], [w, h], [0, h]], numpy.float32) - .5
        points = numpy.array([[.1, .1], [.9, .05], [.95, .95], [.05, .9]]) * [w, h] - .5
        return cv2.getPerspectiveTransform(corners, points.astype(numpy.float32))
    return cv2.warpPerspective(p, c.once("m", make), (c.width, c.height), dst=d, borderMode=cv2.BORDER_CONSTANT,
                               flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP, borderValue=(255, 255, 255, 255))


def lens_map(c):
    """Where lens=-0.15 takes the pixels from: columns, rows."""
    y, x = numpy.mgrid[0:c.height, 0:c.width].astype(numpy.float64)
    x, y = x + .5 - c.width / 2, y + .5 - c.height / 2
    far = 1 - .15 * (x * x + y * y) / (min(c.width, c.height) / 2) ** 2
    return (x * far + c.width / 2 - .5).astype(numpy.float32), (y * far + c.height / 2 - .5).astype(numpy.float32)


def lens(p, d, c):
    x, y = c.once("map", lambda: lens_map(c))
    return cv2.remap(p, x, y, cv2.INTER_LINEAR, dst=d, borderMode=cv2.BORDER_CONSTANT, borderValue=(255, 255, 255, 255))


def vips_lens(v, c):
    import pyvips
    index = c.once("index", lambda: pyvips.Image.new_from_array(numpy.dstack(lens_map(c))))
    return v.mapim(index, interpolate=pyvips.Interpolate.new("bilinear"), background=255, extend="background")


def resized(flag, across, down):
    return lambda p, d, c: cv2.resize(p, (round(c.width * across), round(c.height * down)), dst=d,
                                      interpolation=getattr(cv2, flag))


def pixelate(p, d, c):
    m = c.made
    m["less"] = cv2.resize(p, (c.width // 8, c.height // 8), dst=m.get("less"), interpolation=cv2.INTER_AREA)
    return cv2.resize(m["less"], (c.width, c.height), dst=d, interpolation=cv2.INTER_NEAREST)


def part(p, d, c):
    h, w = c.height // 4, c.width // 4
    return cv2.copyTo(p[h:h + c.height // 2, w:w + c.width // 2], None, d)


def padded(p, d, c):
    h, w = round(c.height * .1), round(c.width * .1)
    return cv2.copyMakeBorder(p, h, h, w, w, cv2.BORDER_CONSTANT, d, (255, 255, 255, 255))


def vips_trim(v, c):
    left, top, width, height = v.find_trim(threshold=10, background=[0] * v.bands)
    return v.crop(left, top, width, height)
