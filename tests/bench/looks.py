"""What benches of encoders share: pictures as sRGB of 8 bits, and the bytes and the SSIMULACRA2 of what an encoder makes of them."""
import concurrent.futures
import datetime
import json
import os
import re
import subprocess
import tempfile

PICTURE = re.compile(r"\.(png|ppm|webp|tiff?|jpe?g)$", re.I)
work = tempfile.TemporaryDirectory(prefix="gpufilter-bench.", dir=os.environ.get("BENCH_DIR", "/dev/shm"))


def output(*words):
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}: {(done.stderr or done.stdout).strip()[:200]}")
    return done.stdout + done.stderr


def facts(**more):
    """Where and when it was measured, as the first line of the results says it."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        cpu = re.search(r"^model name.*?: (.*)$", file.read(), re.M)
    here = os.path.dirname(os.path.realpath(__file__))
    commit = os.environ.get("GF_COMMIT") or output("git", "-C", here, "describe", "--always", "--dirty").strip()
    return {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "commit": commit,
            "cpu": cpu[1] if cpu else "unknown", "threads": os.cpu_count(), **more}


def results(name):
    default = os.path.join(os.path.dirname(os.path.realpath(__file__)), "results",
                           f"{name}-{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d}.json")
    return os.environ.get("RESULTS", default)


class Picture:
    """A picture without profile or alpha, which every encoder reads."""

    def __init__(self, program, path):
        self.program, self.name = program, os.path.basename(path)
        self.folder = tempfile.mkdtemp(dir=work.name)
        self.path = os.path.join(self.folder, "picture.ppm")
        output(program, "-q", "--device=cpu", "--strip", "--depth=8", "-i", path, "-o", self.path, "icc=srgb,flatten=white")
        with open(self.path, "rb") as file:
            self.width, self.height = map(int, re.match(rb"P[56]\s+(\d+)\s+(\d+)", file.read(64)).groups())
        self.pixels = self.width * self.height

    def measure(self, words, ending=".jpg"):
        """The bytes and the score of what an encoder writes; {in} and {out} among its words are the files."""
        made = os.path.join(self.folder, "made" + ending)
        output(*(word.replace("{in}", self.path).replace("{out}", made) for word in words))
        return os.path.getsize(made), self.score(made)

    def score(self, made):
        limits = ":measures=ssimulacra2"
        return json.loads(output(self.program, "--device=cpu", "--threads=1", "--compare=json" + limits, self.path, made))["ssimulacra2"]


def pictures(folder):
    """The paths of a folder's pictures; PICTURES=N: of N of them, evenly spread."""
    found = sorted(os.path.join(folder, name) for name in os.listdir(folder) if PICTURE.search(name))
    most = int(os.environ.get("PICTURES") or len(found))
    return [found[i * len(found) // most] for i in range(min(most, len(found)))]


def each(function, items):
    """The function's results, in their order, by as many threads as there are processors."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(function, items))
