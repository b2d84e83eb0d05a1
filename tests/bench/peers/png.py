"""The peers of `make bench-png` in Python: a picture as a PNG of level 1 in memory, and back.

Arguments: the picture. Prints NAME|MILLISECONDS|BYTES for each library that is there, else what is absent.
"""
import io
import sys
import time


def median_ms(call):
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - begin)
    return sorted(times)[2] * 1e3, result


def pillow(path):
    from PIL import Image, __version__

    picture = Image.open(path)
    picture.load()

    def encode():
        file = io.BytesIO()
        picture.save(file, "PNG", compress_level=1)
        return file.getvalue()

    def decode():
        with Image.open(io.BytesIO(data)) as again:
            again.load()

    ms, data = median_ms(encode)
    print(f"Pillow {__version__}: encode, level 1|{ms:.1f}|{len(data)}")
    print(f"Pillow {__version__}: decode its own|{median_ms(decode)[0]:.1f}|{len(data)}")


def opencv(path):
    import cv2

    picture = cv2.imread(path, cv2.IMREAD_UNCHANGED)
    ms, data = median_ms(lambda: cv2.imencode(".png", picture, [cv2.IMWRITE_PNG_COMPRESSION, 1])[1])
    print(f"OpenCV {cv2.__version__}: encode, level 1|{ms:.1f}|{len(data)}")
    ms, _ = median_ms(lambda: cv2.imdecode(data, cv2.IMREAD_UNCHANGED))
    print(f"OpenCV {cv2.__version__}: decode its own|{ms:.1f}|{len(data)}")


for peer in (pillow, opencv):
    try:
        peer(sys.argv[1])
    except ImportError as missing:
        print(f"absent: {missing.name}", file=sys.stderr)
