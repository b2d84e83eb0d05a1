"""Prints what the installed module lacks of formats and licenses, what it loads from outside of its wheel, of the libraries that
the wheel has inside, and whether one of them asks for an executable stack, for which newer C libraries do not load it. Arguments:
pictures of formats that are only read."""

import importlib.metadata
import re
import sys

import gpufilter as gf

INSIDE = "libpng|libjpeg|liblcms2|libisal|libwebp|libtiff|libzstd|libjbig|libavif|libaom|libdav1d|libjxl|libopenjp2|libgif|libraw|libcudart"


def tried(call, *arguments):
    """Calls the function; what the program was built without is no problem."""
    try:
        return call(*arguments)
    except gf.Error as error:
        if not re.search("(built|made) without", str(error)):
            raise
        print(error)


def main():
    picture = gf.decode(b"P5 2 2 255 abcd")
    for format in "png", "jpeg", "webp", "tiff", "avif", "jxl", "jp2", "gif":
        data = tried(gf.encode, picture, format)
        tried(gf.decode, data or b"P5 2 2 255 abcd")
    for path in sys.argv[1:]:
        tried(gf.open, path)
    files = "\n".join(str(path) for path in importlib.metadata.files("gpufilter"))
    missing = [f"no license {license} for {library}" for library, license in (("libraw", "libraw"), ("libraw", "common/LGPL-2.1"), ("libtiff", "libtiff"))
               if f"gpufilter.libs/{library}" in files and f"/licenses/{license}" not in files]
    with open("/proc/self/maps", encoding="utf-8") as maps:
        text = maps.read()
    loaded = set(re.findall(r"/\S*", text))
    stack = re.findall(r".* rwxp .*\[stack\]", text)
    outside = [path for path in sorted(loaded) if re.match(INSIDE, path.rpartition("/")[2]) and "/gpufilter.libs/" not in path]
    inside = [path for path in loaded if "/gpufilter.libs/" in path]
    print(*outside, *missing, *stack, sep="\n")
    return bool(outside or missing or stack) or not inside


if __name__ == "__main__":
    sys.exit(main())
