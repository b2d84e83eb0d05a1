"""What `make bench-jobs` runs: the jobs that people have most, thousands of JPEGs to small copies and to filtered ones, whole
processes, on one GPU and on several, beside the file system's floor and beside peers.

Arguments: the program, and the program that reads and writes alone (floor.c). Environment:
  BENCH_FILES=16000     pictures of 1920x1080; of 12 megapixels there are 3/8 as many
  BENCH_PICTURES=DIR    photographs that the pictures are made of (the samples)
  BENCH_HEIC=DIR        HEICs of 12 megapixels, tiled*.heic and whole*.heic; without it they are left out
  BENCH_DIR=/dev/shm    where all files lie
  BENCH_JOBS=REGEX      the jobs whose names match
  BENCH_PEERS=1         0 leaves the peers out
  RUNS=2                runs of each job, of which the fastest counts
  RESULTS=FILE.json     where the figures go (tests/bench/results/jobs-DATE.json, and .txt)
  GF_COMMIT=NAME        the commit, where git does not know it
"""
import datetime
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import json_rows

try:
    from PIL import Image
except ImportError:
    Image = None  # no PNGs by Pillow

program, floor = map(os.path.realpath, sys.argv[1:3])
here = os.path.dirname(os.path.realpath(__file__))
files = int(os.environ.get("BENCH_FILES", 16000))
runs = int(os.environ.get("RUNS", 2))
wanted = re.compile(os.environ.get("BENCH_JOBS", "."))
work = tempfile.mkdtemp(prefix="gpufilter-bench.", dir=os.environ.get("BENCH_DIR", "/dev/shm"))
KINDS = 16  # different pictures of a size; the others are links to them
# An enlarged picture has little detail: sharpening gives it the bytes of a photograph of its size.
SHARPENED = ",unsharp=sigma=2:amount=4"
figures, bars = [], []


def say(text):
    print(text, flush=True)
    table.append(text)


def gpufilter(*arguments):
    subprocess.run([program, "-q", *arguments], check=True)


# ---- the pictures ----


def photographs():
    folder = os.environ.get("BENCH_PICTURES", os.path.join(here, "../../samples"))
    found = sorted(f for f in os.listdir(folder) if re.search(r"\.(png|jpe?g)$", f) and not f.startswith("report"))
    return [os.path.join(folder, f) for f in found]


def turned(jpeg):
    """The JPEG with an EXIF orientation of 6: it is to be turned by 90 degrees."""
    tiff = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0"
    part = b"Exif\0\0" + tiff
    return jpeg[:2] + b"\xff\xe1" + (len(part) + 2).to_bytes(2, "big") + part + jpeg[2:]


def make_kind(number, folder, size, ending, *options, sharpened=""):
    source = photographs()[number % len(photographs())]
    gravity = ("north", "centre", "south", "west")[number % 4]
    path = os.path.join(folder, f"{number}{ending}")
    chain = f"resize={size}:fit=cover:gravity={gravity}" + (",hflip" if number % 2 else "") + sharpened
    gpufilter("--device=cpu", "--strip", "--quality=90", *options, "-i", source, "-o", path, chain)
    return path


def as_pillow_writes(path, folder):
    """The picture as a PNG of one stream: level 6, each row with the filter that suits it."""
    name = os.path.join(folder, os.path.basename(path).replace(".ppm", ".png"))
    with Image.open(path) as picture:
        picture.save(name, compress_level=6)
    return name


def fill(name, count, kinds):
    """A folder of links to the kinds."""
    folder = os.path.join(work, name)
    os.mkdir(folder)
    for i in range(count):
        kind = kinds[i % len(kinds)]
        os.link(kind, os.path.join(folder, f"{i:06}{os.path.splitext(kind)[1]}"))
    return folder


class Pictures:
    """The folders of pictures, each made when it is first asked for."""

    def __init__(self):
        self.made = {}

    def kinds(self, name, size, ending, *options, **sharpened):
        place = os.path.join(work, "kinds", name)
        os.makedirs(place)
        return [make_kind(i, place, size, ending, *options, **sharpened) for i in range(KINDS)]

    def hd(self):
        return self.kinds("hd", "1920:1080", ".jpg", "--subsampling=420")

    def large(self):
        made = self.kinds("large", "4000:3000", ".jpg", "--subsampling=420", sharpened=SHARPENED)
        for path in made:
            with open(path, "rb") as file:
                data = turned(file.read())
            with open(path, "wb") as file:
                file.write(data)
        return made

    def progressive(self):
        return self.kinds("progressive", "1920:1080", ".jpg", "--progressive")

    def by_pillow(self):
        plain = self.kinds("plain", "1920:1080", ".ppm")
        os.mkdir(os.path.join(work, "kinds", "png"))
        return [as_pillow_writes(path, os.path.join(work, "kinds", "png")) for path in plain]

    def own(self):
        return self.kinds("own", "1920:1080", ".png")

    def heics(self, kind):
        place, source = os.path.join(work, "kinds", kind), os.environ["BENCH_HEIC"]
        os.makedirs(place)
        return [shutil.copy(os.path.join(source, name), place) for name in sorted(os.listdir(source)) if re.match(kind + r".*\.heic$", name)]

    def tiled(self):
        return self.heics("tiled")

    def whole(self):
        return self.heics("whole")

    def mixed(self):
        """70, 20 and 10 in a hundred: baseline JPEGs, progressive ones, others."""
        place = os.path.join(work, "kinds", "other")
        os.makedirs(place)
        other = [make_kind(0, place, "1920:1080", ".png")]
        if b"WebP" in subprocess.run([program, "--version"], capture_output=True).stdout:
            other.append(make_kind(1, place, "1920:1080", ".webp"))
        return self["kinds", "hd"][:7] * 2 + self["kinds", "progressive"][:4] + [other[0], other[-1]]

    def __getitem__(self, name):
        """The path of a folder of FOLDERS (an archive of it, for a tar), or ("kinds", KIND) its different pictures."""
        if name not in self.made:
            self.made[name] = self.make(name)
        return self.made[name]

    def make(self, name):
        if name[0] == "kinds":
            return getattr(self, name[1])()
        if name.startswith("a tar of "):
            folder = self[name[len("a tar of "):]]
            tar = os.path.join(work, "pictures.tar")
            subprocess.run(["tar", "--hard-dereference", "-C", work, "-cf", tar, os.path.basename(folder)], check=True)
            return tar
        kind, count = FOLDERS[name]
        return fill(name.replace(" ", "_").replace(",", ""), count, self["kinds", kind])


FOLDERS = {
    "1080p": ("hd", files),
    "1080p, an eighth as many": ("hd", files // 8),
    "12 megapixels": ("large", files * 3 // 8),
    "12 megapixels, a tenth as many": ("large", files // 10),
    "mixed": ("mixed", files),
    "progressive 1080p": ("progressive", files * 5 // 8),
    "PNGs of 1080p by Pillow": ("by_pillow", files * 3 // 20),
    "PNGs of 1080p of our own": ("own", files * 3 // 20),
    "HEICs of 12 megapixels in tiles": ("tiled", files * 3 // 20),
    "HEICs of 12 megapixels in one frame": ("whole", files * 3 // 20),
}


# ---- the runs ----

# name, pictures, chain, least a second on one GPU, most ms of a processor for each picture
JOBS = [
    ("thumbnail=256", "1080p", "thumbnail=256", 13000, 0.35),
    ("thumbnail=256", "1080p, an eighth as many", "thumbnail=256", 4500, None),
    ("thumbnail=256", "12 megapixels", "thumbnail=256", 3500, None),
    ("thumbnail=256", "mixed", "thumbnail=256", 6000, None),
    ("thumbnail=256", "progressive 1080p", "thumbnail=256", 6000, None),
    ("blur=2,equalize", "progressive 1080p", "blur=2,equalize", 4500, None),
    ("thumbnail=256", "PNGs of 1080p by Pillow", "thumbnail=256", 2000, None),
    ("thumbnail=256", "PNGs of 1080p of our own", "thumbnail=256", 3000, None),
    ("thumbnail=256", "HEICs of 12 megapixels in tiles", "thumbnail=256", 235, None),
    ("thumbnail=256", "HEICs of 12 megapixels in one frame", "thumbnail=256", 370, None),
    ("thumbnail=256", "a tar of 1080p", "thumbnail=256", 13000, None),
    ("blur=2,equalize", "1080p", "blur=2,equalize", 13000, 0.45),
    ("resize=w=960", "1080p", "resize=w=960", 14000, None),
    ("convert", "1080p", "", 14000, None),
    ("bilateral=4", "12 megapixels, a tenth as many", "bilateral=4", None, None),
    ("nlmeans", "1080p, an eighth as many", "nlmeans", None, None),
]


SLOW = ("bilateral=4", "nlmeans")  # the processors alone would take minutes


def timed(command, times=runs):
    """Wall and processor seconds of the fastest of the runs."""
    best = None
    for _ in range(times):
        shutil.rmtree(os.path.join(work, "out"), ignore_errors=True)
        os.mkdir(os.path.join(work, "out"))
        begin = time.monotonic()
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        words = child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = status
        taken = time.monotonic() - begin, usage.ru_utime + usage.ru_stime
        if status:
            raise RuntimeError(f"{' '.join(command)}: {words.decode()[-300:]}")
        if not best or taken < best:
            best = taken
    return best


def note(job, tool, count, taken):
    wall, processor = taken
    rate = count / wall
    figures.append({"job": job, "tool": tool, "pictures": count, "wall_s": round(wall, 3), "pictures_s": round(rate, 1),
                    "processor_ms": round(1000 * processor / count, 3)})
    say(f"{job:44} {tool:22} {count:7} {wall:9.3f} s {rate:10.0f} /s {1000 * processor / count:8.3f} ms")
    return rate


def bar(name, how, least, measured, unit):
    good = measured >= least if how == "least" else measured <= least
    bars.append({"name": name, f"at_{how}": least, "measured": round(measured, 3), "unit": unit, "verdict": "ok" if good else "MISSED"})


def count_of(path):
    return len(os.listdir(path)) if os.path.isdir(path) else files


def run_job(job, folders, gpus):
    name, pictures, chain, least, most_ms = job
    title = f"{name} of {pictures}"
    if "Pillow" in pictures and not Image:
        say(f"{title}: left out, there is no Pillow")
        return
    if "HEIC" in pictures and not os.environ.get("BENCH_HEIC"):
        say(f"{title}: left out, BENCH_HEIC is not set")
        return
    path = folders[pictures]
    count = count_of(path)
    output = os.path.join(work, "out.tar") if path.endswith(".tar") else os.path.join(work, "out/{stem}.jpg")
    walls = {}
    for n in gpus if gpus else [0]:
        device = "cuda:" + ",".join(map(str, range(n))) if n else "cpu"
        taken = timed([program, "-q", f"--device={device}", "-i", path, "-o", output, *([chain] if chain else [])])
        rate = note(title, f"{n} GPU{'s' * (n > 1)}" if n else "CPU", count, taken)
        walls[n] = taken[0]
        if n == 1 and least:
            bar(title, "least", least, rate, "pictures/s")
        if n == 1 and most_ms:
            bar(title + ": processor time", "most", most_ms, 1000 * taken[1] / count, "ms")
        if n > 1:
            bar(f"{title}: {n} GPUs against one", "most", 1.05, walls[n] / walls[1], "times")
        if n > 1 and name in SLOW:
            bar(f"{title}: {n} GPUs", "least", 0.9 * n, walls[1] / walls[n], "times as fast")


def run_floor(folders):
    for pictures, result in ("1080p", 12000), ("1080p", 340000):
        names = os.path.join(work, "names")
        with open(names, "w") as file:
            for name in os.listdir(folders[pictures]):
                print(os.path.join(folders[pictures], name), file=file)
        best = {}
        for threads in 8, 16, 32, 64:
            best[threads] = timed([floor, str(threads), os.path.join(work, "out"), str(result), names])
        threads = min(best, key=lambda n: best[n])
        note(f"the files alone, results of {result} bytes", f"{threads} threads", count_of(folders[pictures]), best[threads])


def run_peers(folders):
    source, out = folders["1080p, an eighth as many"], os.path.join(work, "out")
    for tool, module in ("vips", "pyvips"), ("pillow", "PIL"), ("opencv", "cv2"), ("torchvision,cuda", "torchvision"):
        if subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True).returncode:
            continue
        try:
            taken = timed([sys.executable, os.path.join(here, "peers/thumbnail.py"), tool, source, out, "256"], 1)
        except RuntimeError as failure:
            say(f"{tool}: {failure}")
            continue
        note("thumbnail=256 of 1080p, an eighth as many", tool, count_of(source), taken)


# ---- all of it ----


def about():
    devices = subprocess.run([program, "--devices"], capture_output=True, text=True).stdout
    gpu = re.search(r"^cuda:0 +(.*)", devices, re.M)
    driver = re.search(r"driver ([0-9.]+)", devices)
    cpu = re.search(r"^model name.*: (.*)", open("/proc/cpuinfo").read(), re.M)
    git = subprocess.run(["git", "-C", here, "describe", "--always", "--dirty"], capture_output=True, text=True).stdout.strip()
    return {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "commit": os.environ.get("GF_COMMIT") or git or "unknown", "cpu": cpu.group(1) if cpu else "", "threads": len(os.sched_getaffinity(0)),
            "gpu": gpu.group(1) if gpu else "", "driver": driver.group(1) if driver else "", "files": files, "runs": runs,
            "gpus": len(re.findall(r"^cuda:", devices, re.M))}


table = []
try:
    facts = about()
    gpus = [n for n in (1, 2, 4) if n <= facts["gpus"]]
    say(", ".join(f"{key}: {value}" for key, value in facts.items()))
    folders = Pictures()
    say(f"{'job':44} {'by':22} {'number':>7} {'wall':>11} {'rate':>13} {'processor':>11}")
    for job in JOBS:
        if wanted.search(f"{job[0]} of {job[1]}") and (gpus or job[0] not in SLOW):
            run_job(job, folders, gpus)
    if wanted.search("the files alone"):
        run_floor(folders)
    if os.environ.get("BENCH_PEERS") != "0":
        run_peers(folders)
    for each in bars:
        how, value = next((k[3:], v) for k, v in each.items() if k.startswith("at_"))
        say(f"{each['name']:64} {how:5} {value:8} {each['measured']:10.3f} {each['unit']:14} {each['verdict']}")
    results = os.environ.get("RESULTS") or os.path.join(here, "results", f"jobs-{facts['date'][:10]}.json")
    json_rows.write(results, facts, figures=figures, bars=bars)
    with open(os.path.splitext(results)[0] + ".txt", "w") as file:
        file.write("\n".join(table) + "\n")
    print("written to", results)
finally:
    shutil.rmtree(work, ignore_errors=True)
