"""What `make bench-qualities` runs: how good and how large pictures are at the qualities of each lossy format, as the mean SSIMULACRA2
and the mean bits a pixel. The cookbook's table is made of the results (qualities_table.sh).

Arguments: the program, and a folder of pictures. Environment:
  QUALITIES="30 40 50 60 70 80 90 95"
  PICTURES=N          N pictures of the folder (all)
  RESULTS=FILE.json   where the figures go (tests/bench/results/qualities-DATE.json)
  GF_COMMIT=NAME      the commit, where git does not know it
"""
import os
import sys

import json_rows
import looks

FORMATS = [("JPEG", ".jpg", ["--optimize"]), ("WebP", ".webp", []), ("AVIF", ".avif", []), ("JPEG XL", ".jxl", [])]


def main():
    if len(sys.argv) != 3:
        print("bench-qualities: needs PICTURES_IN=FOLDER", file=sys.stderr)
        raise SystemExit(3)
    program = os.path.realpath(sys.argv[1])
    lacking = [line for line in looks.output(program, "--version").splitlines() if line.startswith("without ")]
    qualities = [int(word) for word in os.environ.get("QUALITIES", "30 40 50 60 70 80 90 95").split()]
    paths = looks.pictures(sys.argv[2])
    folder = os.path.basename(os.path.realpath(sys.argv[2]))
    rows = []

    def of_picture(path):
        picture = looks.Picture(program, path)
        words = [program, "-q", "--device=cpu", "--threads=1", "-i", "{in}", "-o", "{out}"]
        return [[(size * 8 / picture.pixels, score) for size, score in
                 (picture.measure([*words, f"--quality={quality}", *more], ending) for quality in qualities)]
                for _, ending, more in formats]

    formats = []
    for row in FORMATS:
        if any(row[0] in line for line in lacking):
            print(f"{row[0]}: left out: this program was built without it", flush=True)
        else:
            formats.append(row)
    done = looks.each(of_picture, paths)
    print(f"{folder}, {len(done)} pictures: SSIMULACRA2 and bits a pixel, means\n{'quality':10}" + "".join(f"{f[0]:>18}" for f in formats))
    for i, quality in enumerate(qualities):
        line = f"{quality:<10}"
        for j, (name, _, more) in enumerate(formats):
            bits, score = (sum(picture[j][i][k] for picture in done) / len(done) for k in (0, 1))
            line += f"{score:>10.1f}{bits:8.2f}"
            rows.append({"format": name, "options": " ".join(more), "quality": quality, "score": round(score, 2), "bits_per_pixel": round(bits, 3)})
        print(line)
    json_rows.write(looks.results("qualities"), looks.facts(pictures=f"{folder}, {len(done)}"), rows=rows)


main()
