#!/usr/bin/env python3
"""The goldens of overlay and mask: the formulas of W3C's "Compositing and Blending Level 1" as its text has them, pixel
by pixel, in Python's own floats. It needs no library: run alone it writes its pictures and its lines of list.txt anew.
Where ImageMagick 6 is installed, each separable mode must be its -compose within a step; its hue, saturation, color and
luminosity are of another colour space."""
import math
import os
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
MAGICK = shutil.which("convert")


# ---- pictures: (width, height, channels, peak, samples) ----

def read(name):
    with open(os.path.join(HERE, name), "rb") as file:
        data = file.read()
    if data[:2] == b"P7":
        head, pixels = data.split(b"ENDHDR\n", 1)
        words = dict(line.split(None, 1) for line in head.split(b"\n")[1:] if line.strip())
        width, height, channels, peak = (int(words[key]) for key in (b"WIDTH", b"HEIGHT", b"DEPTH", b"MAXVAL"))
    else:
        magic, width, height, peak, pixels = data.split(None, 3)[0], *data.split(None, 3)[1:3], None, None
        rest = data.split(None, 3)[3]
        peak, pixels = int(rest.split(None, 1)[0]), rest[len(rest.split(None, 1)[0]) + 1:]
        width, height, channels = int(width), int(height), 3 if magic == b"P6" else 1
    size = 2 if peak > 255 else 1
    samples = [int.from_bytes(pixels[i:i + size], "big") for i in range(0, width * height * channels * size, size)]
    return width, height, channels, peak, samples


def write(name, picture):
    width, height, channels, peak, samples = picture
    if channels in (1, 3):
        head = f"P{5 if channels == 1 else 6}\n{width} {height}\n{peak}\n"
    else:
        kind = "GRAYSCALE_ALPHA" if channels == 2 else "RGB_ALPHA"
        head = f"P7\nWIDTH {width}\nHEIGHT {height}\nDEPTH {channels}\nMAXVAL {peak}\nTUPLTYPE {kind}\nENDHDR\n"
    with open(os.path.join(HERE, name), "wb") as file:
        file.write(head.encode() + b"".join(v.to_bytes(2 if peak > 255 else 1, "big") for v in samples))


def pixel(picture, x, y):
    """The colour and the alpha, 0..1, at a position; None beyond the picture."""
    width, height, channels, peak, samples = picture
    if not (0 <= x < width and 0 <= y < height):
        return None
    v = [s / peak for s in samples[(y * width + x) * channels:(y * width + x + 1) * channels]]
    alpha = v.pop() if channels in (2, 4) else 1.0
    return v * (3 if len(v) == 1 else 1), alpha


# ---- the specification, 10.1 to 10.2 ----

def multiply(b, s):
    return b * s


def screen(b, s):
    return b + s - b * s


def hard_light(b, s):
    return multiply(b, 2 * s) if s <= 0.5 else screen(b, 2 * s - 1)


def color_dodge(b, s):
    return 0 if b == 0 else 1 if s == 1 else min(1, b / (1 - s))


def color_burn(b, s):
    return 1 if b == 1 else 0 if s == 0 else 1 - min(1, (1 - b) / s)


def soft_light(b, s):
    if s <= 0.5:
        return b - (1 - 2 * s) * b * (1 - b)
    d = ((16 * b - 12) * b + 4) * b if b <= 0.25 else math.sqrt(b)
    return b + (2 * s - 1) * (d - b)


SEPARABLE = {
    "normal": lambda b, s: s, "multiply": multiply, "screen": screen, "overlay": lambda b, s: hard_light(s, b),
    "darken": min, "lighten": max, "color-dodge": color_dodge, "color-burn": color_burn, "hard-light": hard_light,
    "soft-light": soft_light, "difference": lambda b, s: abs(b - s), "exclusion": lambda b, s: b + s - 2 * b * s}


def lum(c):
    return 0.3 * c[0] + 0.59 * c[1] + 0.11 * c[2]


def clip_color(c):
    l, n, x = lum(c), min(c), max(c)
    if n < 0:
        c = [l + (v - l) * l / (l - n) for v in c]
    if x > 1:
        c = [l + (v - l) * (1 - l) / (x - l) for v in c]
    return c


def set_lum(c, l):
    d = l - lum(c)
    return clip_color([v + d for v in c])


def sat(c):
    return max(c) - min(c)


def set_sat(c, s):
    order = sorted(range(3), key=lambda i: c[i])
    least, middle, most = order
    result = [0.0, 0.0, 0.0]
    if c[most] > c[least]:
        result[middle] = (c[middle] - c[least]) * s / (c[most] - c[least])
        result[most] = s
    return result


JOINT = {
    "hue": lambda b, s: set_lum(set_sat(s, sat(b)), lum(b)), "saturation": lambda b, s: set_lum(set_sat(b, sat(s)), lum(b)),
    "color": lambda b, s: set_lum(s, lum(b)), "luminosity": lambda b, s: set_lum(b, lum(s))}


def blend(mode, b, s):
    return JOINT[mode](b, s) if mode in JOINT else [SEPARABLE[mode](x, y) for x, y in zip(b, s)]


def composite(mode, cb, ab, cs, alpha):
    """5.1 and 9.1.4: source over, with the blended colour where there is a backdrop."""
    mixed = [(1 - ab) * s + ab * m for s, m in zip(cs, blend(mode, cb, cs))]
    ao = alpha + ab * (1 - alpha)
    if ao == 0:
        return cb, 0.0
    return [(alpha * m + (1 - alpha) * ab * b) / ao for m, b in zip(mixed, cb)], ao


# ---- the two filters ----

def put(samples, peak, channels, colour, alpha):
    parts = (colour if channels >= 3 else colour[:1]) + ([alpha] if channels % 2 == 0 else [])
    samples += [math.floor(min(max(v, 0), 1) * peak + 0.5) for v in parts]


def overlay(below, above, left, top, mode="normal", opacity=1.0, weight=None):
    width, height, channels, peak, _ = below
    if channels < 3 <= above[2]:
        channels += 2
    samples = []
    for y in range(height):
        for x in range(width):
            colour, alpha = pixel(below, x, y)
            other = pixel(above, x - left, y - top)
            if other:
                part = other[1] * opacity * (weight(x, y) if weight else 1)
                if part:
                    colour, alpha = composite(mode, colour, alpha, other[0], part)
            put(samples, peak, channels, colour, alpha)
    return width, height, channels, peak, samples


def weights(mask, left, top, of="luma", inverted=False):
    def at(x, y):
        found = pixel(mask, x - left, y - top)
        part = 0.0
        if found:
            (r, g, b), alpha = found
            part = alpha if of == "alpha" else (77 * r + 150 * g + 29 * b) / 256 * alpha
        return 1 - part if inverted else part
    return at


def masked(picture, weight):
    width, height, channels, peak, _ = picture
    samples = []
    for y in range(height):
        for x in range(width):
            colour, alpha = pixel(picture, x, y)
            put(samples, peak, channels + channels % 2, colour, alpha * weight(x, y))
    return width, height, channels + channels % 2, peak, samples


def cases():
    """Chain, input, result."""
    names = ("rgb.ppm", "rgba.pam", "gray.pgm", "rgb16.ppm", "gray16.pgm", "badge.pam", "ramp.pgm")
    p = {name: read(name) for name in names}
    file = "tests/filters/goldens/"
    for mode in (*SEPARABLE, *JOINT):
        yield (f"overlay={file}badge.pam:northwest:7:-5:mode={mode}", "rgb.ppm", overlay(p["rgb.ppm"], p["badge.pam"], 7, -5, mode))
        yield (f"overlay={file}badge.pam:southeast:-9:-4:0.7:mode={mode}", "rgba.pam",
               overlay(p["rgba.pam"], p["badge.pam"], 53 - 31 + 9, 37 - 23 + 4, mode, 0.7))
    for mode in ("normal", "soft-light", "luminosity"):
        yield (f"overlay={file}ramp.pgm:opacity=0.6:mode={mode}", "gray16.pgm",
               overlay(p["gray16.pgm"], p["ramp.pgm"], 3, 4, mode, 0.6))
        yield (f"overlay={file}rgb16.ppm:opacity=0.6:mode={mode}", "gray.pgm",
               overlay(p["gray.pgm"], p["rgb16.ppm"], 0, 0, mode, 0.6))
    yield f"overlay={file}rgb16.ppm:opacity=0.3:x=11", "rgb.ppm", overlay(p["rgb.ppm"], p["rgb16.ppm"], 11, 0, "normal", 0.3)
    yield f"overlay={file}rgb.ppm:opacity=0.3:x=-11", "rgb16.ppm", overlay(p["rgb16.ppm"], p["rgb.ppm"], -11, 0, "normal", 0.3)
    yield f"invert,overlay={file}rgb.ppm:opacity=0.4:x=2:y=1,invert", "rgb.ppm", None
    yield f"mask={file}ramp.pgm", "rgb.ppm", masked(p["rgb.ppm"], weights(p["ramp.pgm"], 3, 4))
    yield f"mask={file}badge.pam:gravity=north", "rgba.pam", masked(p["rgba.pam"], weights(p["badge.pam"], 11, 0))
    yield (f"mask={file}badge.pam:of=alpha:inverted=on", "gray16.pgm",
           masked(p["gray16.pgm"], weights(p["badge.pam"], 11, 7, "alpha", True)))
    yield (f"mask={file}ramp.pgm:{file}rgba.pam", "rgb16.ppm",
           overlay(p["rgb16.ppm"], p["rgba.pam"], 0, 0, weight=weights(p["ramp.pgm"], 3, 4, inverted=True)))
    yield (f"mask={file}badge.pam:base={file}rgb.ppm:inverted=on:x=5", "gray.pgm",
           overlay(p["gray.pgm"], p["rgb.ppm"], 5, 0, weight=weights(p["badge.pam"], 16, 7)))


def check_by_magick():
    """ImageMagick lays the badge on the picture as the first case of each separable mode does."""
    names = {mode: "".join(word.title() for word in mode.split("-")) for mode in SEPARABLE}
    for mode, compose in {**names, "normal": "Over"}.items():
        command = [MAGICK, os.path.join(HERE, "rgb.ppm"), os.path.join(HERE, "badge.pam"), "-geometry", "+7-5",
                   "-compose", compose, "-composite", "-depth", "8", "ppm:-"]
        theirs = subprocess.run(command, check=True, capture_output=True).stdout
        ours = overlay(read("rgb.ppm"), read("badge.pam"), 7, -5, mode)[4]
        assert all(abs(a - b) <= 1 for a, b in zip(theirs[-len(ours):], ours, strict=True)), mode


def inverted(picture):
    return (*picture[:4], [picture[3] - v for v in picture[4]])


def make():
    """Writes the pictures and returns the lines of list.txt."""
    ramp = [(x * 5 + y * 3) % 256 for y in range(29) for x in range(47)]
    write("ramp.pgm", (47, 29, 1, 255, ramp))
    badge = [v for y in range(23) for x in range(31)
             for v in ((x * 8) % 256, (y * 11) % 256, (255 - x * 3 - y * 5) % 256, 0 if x < 3 else 255 if y < 6 else x * y % 256)]
    write("badge.pam", (31, 23, 4, 255, badge))
    if MAGICK:
        check_by_magick()
    lines = []
    for number, (chain, source, picture) in enumerate(cases()):
        if picture is None:
            picture = inverted(overlay(inverted(read("rgb.ppm")), read("rgb.ppm"), 2, 1, "normal", 0.4))
        name = f"layer{number:02}.{ {1: 'pgm', 3: 'ppm'}.get(picture[2], 'pam')}"
        write(name, picture)
        lines.append(f"{chain}\t{source}\t{name}\t1\t1000")
    return lines


if __name__ == "__main__":
    path = os.path.join(HERE, "list.txt")
    with open(path, encoding="ascii") as file:
        kept = [line for line in file.read().splitlines() if not line.startswith(("overlay=tests", "invert,overlay=", "mask=tests"))]
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(kept + make()) + "\n")
