"""nvImageCodec's decoder and encoder of JPEG, from bytes in memory to pictures in device memory and back: whole calls on lists,
in medians of wall time, as `make bench-jpeg` measures those of gpufilter. Before that its pictures are compared with gpufilter's."""
import glob
import json
import os
import time

import numpy
import torch

from peers import read_ppm

SETS = [("photographs", 64), ("photograph-1", 1), ("photograph-33M", 1)]


def median_ms(call):
    for _ in range(3):
        call()
    times, begin = [], time.perf_counter()
    while len(times) < 5 or time.perf_counter() - begin < 1:
        torch.cuda.synchronize()
        start = time.perf_counter()
        call()
        torch.cuda.synchronize()
        times.append(1e3 * (time.perf_counter() - start))
    return sorted(times)[len(times) // 2]


def say(chain, name, **figures):
    print(json.dumps({"chain": chain, "note": name, "format": "JPEG", "peer": "nvImageCodec", **figures}), flush=True)


def far_from(picture, expected):
    """The largest and the mean difference, and why the two are not the same picture."""
    far = numpy.abs(picture.astype(int) - expected)
    why = f"{far.mean():.2f} levels on average" if far.mean() > 1.5 else ""
    return {"far": [int(far.max()), round(float(far.mean()), 4)], "differs": why}


def measure(library, frame, pictures):
    """`pictures`: a folder with NAME-*.jpg for each set, and NAME-*.ppm, what gpufilter decodes from them."""
    try:
        from nvidia import nvimgcodec as nv
    except ImportError:  # another package named nvidia hides the one that has it
        import sys

        import nvidia
        nvidia.__path__ = list(nvidia.__path__) + [path + "/nvidia" for path in sys.path if os.path.isdir(path + "/nvidia/nvimgcodec")]
        from nvidia import nvimgcodec as nv
    torch.zeros(1, device="cuda")
    params = nv.EncodeParams(quality_type=nv.QualityType.QUALITY, quality_value=90, chroma_subsampling=nv.ChromaSubsampling.CSS_420)
    for name, count in SETS:
        files = sorted(glob.glob(f"{pictures}/{name}-*.jpg"))
        blobs = [open(file, "rb").read() for file in files]
        blobs = [blobs[i % len(blobs)] for i in range(count)]
        decoder, encoder = nv.Decoder(device_id=0), nv.Encoder(device_id=0)
        kept = decoder.decode([nv.CodeStream(blob) for blob in blobs])
        first = far_from(numpy.asarray(kept[0].cpu()), read_ppm(files[0].replace(".jpg", ".ppm")))
        say(f"decode {count}", name, **first, peer_ms=median_ms(lambda: decoder.decode([nv.CodeStream(blob) for blob in blobs], images=kept)))
        coded = encoder.encode(kept, "jpeg", params=params)
        again = decoder.decode([nv.CodeStream(bytes(coded[0]))])[0]
        say(f"encode {count}", name, **far_from(numpy.asarray(again.cpu()), numpy.asarray(kept[0].cpu())),
            peer_ms=median_ms(lambda: encoder.encode(kept, "jpeg", params=params)))
