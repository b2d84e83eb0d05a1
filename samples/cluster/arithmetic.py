"""Writes samples/cluster/arithmetic.md: what 10^8 pictures in 10^5 archives take on 50 nodes, from what was measured.

    python3 samples/cluster/arithmetic.py tests/bench/results >samples/cluster/arithmetic.md

The rates are those of the newest jobs-*.json of the folder from a machine with 16 processors, on one GPU. `make readme` writes the
page anew.
"""
import glob
import json
import os
import sys

PICTURES, ARCHIVES, NODES, PROCESSORS = 10**8, 10**5, 50, 16
BYTES = {"1080p": 350e3, "12 megapixels": 2.5e6}  # of a JPEG of quality 90
JOBS = "1080p", "12 megapixels", "a tar of 1080p"
OUT = 12e3  # of a thumbnail
START = 0.4  # seconds until a process with one GPU has begun; 0.2 to 0.4 were measured
CLIENT = 0.09  # seconds of a processor for the start of rclone
STARTS = 4  # of rclone for an archive: --probe, --fetch, and --store of the archive and of its record
NETWORKS = {"10 Gbit/s": 1.25e9, "100 Gbit/s": 12.5e9}  # bytes a second
KILLS = {"10 minutes": 600, "hour": 3600, "day": 86400}  # a node's time from one kill to the next



def load(name):
    with open(name) as file:
        return json.load(file)


names = sorted(glob.glob(os.path.join(sys.argv[1], "jobs-*.json")))
newest = [name for name in names if load(name)["threads"] == PROCESSORS][-1]
saved = load(newest)
figures = {each["job"]: each for each in saved["figures"] if each["tool"] == "1 GPU"}
jobs = []
for name in JOBS:
    figure = figures["thumbnail=256 of " + name]
    jobs.append((name, figure["pictures_s"], figure["processor_ms"] / 1e3 / PROCESSORS, BYTES[name.removeprefix("a tar of ")]))


def duration(seconds):
    for unit, length in ("h", 3600), ("min", 60), ("s", 1):
        if seconds >= 2 * length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:.2g} s" if seconds >= 0.1 else f"{seconds * 1e3:.2g} ms"


def size(number):
    return f"{number / 1e9:.3g} GB" if number >= 1e9 else f"{number / 1e6:.3g} MB"


def percent(fraction):
    return f"{100 * fraction:.2g} %" if fraction < 1 else f"{fraction:.3g} times"


def table(head, rows):
    print("| " + " | ".join(head) + " |\n" + "| --- " * len(head) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


print(f"""# The arithmetic of {PICTURES:,} pictures

{PICTURES:,} JPEGs in {ARCHIVES:,} archives on {NODES} nodes, each with one GPU and {PROCESSORS} processors, to thumbnails of 256 pixels.
Nothing of this was run. The rates are those of one {saved["gpu"].split(":")[0]} in `{os.path.basename(newest)}`, with all files in memory: they hold
where the storage keeps up. A JPEG of 1080p has {BYTES["1080p"] / 1e3:.0f} kB, one of 12 megapixels {BYTES["12 megapixels"] / 1e6} MB. The start of a process with a GPU takes {START} s,
that of rclone {CLIENT} s of a processor. `arithmetic.py` writes this page.

## The whole

A node does {PICTURES // NODES:,} pictures. The slower of work and network decides; reading and writing go on beside the work.
""")
rows = []
for name, rate, busy, each in jobs:
    work = PICTURES / NODES / rate
    carried = [PICTURES / NODES * (each + OUT) / bytes_s for bytes_s in NETWORKS.values()]
    rows.append([name, f"{rate:,.0f}/s", duration(work), duration(PICTURES / NODES * busy),
                 *map(duration, carried), " and ".join(duration(max(work, c)) for c in carried)])
table(["pictures", "one GPU", "work", "with the processors alone busy", *NETWORKS, "the whole by either"], rows)

name, rate, _, each = jobs[2]
share, busy = ARCHIVES // NODES, PICTURES / NODES / rate
carried = [1.25e9 / (b + OUT) for b in BYTES.values()]
print(f"""A network of 10 Gbit/s carries {carried[0]:,.0f} pictures of 1080p a second, and {carried[1]:,.0f} of 12 megapixels: where it is the
way to the storage, a faster GPU gains nothing.

## Starts

A process for each archive starts {share:,} times on a node: {duration(share * START)} beside {duration(busy)} of work at {rate:,.0f}
pictures a second. A process for each part starts once: {duration(START)}. The starts of rclone, four an archive (`--probe`,
`--fetch`, and `--store` of the archive and of its record), take {duration(STARTS * share * CLIENT)} of a processor, {percent(STARTS * share * CLIENT / PROCESSORS / busy)} of the time of {PROCESSORS}.

## The size of an archive

With tar archives and {rate:,.0f} pictures a second. **A process each**: the starts beside the work, if an engine starts a process for
each archive; a process for each part has none of it. **Transfers**: the starts of rclone beside the processors' time. **Lost**: a
task that is killed loses half an archive, the one that it was reading ahead, and a start; this beside the time between two kills.
**Last**: the nodes end at different times, by one archive at most; this beside the whole work of a node.
""")
rows = []
for count in (10, 100, 1000, 5000, 20000, 100000):
    busy = count / rate
    rows.append([f"{count:,}", size(count * each), duration(busy), percent(START / busy), percent(STARTS * CLIENT / PROCESSORS / busy),
                 *(percent((1.5 * busy + START) / kills) for kills in KILLS.values()), percent(busy * NODES * rate / PICTURES)])
table(["pictures", "bytes", "work", "a process each", "transfers", *(f"lost, a kill every {k}" for k in KILLS), "last"], rows)

print("""The least size keeps the starts of rclone below 2 % of the processors, the largest the loss below 1 % with a kill every ten minutes.
In the last column the starts of a process for each archive are 10 %. The rows of networks say what they carry, of either size of
pictures.
""")
rows = []
for name, rate, each in [(job[0], job[1], job[3]) for job in jobs] + [(name, bytes_s, 1) for name, bytes_s in NETWORKS.items()]:
    sizes = STARTS * CLIENT / (0.02 * PROCESSORS), (0.01 * 600 - START) / 1.5, START / 0.1
    counts = ["" if each == 1 else f"{seconds * rate:,.0f}: " for seconds in sizes]
    rows.append([name, *(count + size(seconds * rate * each) for count, seconds in zip(counts, sizes))])
table(["pictures", "least, with transfers", "largest", "least, with a process each"], rows)
print("""**What follows.** An archive should hold one to four seconds of a node's work: 1 to 5 GB where a network of 10 Gbit/s brings them, more
where it is faster. Smaller ones pay for starts, larger ones repeat more after a kill, and need more space where they are fetched
ahead. Archives that lie in place may be smaller, if a process does a part (`--shard=K/N`), not an archive. Four to eight parts a
node share the work evenly.""")
