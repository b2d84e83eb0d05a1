#!/usr/bin/env python3
"""What `make bench-peers` runs after gpufilter's own benches: the same kernels of CV-CUDA, cuCIM and kornia (rows.py), and
nvImageCodec (nvimagecodec.py), as far as they are installed. The rows of RGBA of floats are opaque pictures. Before its time is taken, a peer's result for a part of the frame
is compared with gpufilter's.

usage: peers.py LIBRARY FRAME.ppm GPU.json JPEG.json PICTURES RESULTS.json   RESULTS.json takes the figures, and .txt beside it the table
Environment:
  BENCH_ROWS=REGEX     only chains in which it is found
  BENCH_PEERS=NAMES    only these, with commas between them
  BENCH_SECONDS=60     how long a peer may take; rows that it does not reach are named
"""
import datetime
import importlib.util
import json
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "filters"), os.path.join(HERE, "..", "..")]
import json_rows

MODULES = {"CV-CUDA": "cvcuda", "cuCIM": "cucim", "kornia": "kornia", "nvImageCodec": "nvidia.nvimgcodec"}


def installed(module):
    try:
        return importlib.util.find_spec(module) is not None
    except ImportError:
        return False


# ---- what the process of one peer measures ----

def read_ppm(path):
    import numpy
    with open(path, "rb") as file:
        data = file.read()
    width, height = map(int, data[:32].split()[1:3])
    return numpy.frombuffer(data, numpy.uint8, offset=len(data) - 3 * width * height).reshape(height, width, 3)


def agreement(row, ours, theirs):
    """Why the two are not the same picture; "" where they are near enough. And the largest and the mean difference."""
    import numpy
    if ours.shape != theirs.shape:
        return f"{theirs.shape} instead of {ours.shape}", None
    y, x = (int(row.edge * side) if row.edge < 1 else row.edge for side in ours.shape[:2])
    inner = (slice(y, -y or None), slice(x, -x or None))
    floats = ours.dtype.kind == "f"
    far = numpy.abs((ours[inner].astype(numpy.float32) - theirs[inner]) * 255 if floats else ours[inner].astype(numpy.int16) - theirs[inner])
    beyond = 100 * float((far > row.level).mean())
    why = f"{beyond:.2g} % of the samples differ by more than {row.level}" if beyond > row.share else ""
    return why, [round(far.max().item(), 4), round(float(far.mean()), 4)]


def measure_row(row, adapter, clock, library, frame, part):
    """The figures of one peer for a row."""
    pipeline = library.open(row.text or row.chain, 1)
    trial = adapter(row, part, (result := pipeline.run(part)).shape)
    call = trial.work()
    with trial.torch.cuda.stream(trial.stream):
        call(0)
        trial.torch.cuda.synchronize()
    why, far = agreement(row, result, trial.result())
    figures = {"far": far, "differs": why}
    if not why or os.environ.get("BENCH_ALL"):
        whole = adapter(row, frame, pipeline.shape(frame))
        figures["peer_ms"] = round(clock.ms(whole.work(), whole.stream), 5)
    pipeline.close()
    return figures


def opaque(frame, kind):
    """RGBA of floats, of an RGB8 frame."""
    import numpy
    picture = numpy.ones(frame.shape[:2] + (4,), kind)
    picture[:, :, :3] = frame / numpy.float32(255)
    return picture


def kernels(peer, library_path, frame_path):
    """Prints a line of JSON for each row that the peer has."""
    import numpy
    import torch
    from adapters import ADAPTERS, Clock
    from library import Library
    from rows import FLOATS, ROWS
    torch.zeros(1, device="cuda")
    adapter, clock, library = ADAPTERS[peer], Clock(), Library(library_path)
    frame = read_ppm(frame_path)
    pictures = {"RGB8": frame, "gray8": numpy.rint(frame @ numpy.array([.299, .587, .114], numpy.float32)).astype(numpy.uint8)}
    end, wanted = time.time() + float(os.environ.get("BENCH_SECONDS", 60)), re.compile(os.environ.get("BENCH_ROWS", ""))
    for row in ROWS + FLOATS:
        if not getattr(row, adapter.module) or not wanted.search(row.chain):
            continue
        try:
            if time.time() > end:
                raise RuntimeError("no time was left")
            if row.format not in pictures:
                pictures[row.format] = opaque(frame, f"float{row.format[5:]}")
            picture = pictures[row.format]
            figures = measure_row(row, adapter, clock, library, picture, numpy.ascontiguousarray(picture[:1080, :1920]))
        except Exception as error:  # what a peer cannot do is a result
            figures = {"differs": f"{type(error).__name__}: {' '.join(str(error).split())}"[:200]}
        print(json.dumps({"chain": row.chain, "note": row.note, "format": row.format, "peer": peer, **figures}), flush=True)
        torch.cuda.empty_cache()


def child(peer, *arguments):
    if peer == "nvImageCodec":
        import nvimagecodec
        nvimagecodec.measure(*arguments)
    else:
        kernels(peer, *arguments[:2])
    sys.stdout.flush()
    os._exit(0)  # some peers wait for ever in their exit handlers


# ---- what gathers them ----

def gathered(peers, library, frame, pictures):
    for peer in peers:
        with subprocess.Popen([sys.executable, os.path.abspath(__file__), "--measure", peer, library, frame, pictures], stdout=subprocess.PIPE,
                              text=True) as process:
            for text in process.stdout:
                if text.startswith("{"):
                    yield json.loads(text)
        if process.returncode:
            yield {"chain": "", "note": "", "format": "", "peer": peer, "differs": f"ended with status {process.returncode}"}


def own(figures, gpu, jpeg):
    """gpufilter's time for the same, and NPP's."""
    for kernel in gpu["kernels"]:
        if all(kernel[key] == figures[key] for key in ("chain", "note", "format")):
            return kernel.get("ms")
    for each in jpeg["sets"]:
        if figures["note"] == each["name"]:
            return each.get("decode_pinned_ms" if figures["chain"].startswith("decode") else "encode_ms")
    return None


def is_float(figures):
    return figures["format"].startswith("RGBAf")


def of_npp(gpu):
    return [{**{key: kernel.get(key) for key in ("chain", "note", "format", "ms")}, "peer": "NPP", "peer_ms": kernel["npp_ms"], "call": kernel["npp"]}
            for kernel in gpu["kernels"] if kernel.get("npp_ms") and (is_float(kernel) or "NPP" not in kernel["note"])]


def line(figures):
    name = figures["chain"] + (f" ({figures['note']})" if figures["note"] else "")
    ours, theirs = figures.get("ms"), figures.get("peer_ms")
    cells = f"{f'{ours:.4f}' if ours else '-':>9} {f'{theirs:.4f}' if theirs else '':>9} {f'{theirs / ours:.2f}' if ours and theirs else '':>8}"
    far = "at most {}, {} on average".format(*figures["far"]) if figures.get("far") else ""
    return f"{name[:42]:<42} {figures['format']:<7} {figures['peer']:<12} {cells}  {'; '.join(filter(None, (figures.get('call'), far, figures.get('differs'))))}".rstrip()


def main(library, frame, gpu_path, jpeg_path, pictures, results):
    wanted = os.environ.get("BENCH_PEERS", ",".join(MODULES)).split(",")
    peers = [peer for peer, module in MODULES.items() if peer in wanted and installed(module)]
    absent = [peer for peer, module in MODULES.items() if not installed(module)]
    with open(gpu_path, encoding="utf-8") as file:
        gpu = json.load(file)
    with open(jpeg_path, encoding="utf-8") as file:
        jpeg = json.load(file)
    head = [f"{gpu['gpu']}, driver {gpu['driver']}, commit {gpu['commit']}; {gpu['frame']}; the copy takes {gpu['copy']['ms']} ms",
            "left out, because Python does not find it: " + (", ".join(absent) or "nothing"),
            "ms of kernels alone; times: the peer's time over gpufilter's; then by how many levels the results differ", "",
            f"{'chain':<42} {'':<7} {'peer':<12} {'gpufilter':>9} {'peer':>9} {'times':>8}"]
    print("\n".join(head))
    rows = of_npp(gpu)
    print("\n".join(map(line, rows)))
    for figures in gathered(peers, library, frame, pictures):
        rows.append({**figures, "ms": own(figures, gpu, jpeg)})
        print(line(rows[-1]), flush=True)
    timed = [row for row in rows if row.get("ms") and row.get("peer_ms") and not row.get("differs")]
    slower = sorted({f"{row['chain']} {row['format']}" if is_float(row) else row["chain"] for row in timed if row["peer_ms"] < row["ms"]})
    tail = ["", f"{len(timed)} rows compared; gpufilter is slower in {len(slower)} chains: {', '.join(slower) or 'none'}"]
    print("\n".join(tail))
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    json_rows.write(results, {"date": date, "commit": gpu["commit"], "gpu": gpu["gpu"], "driver": gpu["driver"],
                              "copy_ms": gpu["copy"]["ms"], "absent": absent}, rows=rows)
    with open(os.path.splitext(results)[0] + ".txt", "w", encoding="utf-8") as file:
        file.write("\n".join(head + list(map(line, rows)) + tail) + "\n")
    print(f"written to {results}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        child(*sys.argv[2:])
    elif len(sys.argv) == 7:
        main(*sys.argv[1:])
    else:
        sys.exit(__doc__)
