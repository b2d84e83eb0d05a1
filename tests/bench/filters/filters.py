#!/usr/bin/env python3
"""What `make bench-filters` runs: filters on the CPU beside the same ones of OpenCV and libvips (pairs.py), in memory:
whole calls from pixels to pixels, turn by turn, medians. Before its time is taken a peer's result is compared.

usage: filters.py PROGRAM LIBRARY PICTURE OTHER [JSON]   JSON takes the figures, and .txt beside it the table
The picture is enlarged to 3000x2000, sharpened, and gets a little noise, as photographs have it. Environment:
  THREADS='1 4'        how many threads, each bound to as many processors (1, and all that there are)
  BENCH_ROWS='blur'    only chains that begin with one of these words, BENCH_FORMATS='rgb' only these formats
  BENCH_SECONDS=0.3    how long each tool of a row is run; it is three times at least
  GF_COMMIT=NAME       the commit, where git does not know it
"""
import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import json_rows

FORMATS = "rgb gray rgba rgb16 gray16"
PEERS = {"opencv": "cv2", "vips": "pyvips"}


def missing():
    """The peers that are not here."""
    return [name for name, module in PEERS.items()
            if subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True).returncode]


# ---- what one process measures, on as many processors as it has threads ----

def read_pnm(data):
    import numpy
    words, at = [], 0
    while len(words) < 4:
        end = at
        while not data[end:end + 1].isspace():
            end += 1
        words, at = words + [data[at:end]], end + 1
    shape = (int(words[2]), int(words[1])) + ((3,) if words[0] == b"P6" else ())
    return numpy.frombuffer(data, numpy.uint8, offset=at).reshape(shape).copy()


def pictures(program, paths, small):
    """The pictures of every format, and the other picture, as arrays."""
    import numpy
    size = "1000:667" if small else "3000:2000"
    chain = f"resize={size}:fit=cover,unsharp=2,addnoise=0.015"
    rgb, gray, other = (read_pnm(subprocess.run(
        [program, "-q", "--device=cpu", "-i", path, "-o", "-", "--format=pnm", chain + more], check=True,
        capture_output=True).stdout) for path, more in ((paths[0], ""), (paths[0], ",grayscale"), (paths[1], "")))
    made = {"rgb": rgb, "gray": gray, "rgba": numpy.dstack([rgb, gray[::-1]])}
    words = {name + "16": made[name].astype(numpy.uint16) << 8 | made[name][::-1] for name in ("rgb", "gray")}
    return {**made, **words}, other


def agreement(pair, ours, theirs):
    """Why the two are not the same picture; "" where they are near enough. And the largest difference."""
    import numpy
    theirs = numpy.asarray(theirs).reshape(theirs.shape[:2] + ours.shape[2:]) if theirs.size == ours.size else theirs
    if ours.shape != theirs.shape:
        return f"{theirs.shape} instead of {ours.shape}", None
    inner = slice(pair.edge, -pair.edge or None)
    far = numpy.abs(ours[inner, inner].astype(int) - theirs[inner, inner])
    beyond = 100 * float((far > pair.level * (257 if ours.dtype == numpy.uint16 else 1)).mean())
    why = f"{beyond:.2g} % of the samples differ by more than {pair.level}" if beyond > pair.share else ""
    return why, [int(far.max()), round(float(far.mean()), 4)]


def runs_of(calls, picture, seconds):
    """Medians in ms of calls that take turns, after a turn that is not counted. The picture is written anew before each
    call, as a decoder does, or one tool would find in the cache what the tool before it has read, and another not.
    Each turn has another order: who comes after the tool that leaves least in the cache takes a sixth longer."""
    import random
    import numpy
    order, shuffle = list(calls.items()), random.Random(1).shuffle
    original = picture.copy()
    times = {name: [] for name in calls}
    begin = time.perf_counter()
    while min(map(len, times.values())) < 4 or time.perf_counter() - begin < seconds * len(calls):
        shuffle(order)
        for name, call in order:
            numpy.copyto(picture, original)
            start = time.perf_counter()
            call()
            times[name].append(1e3 * (time.perf_counter() - start))
        if time.perf_counter() - begin > 20:
            break
    return {name: statistics.median(taken[1:] or taken) for name, taken in times.items()}


def row(library, pair, picture, other, other_path, threads, absent):
    """The figures of a pair for a picture."""
    import calls
    pair.chain = pair.chain.replace("OTHER", f'file="{other_path}"' if " " in other_path else other_path)
    case = calls.Case(library, pair, picture, other)
    pipeline = library.open(pair.chain, threads)
    ours = pipeline.run(picture)
    contenders, result = {"gpufilter": lambda: pipeline.run(picture)}, {"differs": {}, "far": {}}
    if pair.opencv and "opencv" not in absent:
        kept = [None]
        def opencv():
            kept[0] = pair.opencv(picture, kept[0], case)
            return kept[0]
        contenders["opencv"] = opencv
    if pair.vips and "vips" not in absent:
        import pyvips
        contenders["vips"] = lambda: pair.vips(pyvips.Image.new_from_array(picture), case).numpy()
    for name in list(contenders)[1:]:
        try:
            why, result["far"][name] = agreement(pair, ours, contenders[name]())
        except Exception as error:  # a peer without that call is one that is not here
            why = str(error).strip().splitlines()[-1]
        if why:
            result["differs"][name] = why
            del contenders[name]
    result["ms"] = runs_of(contenders, picture, float(os.environ.get("BENCH_SECONDS", .3)))
    pipeline.close()
    return result


def measure(program, library, picture, other, threads, absent):
    """Prints a line of JSON for each row."""
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import numpy  # noqa: F401
    import library as binding
    if "opencv" not in absent:
        import cv2
        cv2.setNumThreads(threads)
    if "vips" not in absent:
        import pyvips
        pyvips.cache_set_max(0)
    import pairs
    gpufilter = binding.Library(library)
    sizes = {small: pictures(program, (picture, other), small) for small in (False, True)}
    wanted, formats = os.environ.get("BENCH_ROWS", "").split(), os.environ.get("BENCH_FORMATS", FORMATS).split()
    with tempfile.NamedTemporaryFile(suffix=".ppm") as file:
        file.write(b"P6 %d %d 255\n" % sizes[False][1].shape[1::-1] + sizes[False][1].tobytes())
        file.flush()
        for pair in pairs.PAIRS:
            name = pair.chain
            if wanted and not name.startswith(tuple(wanted)):
                continue
            for kind in pair.formats.split():
                if kind in formats:
                    made, second = sizes[pair.small]
                    pair.chain = name
                    figures = row(gpufilter, pair, made[kind], second, file.name, threads, absent)
                    print(json.dumps({"chain": name, "format": kind, "threads": threads, "note": pair.note, **figures}),
                          flush=True)


# ---- what gathers them ----

def fastest(figures):
    """The faster peer and how many times as long as gpufilter it takes."""
    peers = {name: ms for name, ms in figures["ms"].items() if name != "gpufilter"}
    name = min(peers, key=peers.get, default=None)
    return name, peers[name] / figures["ms"]["gpufilter"] if name else None


def line(figures):
    name, times = fastest(figures)
    ms = figures["ms"]
    cells = [f"{ms[tool]:9.2f}" if tool in ms else f'{"differs" * (tool in figures["differs"]):>9}'
             for tool in ("gpufilter", "opencv", "vips")]
    verdict = "" if not name else f"{times:6.2f}" + ("" if times >= 1 else "  SLOWER")
    chain = figures["chain"] if len(figures["chain"]) <= 38 else figures["chain"][:35] + "..."
    more = "; ".join([figures["note"]] * bool(figures["note"]) + [f"{k}: {v}" for k, v in figures["differs"].items()])
    return f'{chain:<38} {figures["format"]:<5}{figures["threads"]:3}{"".join(cells)} {verdict:<15} {more}'.rstrip()


def main(program, library, picture, other, results=None):
    processors = sorted(os.sched_getaffinity(0))
    absent = missing()
    commit = os.environ.get("GF_COMMIT") or subprocess.run(
        ["git", "-C", os.path.dirname(os.path.abspath(__file__)), "describe", "--always", "--dirty"],
        capture_output=True, text=True).stdout.strip() or "unknown"
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next((text.split(":", 1)[1].strip() for text in file if text.startswith("model name")), "unknown")
    versions = {name: subprocess.run([sys.executable, "-c", {
        "cv2": "import cv2; print(cv2.__version__)",
        "pyvips": "import pyvips; print('.'.join(str(pyvips.version(i)) for i in range(3)))"}[module]],
        capture_output=True, text=True).stdout.strip() for name, module in PEERS.items() if name not in absent}
    head = [f"{len(processors)} processors of {model}; commit {commit}; "
            + ", ".join(f"{name} {version}" for name, version in versions.items()),
            "left out, because Python does not find it: " + (", ".join(absent) or "nothing"),
            "ms in memory, from pixels to pixels; times: the faster peer's time over gpufilter's", "",
            f'{"chain":<38} {"":<5}{"thr":>3}{"gpufilter":>9}{"opencv":>9}{"vips":>9} {"times":<6}']
    print("\n".join(head))
    rows = []
    for threads in [int(word) for word in os.environ.get("THREADS", f"1 {len(processors)}").split()]:
        with subprocess.Popen([sys.executable, os.path.abspath(__file__), "--measure", program, library, picture, other,
                               str(threads), ",".join(absent)], stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "VIPS_CONCURRENCY": str(threads)},
                              preexec_fn=lambda n=threads: os.sched_setaffinity(0, processors[-n:])) as child:
            for text in child.stdout:
                rows.append(json.loads(text))
                print(line(rows[-1]), flush=True)
        if child.returncode:
            sys.exit(child.returncode)
    slower = [figures for figures in rows if (fastest(figures)[1] or 1) < 1]
    tail = ["", f"{len(rows)} rows; in {len(slower)} of them gpufilter is slower than the faster peer"]
    print("\n".join(tail))
    if results:
        date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        json_rows.write(results, {"date": date, "commit": commit, "cpu": model, "processors": len(processors),
                                  "versions": versions, "absent": absent}, rows=rows)
        with open(os.path.splitext(results)[0] + ".txt", "w", encoding="utf-8") as file:
            file.write("\n".join(head + list(map(line, rows)) + tail) + "\n")
        print(f"written to {results}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(*sys.argv[2:6], int(sys.argv[6]), sys.argv[7].split(","))
    elif len(sys.argv) in (5, 6):
        main(*sys.argv[1:])
    else:
        sys.exit(__doc__)
