"""Prints what the installed module loads from outside of its wheel, of the libraries that the wheel has inside, and whether one
of them asks for an executable stack, for which newer C libraries do not load it. Arguments: pictures of formats that are only read."""

import re
import sys

import gpufilter as gf

INSIDE = "libpng|libjpeg|liblcms2|libisal|libwebp|libtiff|libzstd|libjbig|libavif|libaom|libdav1d|libjxl|libopenjp2|libgif|libraw|libcudart"


def main():
    picture = gf.decode(b"P5 2 2 255 abcd")
    missing = []
    for format in "png", "jpeg", "webp", "tiff", "avif", "jxl", "jp2", "gif":
        try:
            gf.decode(gf.encode(picture, format))
        except gf.Error as error:  # built without it, or without its library
            missing.append(str(error))
    for path in sys.argv[1:]:
        gf.open(path)
    with open("/proc/self/maps", encoding="utf-8") as maps:
        text = maps.read()
    loaded = set(re.findall(r"/\S*", text))
    stack = re.findall(r".* rwxp .*\[stack\]", text)
    outside = [path for path in sorted(loaded) if re.match(INSIDE, path.rpartition("/")[2]) and "/gpufilter.libs/" not in path]
    inside = [path for path in loaded if "/gpufilter.libs/" in path]
    print(*outside, *missing, *stack, sep="\n")
    return bool(outside or stack) or not inside


if __name__ == "__main__":
    sys.exit(main())
