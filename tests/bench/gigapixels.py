"""What `make bench-gigapixels` runs: pictures of gigapixels, whole processes: from JPEG tiles to tiles, to pyramids, to small copies and
crops, beside the file system's floor and beside libvips where it is.

Arguments: the program, and the program that reads and writes alone (floor.c). Environment:
  BENCH_GIGAPIXELS=12.5   the picture: 8-bit RGB, tiles of 256x256 as JPEGs of 4:2:0; without a GPU .4
  BENCH_PICTURES=DIR      photographs that the tiles are cut from (the samples)
  BENCH_DIR=/dev/shm      where all files lie
  BENCH_JOBS=REGEX        the jobs whose names match
  BENCH_DEVICE=auto       --device of the program
  BENCH_PEERS=1           0 leaves libvips out
  RESULTS=FILE.json       where the figures go (tests/bench/results/gigapixels-DATE.json, and .txt)
  GF_COMMIT=NAME          the commit, where git does not know it
"""
import datetime
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time

import json_rows

program, floor = map(os.path.realpath, sys.argv[1:3])
here = os.path.dirname(os.path.realpath(__file__))
wanted = re.compile(os.environ.get("BENCH_JOBS", "."))
devices = subprocess.run([program, "--devices"], capture_output=True, text=True).stdout
gpu = re.search(r"^cuda:0 +(.*)", devices, re.M)
device = "--device=" + os.environ.get("BENCH_DEVICE", "auto")
pixels = 1e9 * float(os.environ.get("BENCH_GIGAPIXELS", 12.5 if gpu else 0.4))
work = tempfile.mkdtemp(prefix="gpufilter-bench.", dir=os.environ.get("BENCH_DIR", "/dev/shm"))
TILE, KINDS = 256, 1024
across = int((pixels**0.5 + TILE - 1) // TILE)
side = across * TILE - 37  # no multiple of the tile
table, figures, bars = [], [], []


def say(text):
    print(text, flush=True)
    table.append(text)


def jpeg_tiles():
    """Different tiles, cut from photographs that are enlarged to 8192x8192, as whole JPEG streams."""
    folder = os.environ.get("BENCH_PICTURES", os.path.join(here, "../../samples"))
    names = sorted(f for f in os.listdir(folder) if re.search(r"\.(png|jpe?g)$", f) and not f.startswith("report"))
    cut = os.path.join(work, "cut")
    subprocess.run([program, "-q", "--device=cpu", "--strip", "--subsampling=420", "-i", os.path.join(folder, names[0]), "-o", cut + ".dzi",
                    "--pyramid=dz:overlap=0", f"--tile-size={TILE}",
                    f"resize=w={32 * TILE}:h={32 * TILE}:fit=fill,unsharp=sigma=2:amount=4"], check=True)
    levels = os.path.join(cut + "_files")
    tiles = os.path.join(levels, max(os.listdir(levels), key=int))
    read = [open(os.path.join(tiles, f), "rb").read() for f in sorted(os.listdir(tiles))]
    shutil.rmtree(levels)
    return read[:KINDS]


def write_tiff(path):
    """A BigTIFF of one level, whose tiles are the kinds in turn."""
    kinds, count = jpeg_tiles(), across * across
    with open(path, "wb") as file:
        file.write(b"II+\0\x08\0\0\0" + bytes(8))
        offsets, sizes = [], []
        for i in range(count):
            tile = kinds[(i * 7 + i // across) % len(kinds)]
            offsets.append(file.tell())
            sizes.append(len(tile))
            file.write(tile + bytes(len(tile) % 2))
        places = file.tell()
        file.write(struct.pack(f"<{count}Q", *offsets))
        lengths = file.tell()
        file.write(struct.pack(f"<{count}Q", *sizes))
        directory = file.tell()
        entries = [(256, 4, 1, side), (257, 4, 1, side), (258, 3, 3, 8 | 8 << 16 | 8 << 32), (259, 3, 1, 7), (262, 3, 1, 6), (277, 3, 1, 3),
                   (284, 3, 1, 1), (322, 3, 1, TILE), (323, 3, 1, TILE), (324, 16, count, places), (325, 16, count, lengths),
                   (530, 3, 2, 2 | 2 << 16)]
        file.write(struct.pack("<Q", len(entries)) + b"".join(struct.pack("<HHQQ", *entry) for entry in entries) + bytes(8))
        file.seek(8)
        file.write(struct.pack("<Q", directory))
    return sum(sizes) / count


def peak_of(pid, peak):
    """Follows the resident memory of a process."""
    try:
        while True:
            peak[0] = max(peak[0], int(re.search(r"VmHWM:\s+(\d+)", open(f"/proc/{pid}/status").read()).group(1)) / 1e6)
            time.sleep(0.02)
    except (OSError, AttributeError):
        pass


def run(job, tool, command, gigapixels, least=0, most_s=0, most_gb=0):
    if not wanted.search(job):
        return 0
    shutil.rmtree(os.path.join(work, "out"), ignore_errors=True)
    os.mkdir(os.path.join(work, "out"))
    begin, peak = time.monotonic(), [0]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    follower = threading.Thread(target=peak_of, args=(child.pid, peak))
    follower.start()
    words = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.monotonic() - begin
    follower.join()
    if status:
        say(f"{job:44} {tool:10} FAILED: {words.decode()[-300:]}")
        return 0
    processor = usage.ru_utime + usage.ru_stime
    figures.append({"job": job, "tool": tool, "gigapixels": round(gigapixels, 3), "wall_s": round(wall, 4), "processor_s": round(processor, 3),
                    "memory_gb": round(peak[0], 3)})
    say(f"{job:44} {tool:10} {wall:9.3f} s {gigapixels / wall:9.2f} Gpixel/s {processor:9.2f} s {peak[0]:7.3f} GB")
    for kind, bar, measured, unit in (("least", least, gigapixels / wall, "Gpixel/s"), ("most", most_s, wall, "s"), ("most", most_gb, peak[0], "GB")):
        if bar:
            good = measured >= bar if kind == "least" else measured <= bar
            bars.append({"name": job, f"at_{kind}": bar, "measured": round(measured, 3), "unit": unit, "verdict": "ok" if good else "MISSED"})
    return wall


def gpufilter(job, *arguments, by=device, gigapixels=side * side / 1e9, **bounds):
    return run(job, "gpufilter", [program, "-q", by, "--max-pixels=100G", *arguments], gigapixels, **bounds)


# libvips' JPEG tiles have the program's 4:2:0 by subsample-mode, and those of its TIFFs, which are RGB from 90 on, below 90.
def vips(job, *arguments, gigapixels=side * side / 1e9):
    if shutil.which("vips") and os.environ.get("BENCH_PEERS") != "0":
        run(job, "libvips", ["vips", *arguments], gigapixels)


def run_floor(files, mean):
    """As many files of the mean size by the best number of threads."""
    seed, names = os.path.join(work, "seed"), os.path.join(work, "names")
    open(seed, "wb").write(bytes(16))
    with open(names, "w") as file:
        file.write((seed + "\n") * files)
    for threads in 8, 16, 32:
        run(f"{files} files alone", f"{threads} threads", [floor, str(threads), os.path.join(work, "out"), str(mean), names], 0)


def count_files(folder):
    sizes = [os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(folder) for name in names]
    return len(sizes), sum(sizes)


try:
    cpu = re.search(r"^model name.*: (.*)", open("/proc/cpuinfo").read(), re.M)
    driver = re.search(r"driver ([0-9.]+)", devices)
    git = subprocess.run(["git", "-C", here, "describe", "--always", "--dirty"], capture_output=True, text=True).stdout.strip()
    facts = {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
             "commit": os.environ.get("GF_COMMIT") or git or "unknown", "cpu": cpu.group(1) if cpu else "",
             "threads": len(os.sched_getaffinity(0)), "gpu": gpu.group(1) if gpu else "", "driver": driver.group(1) if driver else "",
             "side": side}
    say(", ".join(f"{key}: {value}" for key, value in facts.items()))
    tiled, out = os.path.join(work, "tiled.tif"), os.path.join(work, "out")
    mean = write_tiff(tiled)
    say(f"{side}x{side}, {across * across} tiles of {mean:.0f} bytes, {os.path.getsize(tiled) / 1e9:.2f} GB")
    say(f"{'job':44} {'by':10} {'wall':>11} {'rate':>18} {'processor':>11} {'memory':>10}")
    on_gpu = bool(gpu) and device != "--device=cpu"
    gpufilter("to a small copy", "-i", tiled, "-o", f"{out}/small.jpg", "resize=w=1024:kernel=box:load=full", least=10 if on_gpu else 0)
    gpufilter("tiles to tiles, blurred", "--tiff-compression=jpeg", f"--tile-size={TILE}", "-i", tiled, "-o", f"{out}/blurred.tif", "blur=2",
              least=5 if on_gpu else 0)
    vips("tiles to tiles, blurred", "gaussblur", tiled, f"{out}/blurred.tif[tile,tile-width={TILE},tile-height={TILE},compression=jpeg,Q=89,bigtiff]", "2")
    gpufilter("to a pyramid in one file", "--tiff-compression=jpeg", "--pyramid", "-i", tiled, "-o", f"{work}/pyramid.tif",
              least=1.5 if on_gpu else 0, most_gb=2)
    vips("to a pyramid in one file", "tiffsave", tiled, f"{out}/pyramid.tif", "--tile", "--tile-width=256", "--tile-height=256", "--pyramid",
         "--compression=jpeg", "--Q=89", "--bigtiff")
    vips("to tiles of Deep Zoom", "dzsave", tiled, f"{out}/slide", "--suffix=.jpeg[Q=90,subsample-mode=on]")
    gpufilter("to tiles of Deep Zoom", "-i", tiled, "-o", f"{out}/slide.dzi", most_s=15 if on_gpu else 0, most_gb=2)
    files, size = count_files(out)
    if files > 1:
        run_floor(files, size // files)
    if os.path.exists(f"{work}/pyramid.tif"):
        gpufilter("thumbnail=1024 of a pyramid", "-i", f"{work}/pyramid.tif", "-o", f"{out}/small.jpg", "thumbnail=1024", by="--device=auto")
        gpufilter("crop near the end of a pyramid", "-i", f"{work}/pyramid.tif", "-o", f"{out}/part.png",
                  f"crop=256:256:{side - 300}:{side - 300}", by="--device=auto", gigapixels=65536e-9, most_s=0.02, most_gb=0.06)
    for each in bars:
        how, value = next((k[3:], v) for k, v in each.items() if k.startswith("at_"))
        say(f"{each['name']:44} {how:5} {value:8} {each['measured']:10.3f} {each['unit']:10} {each['verdict']}")
    results = os.environ.get("RESULTS") or os.path.join(here, "results", f"gigapixels-{facts['date'][:10]}.json")
    json_rows.write(results, facts, figures=figures, bars=bars)
    with open(os.path.splitext(results)[0] + ".txt", "w") as file:
        file.write("\n".join(table) + "\n")
    print("written to", results)
finally:
    shutil.rmtree(work, ignore_errors=True)
