"""What `make bench-floats` runs: a half OpenEXR of 7680x4320 through filters, whole processes, files in memory, beside oiiotool and vips.

Arguments: the program. Environment:
  BENCH_SIZE=7680:4320    the picture's size
  BENCH_DIR=/dev/shm      where all files lie
  RESULTS=FILE.txt        where the table goes (tests/bench/results/floats-DATE.txt)
  GF_COMMIT=NAME          the commit, where git does not know it
Each figure is the median of three runs, "-" for a program that is missing. All blur with as many taps. vips writes no
OpenEXR, and its wheels read none: its rows are from a TIFF of singles without compression to another, for both. That TIFF has
the pixels of the OpenEXR.
"""
import os
import re
import shutil
import statistics
import subprocess
import sys
import time

import looks

program = os.path.realpath(sys.argv[1])
here = os.path.dirname(os.path.realpath(__file__))
folder = looks.work.name
gpu = re.search(r"^cuda:0 +(.*)", subprocess.run([program, "--devices"], capture_output=True, text=True).stdout, re.M)
facts = looks.facts()
pixels = os.environ.get("BENCH_SIZE", "7680:4320")
lines = [f"# {facts['date']}, commit {facts['commit']}, {pixels} pixels, {facts['threads']} x {facts['cpu']}, {gpu[1] if gpu else 'no GPU'}"]
for tool in ("oiiotool", "vips"):
    if shutil.which(tool):
        lines[0] += f", {tool} " + re.search(r"\d+\.\d+[.\d]*", looks.output(tool, "--version"))[0]
source, tiff, result = f"{folder}/in.exr", f"{folder}/in.tif", f"{folder}/out"
singles = ("--depth=32f", "--tiff-compression=none")
devices = ["cpu", "cuda"] if gpu else ["cpu"]
lines.append(f"{'':24}" + "".join(f"{name:>10}" for name in [*devices, "oiiotool", "vips"]) + "   ms")
print(*lines, sep="\n")


def milliseconds(*words):
    """The median time of three runs of a command; "-" where there is no such command."""
    if not shutil.which(words[0]):
        return "-"
    times = []
    for _ in range(3):
        start = time.monotonic()
        looks.output(*words)
        times.append(time.monotonic() - start)
    return f"{1e3 * statistics.median(times):.0f}"


looks.output(program, "-q", "-i", os.path.join(here, "../../samples/harbour.png"), "-o", source, "--depth=16f",
             f"resize={pixels},float,gamma=0.45,exposure=1.5,addnoise=0.02")
looks.output(program, "-q", "-i", source, "-o", tiff, *singles)


def row(name, *figures):
    lines.append(f"{name:24}" + "".join(f"{each:>10}" for each in figures))
    print(lines[-1], flush=True)


blur, half = "blur=2", "resize=50%:kernel=lanczos3"
blurs, halves = ("--blur:kernel=gaussian", "13x13"), ("--resize:filter=lanczos3", "50%")
for name, chain, oiio, vips in (
        ("blur", blur, blurs, ("gaussblur", tiff, f"{result}.tif", "2", "--precision", "float", "--min-ampl", "0.011")),
        ("half", half, halves, ("resize", tiff, f"{result}.tif", "0.5")),
        ("blur, half", f"{blur},{half}", (*blurs, *halves), None)):
    def ours(read, *words):
        return [milliseconds(program, "-q", f"--device={device}", "-i", read, *words, chain) for device in devices]
    row(f"{name}, OpenEXR", *ours(source, "-o", f"{result}.exr", "--depth=16f"),
        milliseconds("oiiotool", source, *oiio, "-d", "half", "--compression", "zip", "-o", f"{result}.exr"), "-")
    if vips:
        row(f"{name}, TIFF", *ours(tiff, "-o", f"{result}.tif", *singles), "-", milliseconds("vips", *vips))
with open(looks.results("floats").replace(".json", ".txt"), "w", encoding="utf-8") as file:
    print(*lines, sep="\n", file=file)
