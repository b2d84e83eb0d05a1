"""What `make bench-encoders` runs: the bytes of JPEGs by several encoders at equal looks, beside libjpeg-turbo's.

Arguments: the program, then folders of pictures. The wanted looks are the SSIMULACRA2 of libjpeg-turbo's JPEGs (--optimize) at its
QUALITIES; an encoder's bytes at a look are interpolated (log(bytes) over score) between two neighbouring qualities, for 4:2:0 and for
4:4:4; the fewer count. Environment:
  QUALITIES="60 70 80 90 95"
  ENCODERS=REGEX          the encoders whose names match; libjpeg-turbo is always one
  PICTURES=N              of N pictures of each folder (all)
  CORPORA=FOLDER          the folder from which the folders are named (that of each)
  CJPEGLI=cjpegli         jpegli's program; CJPEGLI_VERSION=TEXT, since it does not tell
  MOZJPEG=cjpeg           mozjpeg's program
  SSIMULACRA2=ssimulacra2 the reference tool: where it is, the scores of libjpeg-turbo's JPEGs are compared with its
  CACHE=FILE.json         keeps what was measured, but of the program's perceptual encoder
  RESULTS=FILE.json       where the figures go (tests/bench/results/encoders-DATE.json)
  GF_COMMIT=NAME          the commit, where git does not know it
"""
import json
import math
import os
import re
import shutil
import sys

import json_rows
import looks

program = os.path.realpath(sys.argv[1])
qualities = [int(word) for word in os.environ.get("QUALITIES", "60 70 80 90 95").split()]
cjpegli = shutil.which(os.environ.get("CJPEGLI", "cjpegli"))
mozjpeg = shutil.which(os.environ.get("MOZJPEG", "cjpeg"))
tool = shutil.which(os.environ.get("SSIMULACRA2", "ssimulacra2"))
cache_file = os.environ.get("CACHE")
cache = {}
if cache_file and os.path.exists(cache_file):
    with open(cache_file, encoding="utf-8") as cached:
        cache = json.load(cached)


def own(*more):
    return lambda quality, sampling: [program, "-q", "--device=cpu", "--threads=1", "-i", "{in}", "-o", "{out}", "--optimize",
                                      f"--subsampling={sampling}", f"--quality={quality}", *more]


def by_cjpegli(*more):
    return lambda quality, sampling: [cjpegli, "{in}", "{out}", f"--quality={quality}", f"--chroma_subsampling={sampling}", *more]


def by_mozjpeg(*more):
    return lambda quality, sampling: [mozjpeg, "-quality", str(quality), "-sample", "2x2" if sampling == 420 else "1x1", *more,
                                      "-outfile", "{out}", "{in}"]


def encoders():
    """The words of each encoder's command by its name, and why others are left out."""
    perceptual = "--jpeg-encoder" in looks.output(program, "--help")
    moz = mozjpeg if mozjpeg and "mozjpeg" in looks.output(mozjpeg, "-version") else None
    table = [("libjpeg-turbo", own(), True, ""),
             ("libjpeg-turbo, progressive", own("--progressive"), True, ""),
             ("perceptual", own("--jpeg-encoder=perceptual"), perceptual, "this program has no --jpeg-encoder"),
             ("perceptual, progressive", own("--jpeg-encoder=perceptual", "--progressive"), perceptual, "as above"),
             ("cjpegli", by_cjpegli(), cjpegli, "no cjpegli (CJPEGLI=FILE)"),
             ("cjpegli, sequential", by_cjpegli("--progressive_level=0"), cjpegli, "as above"),
             ("mozjpeg", by_mozjpeg(), moz, "no cjpeg of mozjpeg (MOZJPEG=FILE)"),
             ("mozjpeg, sequential", by_mozjpeg("-baseline"), moz, "as above")]
    wanted = re.compile(os.environ.get("ENCODERS", "."))
    table = [row for row in table if row[0] == "libjpeg-turbo" or wanted.search(row[0])]
    for name, _, there, why in table:
        if not there:
            print(f"{name}: left out: {why}", flush=True)
    return {name: words for name, words, there, _ in table if there}


class Curve:
    """The bytes and the score of an encoder's files of one picture, by quality."""

    def __init__(self, picture, place, name, words, sampling):
        self.picture, self.words, self.sampling, self.points = picture, words, sampling, {}
        self.key = None if name.startswith("perceptual") else f"{place}/{picture.name} {name} {sampling}"

    def point(self, quality):
        if quality not in self.points:
            key = f"{self.key} {quality}"
            if not self.key or key not in cache:
                measured = self.picture.measure(self.words(quality, self.sampling))
                if self.key:
                    cache[key] = measured
            self.points[quality] = tuple(cache[key] if self.key else measured)
        return self.points[quality]

    def log_bytes(self, score, near):
        """At the score; infinity where no quality reaches it or all exceed it. The search begins near a quality."""
        self.point(near)
        while True:
            low = max((q for q in self.points if self.points[q][1] <= score), default=0)
            high = min((q for q in self.points if q > low), default=101)
            if low and self.points[low][1] == score:
                return math.log(self.points[low][0])
            if low == 100 or high == 1:
                return math.inf
            if low == 0 or high == 101:  # further out, by steps that grow
                self.point(max(1, high - 4 * len(self.points)) if low == 0 else min(100, low + 4 * len(self.points)))
                continue
            (bytes0, score0), (bytes1, score1) = self.points[low], self.points[high]
            part = (score - score0) / (score1 - score0)
            if high - low == 1:
                return math.log(bytes0) + part * (math.log(bytes1) - math.log(bytes0))
            guess = low + part * (high - low) + (1 if part < 0.5 else -1)  # beyond it, so that the other end comes near
            self.point(min(max(round(guess), low + 1), high - 1))


def measured(picture, place, wanted):
    """For each quality the wanted score, libjpeg-turbo's bytes there, and each encoder's by its name; the tool's differences."""
    curves = {name: [Curve(picture, place, name, words, sampling) for sampling in (420, 444)] for name, words in wanted.items()}
    rows, far = [], []
    for quality in qualities:
        chosen = curves["libjpeg-turbo"][quality > 90]  # as --subsampling=auto chooses
        score = chosen.point(quality)[1]
        rows.append((score, {name: min(curve.log_bytes(score, quality) for curve in both) for name, both in curves.items()}))
        if tool:
            picture.measure(chosen.words(quality, chosen.sampling))
            theirs = float(looks.output(tool, picture.path, os.path.join(picture.folder, "made.jpg")).split()[0])
            far.append((abs(theirs - score), picture.name, quality, score, theirs))
    return picture.pixels, rows, far


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else math.nan


def of_folder(path, wanted):
    """Measures a folder's pictures, prints their table, and returns it."""
    path = os.path.realpath(path)
    folder = os.path.relpath(path, os.path.realpath(os.environ.get("CORPORA", os.path.dirname(path))))
    paths = looks.pictures(path)

    def one(picture):
        return measured(looks.Picture(program, picture), "/".join(path.split("/")[-2:]), wanted)

    done = looks.each(one, paths)
    print(f"\n{folder}: {len(done)} pictures; bytes at the scores of libjpeg-turbo's qualities, libjpeg-turbo's being 1")
    print(f"{'':28}" + "".join(f"{q:>8}" for q in qualities) + f"{'mean':>8}")
    scores = [mean(rows[i][0] for _, rows, _ in done) for i in range(len(qualities))]
    print(f"{'SSIMULACRA2':28}" + "".join(f"{s:8.2f}" for s in scores))
    table = []
    for name in wanted:
        # The encoder's logarithms less libjpeg-turbo's; a picture counts where both reach the score.
        less = [[rows[i][1][name] - rows[i][1]["libjpeg-turbo"] for _, rows, _ in done] for i in range(len(qualities))]
        less = [[value for value in values if math.isfinite(value)] for values in less]
        bits = [mean(8 * math.exp(rows[i][1][name]) / pixels for pixels, rows, _ in done if math.isfinite(rows[i][1][name]))
                for i in range(len(qualities))]
        if name == "libjpeg-turbo":
            print(f"{name + ', bits a pixel':28}" + "".join(f"{b:8.3f}" for b in bits))
        else:
            ratios = [math.exp(mean(values)) for values in less]
            print(f"{name:28}" + "".join(f"{r:8.3f}" for r in [*ratios, math.exp(mean(map(mean, less)))]))
        table += [{"folder": folder, "encoder": name, "quality": q, "score": round(scores[i], 3), "bits_per_pixel": round(bits[i], 4),
                   "ratio": round(math.exp(mean(less[i])), 4), "pictures": len(less[i])} for i, q in enumerate(qualities)]
    far = sorted(value for _, _, values in done for value in values)
    if far:
        difference, name, quality, ours, theirs = far[-1]
        print(f"SSIMULACRA2 beside its tool, {len(far)} JPEGs: at most {difference:.2g} apart ({name}, quality {quality}: {ours}, {theirs})")
        table.append({"folder": folder, "tool_pairs": len(far), "tool_largest_difference": difference})
    return table


def main():
    if len(sys.argv) < 3:
        print("bench-encoders: needs PICTURES_IN='folders of pictures'", file=sys.stderr)
        raise SystemExit(3)
    wanted = encoders()
    versions = {"gpufilter": looks.output(program, "--version").split()[1]}
    if any(name.startswith("cjpegli") for name in wanted):
        versions["cjpegli"] = os.environ.get("CJPEGLI_VERSION", "unknown")
    if any(name.startswith("mozjpeg") for name in wanted):
        versions["mozjpeg"] = looks.output(mozjpeg, "-version").strip()
    facts = looks.facts(versions=versions)
    rows = []
    for folder in sys.argv[2:]:
        rows += of_folder(folder, wanted)
        if cache_file:
            with open(cache_file + ".new", "w", encoding="utf-8") as file:
                json.dump(cache, file)
            os.replace(cache_file + ".new", cache_file)
    json_rows.write(looks.results("encoders"), facts, rows=rows)


main()
