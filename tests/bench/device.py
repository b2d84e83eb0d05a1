"""What `make bench-device` runs: the Python module on pictures in a GPU's memory (what a call takes beside its kernels, many small
pictures in one call, decoding and encoding, numbers for networks, batches beside torchvision's), and a film from a pipe to a pipe.
Needs torch; without torchvision its rows are left out.

Arguments: the program. Environment: RESULTS=FILE.txt (tests/bench/results/device-DATE.txt), GF_COMMIT, RUNS=30.
"""
import datetime
import io
import os
import subprocess
import sys
import tempfile
import time

import torch

import gpufilter as gf

program = os.path.realpath(sys.argv[1])
here = os.path.dirname(os.path.realpath(__file__))
runs = int(os.environ.get("RUNS", 30))
NUMBERS = {"dtype": "float32", "layout": "NCHW", "mean": (0.485, 0.456, 0.406), "std": (0.229, 0.224, 0.225)}
table = []


def say(text):
    print(text, flush=True)
    table.append(text)


def row(what, value, unit, bar=""):
    say(f"{what:<58} {value:>9,.1f} {unit:<4} {bar}")


def timed(work):
    """Returns the medians of (us on the host until a call returns, us until its work is done), and us on the device a call."""
    host, total = [], []
    for _ in range(runs):  # Python and the processor reach their speed
        work()
    torch.cuda.synchronize()
    for _ in range(runs):
        begin = time.perf_counter()
        result = work()
        returned = time.perf_counter()
        torch.cuda.synchronize()
        host.append(returned - begin)
        total.append(time.perf_counter() - begin)
        del result
    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    first.record()
    for _ in range(runs):
        work()
    last.record()
    torch.cuda.synchronize()
    return 1e6 * sorted(host)[runs // 2], 1e6 * sorted(total)[runs // 2], 1e3 * first.elapsed_time(last) / runs


def photographs(width, height, count):
    """Returns parts of the sample picture, of that size, as tensors on the device. They are sharpened so that a JPEG of 1920x1080 is as
    large as on average those by which the peers were measured: 480 kB."""
    chains = (f"crop=w=70%:h=70%:x={3 * i % 30}%:y={7 * i % 30}%:gravity=northwest,resize={width}:{height}:linear,unsharp=2:1.5"
              for i in range(count))
    with open(os.path.join(here, "../../samples/harbour.png"), "rb") as file:
        data = file.read()
    return [torch.from_dlpack(gf.decode(data, chain, device="cpu")).cuda() for chain in chains]


def calls():
    for chain, width, height in (("blur=2", 7680, 4320), ("blur=2", 1920, 1080), ("blur=2", 256, 256), ("equalize", 256, 256)):
        picture = photographs(width, height, 1)[0]
        host, total, device = timed(lambda: gf.run(chain, picture))
        row(f"run({chain!r}), {width}x{height}: over the device's {device:.1f} us", total - device, "us", "at most 15")
        row("  until it returns", host, "us")
    pictures = photographs(256, 256, 64)
    chain = "resize=224:224,blur=1"
    row(f"run({chain!r}), 64 pictures of 256x256: a list", timed(lambda: gf.run(chain, pictures))[1], "us", "at most 100")
    stack = torch.stack(pictures)
    row("  an array of four axes", timed(lambda: gf.run(chain, stack))[1], "us", "at most 100")


def coders():
    kept = gf.encode(photographs(1920, 1080, 8), "jpeg", quality=90)
    files = [bytes(bytearray(kept[i % 8])) for i in range(256)]
    pinned = [torch.frombuffer(bytearray(file), dtype=torch.uint8).pin_memory().numpy() for file in files]
    pictures = [torch.from_dlpack(picture) for picture in gf.decode(files, device="cuda:0")]
    say(f"256 JPEGs of 1920x1080, {sum(map(len, files)) / 256e3:.0f} kB each")
    for what, work, bar in (("decode(), pinned memory", lambda: gf.decode(pinned, device="cuda:0"), "at least 35,000"),
                            ("decode(), any memory", lambda: gf.decode(files, device="cuda:0"), "at least 20,000"),
                            ("encode()", lambda: gf.encode(pictures, "jpeg", quality=90), ""),
                            ("encode(), views", lambda: gf.encode(pictures, "jpeg", quality=90, views=True), "at least 30,000"),
                            ("decode() with resize=224:224, as floats",
                             lambda: gf.decode(files, "resize=224:224", device="cuda:0", **NUMBERS), "")):
        row("  " + what, 256e6 / timed(work)[1], "/s", bar)


def loaders():
    """Decodes pictures of 12 megapixels to floats of 224x224, on all processors."""
    kept = gf.encode(photographs(4000, 3000, 8), "jpeg", quality=90)
    files = [kept[i % 8] for i in range(192)]
    begin = time.perf_counter()
    for at in range(0, len(files), 64):
        gf.decode(files[at:at + 64], "resize=224:224:linear", device="cuda:0", **NUMBERS)
    torch.cuda.synchronize()
    ours = len(files) / (time.perf_counter() - begin)
    row("12 megapixels to floats of 224x224 on the device", ours, "/s")
    try:
        import torchvision.transforms.v2 as transforms
        from PIL import Image
    except ImportError:
        return
    change = transforms.Compose([transforms.Resize((224, 224)), transforms.ToImage(), transforms.ToDtype(torch.float32, scale=True),
                                 transforms.Normalize(NUMBERS["mean"], NUMBERS["std"])])

    class Pictures(torch.utils.data.Dataset):
        def __len__(self):
            return len(files)

        def __getitem__(self, index):
            return change(Image.open(io.BytesIO(files[index])).convert("RGB"))

    workers = len(os.sched_getaffinity(0))
    loader = torch.utils.data.DataLoader(Pictures(), batch_size=12, num_workers=workers, persistent_workers=True)
    for _ in range(2):  # the first time starts the workers
        begin = time.perf_counter()
        for batch in loader:
            batch.cuda()
        theirs = len(files) / (time.perf_counter() - begin)
    row(f"  torchvision, {workers} workers", theirs, "/s")
    row("  times as fast", ours / theirs, "", "at least 3")


def film():
    """Prints frames a second of a film from a pipe to a pipe, while it flows: the start of each process is subtracted."""
    few, many = 100, 500
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        frames = []
        for i in range(8):
            name = os.path.join(folder, "frame.y4m")
            subprocess.run([program, "-q", "--device=cpu", "-i", os.path.join(here, "../../samples/harbour.png"), "-o", name,
                            f"resize=2600:-1,crop=1920:1080:x={8 * i}:y={4 * i}:gravity=northwest"], check=True)
            with open(name, "rb") as file:
                head, _, frame = file.read().partition(b"FRAME\n")
            frames.append(b"FRAME\n" + frame)
        for count in few, many:
            with open(os.path.join(folder, str(count)), "wb") as file:
                file.write(head + b"".join(frames[i % 8] for i in range(count)))

        def rate(command):
            seconds = {}
            for count in 2 * (few, many):
                begin = time.perf_counter()
                subprocess.run(f"cat {folder}/{count} | {command} | cat >/dev/null", shell=True, check=True)
                seconds[count] = min(time.perf_counter() - begin, seconds.get(count, 1e9))
            return (many - few) / (seconds[many] - seconds[few])

        cat = rate("cat")
        say("a film of 1920x1080, 4:2:0, through blur=2,unsharp")
        row("  cat alone", cat, "/s")
        for device in "cuda", "cpu":
            made = rate(f"{program} -q --device={device} -i - -o - blur=2,unsharp")
            row(f"  --device={device}: {100 * made / cat:.0f} % of cat", made, "/s", "at least 400, 70 %" if device == "cuda" else "")


date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
driver = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], capture_output=True, text=True).stdout.split()
commit = os.environ.get("GF_COMMIT") or subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True,
                                                       cwd=here).stdout.strip()
say(f"{date}; {torch.cuda.get_device_name()}, driver {driver[0] if driver else '?'}; {len(os.sched_getaffinity(0))} processors; commit {commit}; "
    f"torch {torch.__version__}; medians of {runs} calls")
calls()
coders()
loaders()
film()
results = os.environ.get("RESULTS") or os.path.join(here, "results", f"device-{date}.txt")
with open(results, "w") as file:
    file.write("\n".join(table) + "\n")
print("written to", results)
