"""What `make bench-pairs` runs: how long the program takes to tell how alike pictures look, and to find a quality by that; whole
processes, files in memory.

Arguments: the program. Environment:
  BENCH_PAIRS="200 2000"  the numbers of pairs, crops of 1920x1080 of one photograph
  BENCH_DIR=/dev/shm      where all files lie
  RESULTS=FILE.txt        where the table goes (tests/bench/results/pairs-DATE.txt)
  GF_COMMIT=NAME          the commit, where git does not know it
Each row is the median of three runs. On a GPU the scores and the files must be the CPU's.
"""
import concurrent.futures
import filecmp
import glob
import os
import re
import statistics
import subprocess
import sys
import time

import looks

program = os.path.realpath(sys.argv[1])
here = os.path.dirname(os.path.realpath(__file__))
folder = looks.work.name
os.environ["XDG_RUNTIME_DIR"] = f"{folder}/run"  # apart from the user's server
os.mkdir(os.environ["XDG_RUNTIME_DIR"], 0o700)
gpu = re.search(r"^cuda:0 +(.*)", subprocess.run([program, "--devices"], capture_output=True, text=True).stdout, re.M)
facts = looks.facts()
lines = [f"# {facts['date']}, commit {facts['commit']}, {facts['threads']} x {facts['cpu']}, {gpu[1] if gpu else 'no GPU'}",
         f"{'':60}{'ms':>8}{'pairs/s':>9}"]
print(*lines, sep="\n")


def run(*words):
    return looks.output(program, "-q", *words)


def row(name, pairs, words, wanted=None):
    """A row for a run of the program, whose output must be `wanted`; returns the output."""
    times = []
    for _ in range(3):
        start = time.monotonic()
        told = run(*words)
        times.append(time.monotonic() - start)
    if wanted not in (None, told):
        raise SystemExit(f"{name}: other scores than by the CPU")
    seconds = statistics.median(times)
    lines.append(f"{name:60}{1e3 * seconds:8.0f}{pairs / seconds:9.1f}")
    print(lines[-1], flush=True)
    return told


known = {}  # what the first way has told of a comparison


def compare(name, pairs, first, second, by):
    """Rows for the comparison of two files or folders in some ways, by SSIMULACRA2 and by the measures of default."""
    for measures, what in ((":measures=ssimulacra2", ""), ("", ", SSIM and MS-SSIM")):
        words = (f"--compare={first}:json{measures}", second)
        for way, option in by.items():
            known[words] = row(f"{name}{what}, {way}", pairs, (option, *words), known.get(words))


def crop(n):
    run("--device=cpu", "--threads=1", "-i", f"{folder}/large.ppm", "-o", f"{folder}/{pairs}/png/{n}.png",
        f"crop=1920:1080:{n % 640}:{n % 400}")


run("-i", os.path.join(here, "../../samples/harbour.png"), "-o", f"{folder}/large.ppm", "resize=2600:1500")
run("-i", f"{folder}/large.ppm", "-o", f"{folder}/a.jpg", "--quality=95", "resize=7680:4320")
run("-i", f"{folder}/a.jpg", "-o", f"{folder}/b.jpg", "--quality=75")
devices = ["cpu", "cuda"] if gpu else ["cpu"]
ways = {device: f"--device={device}" for device in devices}
for pairs in map(int, os.environ.get("BENCH_PAIRS", "200 2000" if gpu else "20").split()):
    os.makedirs(f"{folder}/{pairs}/png")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(crop, range(pairs)))
    for quality in (80, 95):
        run("--device=cpu", "-i", f"{folder}/{pairs}/png", "-o", f"{folder}/{pairs}/{quality}", "--format=jpeg", f"--quality={quality}")
    for of, other in (("png", 80), ("95", 80)):
        compare(f"{pairs} pairs of 1080p, {'PNG' if of == 'png' else 'JPEG'} and JPEG", pairs, f"{folder}/{pairs}/{of}", f"{folder}/{pairs}/{other}", ways)
    few = glob.glob(f"{folder}/{pairs}/95/19*.jpg")  # the CPU takes long
    for device, count, inputs in zip(devices, (len(few), pairs), (few, [f"{folder}/{pairs}/95"])):
        row(f"{count} JPEGs of 1080p with --target=ssimulacra2:80, {device}", count,
            (f"--device={device}", "--target=ssimulacra2:80", "-o", f"{folder}/{pairs}/{device}/{{stem}}.jpg", *(word for name in inputs for word in ("-i", name))))
    for name in map(os.path.basename, few):
        if not filecmp.cmp(f"{folder}/{pairs}/cpu/{name}", f"{folder}/{pairs}/{devices[-1]}/{name}", False):
            raise SystemExit(f"{name}: another file than by the CPU")
compare("a pair of 33-megapixel JPEGs", 1, f"{folder}/a.jpg", f"{folder}/b.jpg", ways)
search = "33 megapixels to a JPEG with --target=ssimulacra2:80"
words = ("--target=ssimulacra2:80", "-i", f"{folder}/a.jpg", "-o", f"{folder}/c.jpg")
if gpu:
    with subprocess.Popen([program, "--serve"], stderr=subprocess.PIPE, text=True) as server:
        server.stderr.readline()  # it serves
        compare("a pair of 33-megapixel JPEGs", 1, f"{folder}/a.jpg", f"{folder}/b.jpg", {"by a server": "--server=auto"})
        row(f"{search}, by a server", 1, ("--server=auto", *words))
        done = run("--devices")
        run("--serve=stop")
    if ", 9 done" not in done or server.returncode:
        raise SystemExit(f"the server did not do all: {done}")
for device in devices:
    row(f"{search}, {device}", 1, (f"--device={device}", *words))
for encoder in ("libjpeg", "perceptual"):
    row(f"33 megapixels to a JPEG by {encoder}", 1,
        ("--device=cpu", f"--jpeg-encoder={encoder}", "-i", f"{folder}/a.jpg", "-o", f"{folder}/c.jpg"))
with open(looks.results("pairs").replace(".json", ".txt"), "w", encoding="utf-8") as file:
    print(*lines, sep="\n", file=file)
