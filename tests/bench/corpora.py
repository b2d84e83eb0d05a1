"""What `make bench-corpora` runs: pictures of public test sets, by format, beside independent readers: which are read, whether the
pixels are theirs, which are refused and whether the others refuse them, too.

Arguments: the program, then folders with test sets, such as clones of python-pillow/Pillow, image-rs/image-png,
webmproject/libwebp-test-data, AOMediaCodec/libavif, nokiatech/heif_conformance. Files are told apart by their bytes; folders whose
names say that their files are damaged are left out. Environment:
  CORPORA_MOST=100    files of a format, chosen by a hash of their bytes
  CORPORA_FORMATS=    the formats, as in PNG,TIFF (all)
  RESULTS=FILE.txt    where the table goes (tests/bench/results/corpora-DATE.txt)
  GF_COMMIT=NAME      the commit, where git does not know it
The peers are vips, ImageMagick, and Python's Pillow, pillow-heif, tifffile and imagecodecs, as far as they are here.
"""
import collections
import datetime
import hashlib
import logging
import os
import pickle
import re
import signal
import subprocess
import sys
import tempfile
import warnings

import numpy as np

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)
SECONDS, PIXELS = 60, 40_000_000
DAMAGED = re.compile(r"fuzz|afl|seed|crash|/bugs?/|broken|corrupt|invalid|/bad|damaged|crafted|timeout|oom", re.I)
NAMED = re.compile(r"not read|does not|needs a|built without|Unsupported|over options|of unknown colours|no decoder|over --")
MAGIC = [("PNG", 0, b"\x89PNG"), ("JPEG", 0, b"\xff\xd8\xff"), ("TIFF", 0, b"II*\0"), ("TIFF", 0, b"MM\0*"), ("TIFF", 0, b"II+\0"),
         ("TIFF", 0, b"MM\0+"), ("WebP", 8, b"WEBP"), ("AVIF", 4, b"ftypavi"), ("HEIC", 4, b"ftyphe"), ("HEIC", 4, b"ftypmif"),
         ("JPEG XL", 0, b"\xff\x0a"), ("JPEG XL", 4, b"JXL "), ("GIF", 0, b"GIF8"), ("JPEG 2000", 4, b"jP  "),
         ("JPEG 2000", 0, b"\xff\x4f\xff\x51"), ("BMP", 0, b"BM"), ("QOI", 0, b"qoif"), ("PNM", 0, b"P1\n"), ("PNM", 0, b"P2\n"),
         ("PNM", 0, b"P3\n"), ("PNM", 0, b"P4\n"), ("PNM", 0, b"P5\n"), ("PNM", 0, b"P6\n"), ("PNM", 0, b"P7\n")]
LOSSY = {"JPEG", "WebP", "AVIF", "HEIC", "JPEG XL", "JPEG 2000"}


def run(*command):
    done = subprocess.run(command, capture_output=True, timeout=SECONDS, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise ValueError(" ".join(done.stderr.decode("utf8", "replace").split())[:200])
    return done.stdout


def levels(samples, most=None):
    """Rows of premultiplied RGB and alpha, in levels of 8 bits."""
    samples = np.asarray(samples)
    if samples.dtype.kind not in "bu":
        raise ValueError("samples that are no levels")
    most = most or (1 if samples.dtype.kind == "b" else np.iinfo(samples.dtype).max)
    samples = (samples[..., None] if samples.ndim == 2 else samples).astype(np.float32) * (255 / most)
    if samples.ndim != 3 or samples.shape[2] > 4:
        raise ValueError("not a picture of gray or RGB")
    alpha = samples[..., -1:] if samples.shape[2] in (2, 4) else np.full_like(samples[..., :1], 255)
    colours = samples[..., :1].repeat(3, axis=2) if samples.shape[2] < 3 else samples[..., :3]
    return np.concatenate([colours * (alpha / 255), alpha], axis=2)


def read_pam(data):
    end = data.index(b"ENDHDR\n") + 7
    head = dict(line.split(b" ", 1) for line in data[:end].split(b"\n") if b" " in line)
    width, height, depth, most = (int(head[key]) for key in (b"WIDTH", b"HEIGHT", b"DEPTH", b"MAXVAL"))
    kind = ">u2" if most > 255 else "u1"
    return levels(np.frombuffer(data[end:], kind, width * height * depth).reshape(height, width, depth).astype("u2"), most)


def by_vips(path, work):
    import tifffile
    run("vips", "copy", path, work + "/vips.tif")
    with tifffile.TiffFile(work + "/vips.tif") as file:
        if int(file.pages[0].photometric) > 2:
            raise ValueError("colours of another kind")
        return levels(file.pages[0].asarray())


def by_magick(path, work):
    return read_pam(run("convert", path + "[0]", "-depth", "16", "pam:-"))


def by_pillow(path, work):
    from PIL import Image
    if open(path, "rb").read(12)[4:8] == b"ftyp":
        import pillow_heif
        pillow_heif.register_heif_opener()
    image = Image.open(path)
    image.load()
    if image.mode in ("P", "PA"):
        image = image.convert("RGBA" if image.mode == "PA" or "transparency" in image.info else "RGB")
    if image.mode not in ("1", "L", "LA", "RGB", "RGBA", "I;16", "I;16B", "I", "RGBX"):
        raise ValueError("colours of another kind")
    samples = np.asarray(image.convert("RGB") if image.mode == "RGBX" else image)
    if image.mode == "I":
        samples = samples.astype("u2") if samples.max() < 65536 else samples
    return levels(samples)


def by_tifffile(path, work):
    import tifffile
    with tifffile.TiffFile(path) as file:
        page = file.pages[0]
        bits, samples = page.bitspersample, page.asarray()
        if int(page.photometric) not in (0, 1, 2) or page.samplesperpixel > 3:
            raise ValueError("colours of another kind")
        samples = np.moveaxis(samples, 0, 2) if page.axes.startswith("S") else samples
        most = (1 << bits) - 1
        return levels(most - samples if int(page.photometric) == 0 else samples, most)


def by_imagecodecs(path, work):
    import imagecodecs
    samples = imagecodecs.imread(path)
    film = open(path, "rb").read(8)[4:] == b"ftyp" and samples.dtype == np.uint16  # its samples are not widened
    return levels(samples, next(most for most in (1023, 4095, 65535) if samples.max() <= most) if film else None)


PEERS = {"TIFF": [by_tifffile, by_vips, by_pillow], "JPEG XL": [by_imagecodecs, by_vips], "BMP": [by_pillow, by_magick],
         "PNM": [by_pillow, by_magick], "QOI": [by_pillow, by_imagecodecs]}


def distance(ours, theirs, lossy):
    """0: within a level; 1: of a lossy format, and 99 % of the samples within two levels, as other ways to enlarge chroma give it;
    2: the pixels differ."""
    if ours.shape != theirs.shape:
        return 2
    apart = np.abs(ours - theirs)
    return 0 if apart.max() <= 1.01 else 1 if lossy and np.quantile(apart, 0.99) <= 2.01 else 2


def examine(program, path, kind):
    """The class of a file, and what there is to say of it."""
    with tempfile.TemporaryDirectory() as work:
        ours, said = [], ""
        for turn in ("--no-autorotate", "--threads=1"):
            try:
                run(program, "--device=cpu", "-q", "--lossless", turn, f"--max-pixels={PIXELS}", "-i", path, "-o", work + "/ours.pam")
                ours.append(read_pam(open(work + "/ours.pam", "rb").read()))
            except ValueError as error:
                said = str(error).replace(path, "FILE")
        found, refusals = [], []
        for peer in PEERS.get(kind, [by_pillow, by_vips, by_imagecodecs]):
            try:
                theirs = peer(path, work)
                found.append(min((distance(one, theirs, kind in LOSSY) for one in ours), default=0))
            except Exception as error:
                refusals.append(f"{peer.__name__[3:]}: {str(error)[:60]}")
        if not ours:
            return ("refused by all" if not found else "refused by name" if NAMED.search(said) else "refused as damaged"), said
        if not found:
            return "read alone", "; ".join(refusals)
        same = found.count(0)
        return ("same as two" if same > 1 else "same as one" if same else "near" if 1 in found else "differs"), str(found)


def examine_apart(program, path, kind):
    """In a process of its own, because a peer may crash or hang."""
    out, into = os.pipe()
    child = os.fork()
    if not child:
        os.close(out)
        signal.alarm(4 * SECONDS)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            answer = examine(program, path, kind)
        except Exception as error:
            answer = ("not compared", repr(error)[:200])
        os.write(into, pickle.dumps(answer))
        os._exit(0)
    os.close(into)
    with os.fdopen(out, "rb") as stream:
        data = stream.read()
    os.waitpid(child, 0)
    return pickle.loads(data) if data else ("not compared", "a peer crashed")


def choose(folders, most, formats):
    chosen = collections.defaultdict(dict)
    for folder in folders:
        for root, _, names in os.walk(folder):
            for name in names:
                path = os.path.join(root, name)
                if DAMAGED.search(path[len(folder):]) or not os.path.isfile(path) or os.path.getsize(path) > 16 << 20:
                    continue
                data = open(path, "rb").read()
                kind = next((k for k, at, magic in MAGIC if data[at:at + len(magic)] == magic), None)
                if kind and (not formats or kind in formats):
                    chosen[kind][hashlib.sha256(data).hexdigest()] = path
    return {kind: [files[key] for key in sorted(files)[:most]] for kind, files in chosen.items()}


def main():
    if len(sys.argv) < 3:
        sys.exit("bench-corpora: name the folders of test sets: make bench-corpora CORPORA='DIR DIR'")
    program, here = os.path.realpath(sys.argv[1]), os.path.dirname(os.path.realpath(__file__))
    today = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    results = os.environ.get("RESULTS", f"{here}/results/corpora-{today}.txt")
    formats = [f for f in os.environ.get("CORPORA_FORMATS", "").split(",") if f]
    commit = os.environ.get("GF_COMMIT") or run("git", "-C", here, "rev-parse", "--short", "HEAD").decode().strip()
    files = choose(sys.argv[2:], int(os.environ.get("CORPORA_MOST", 100)), formats)
    classes = ["same as two", "same as one", "near", "differs", "read alone", "refused by all", "refused by name", "refused as damaged",
               "not compared"]
    table, told = collections.defaultdict(collections.Counter), []
    for kind in sorted(files):
        for path in files[kind]:
            found, said = examine_apart(program, path, kind)
            table[kind][found] += 1
            if found in ("differs", "refused by name", "refused as damaged", "not compared"):
                told.append(f"{kind}: {found}: {os.path.basename(path)}: {said}")
                print(told[-1], flush=True)
    with open(results, "w") as out:
        print(f"Pictures of public test sets, {today}, commit {commit}: what became of the files of each format. Read: within one level\n"
              "of 255 of two peers, or of one; near: 99 % of a lossy picture within two levels; alone: no peer reads it. Refused: by the\n"
              "peers, too; by a message that names what is not read, or as damaged, while a peer reads it.\n", file=out)
        print(" " * 16 + " read:" + " " * 43 + "refused:", file=out)
        print("format     files" + "".join(f"{c.split()[-1]:>9}" for c in classes), file=out)
        for kind in sorted(table):
            print(f"{kind:10}{sum(table[kind].values()):6}" + "".join(f"{table[kind][c]:9}" for c in classes), file=out)
        print("", *told, sep="\n", file=out)
    print(open(results).read())


main()
