"""What `make bench-device` runs: the Python module on pictures in a GPU's memory (what a call takes beside its kernels, many small
pictures in one call, Pillow's samples, decoding and encoding, numbers for networks, batches and patches beside torchvision's and
transformers'), and a film from a pipe to a pipe. Needs torch; without torchvision and transformers their rows are left out. The last
column has what is asked for.

Arguments: the program. Environment: RESULTS=FILE.txt (tests/bench/results/device-DATE.txt), GF_COMMIT, RUNS=30.
"""
import concurrent.futures
import datetime
import functools
import io
import os
import subprocess
import sys
import tempfile
import time

import torch

import gpufilter as gf
from gpufilter import vision

program = os.path.realpath(sys.argv[1])
here = os.path.dirname(os.path.realpath(__file__))
runs = int(os.environ.get("RUNS", 30))
NUMBERS = {"dtype": "float32", "layout": "NCHW", "mean": (0.485, 0.456, 0.406), "std": (0.229, 0.224, 0.225)}
table = []


def say(text):
    print(text, flush=True)
    table.append(text)


def row(what, value, unit, bar="", digits=1):
    say(f"{what:<58} {value:>9,.{digits}f} {unit:<4} {bar}")


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


@functools.lru_cache(maxsize=None)
def large_files():
    """Returns JPEGs of 12 megapixels."""
    return gf.encode(photographs(4000, 3000, 8), "jpeg", quality=90)


def rate(work, count, times=3):
    """Returns the pictures in a second of the fastest of some calls, after one that is not measured."""
    work()
    seconds = []
    for _ in range(times):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        work()
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - begin)
    return count / min(seconds)


def left_out(what, why):
    say(f"  {what}: left out: {type(why).__name__}: {str(why).splitlines()[0] if str(why) else ''}")


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


def like_pillow():
    pictures = photographs(1024, 768, 64)
    for kernel in "cubic", "linear":
        chain = f"resize=224:224:{kernel}:like=pillow"
        row(f"64 of 1024x768 to 224x224, {kernel}:like=pillow: a list", timed(lambda: gf.run(chain, pictures))[1], "us", "at most 150")
        stack = torch.stack(pictures)
        row("  an array of four axes", timed(lambda: gf.run(chain, stack))[1], "us", "at most 150")
    picture = photographs(7680, 4320, 1)[0]
    for kernel in "linear", "cubic", "lanczos3":
        ours, theirs = (timed(lambda: gf.run(f"resize=50%:50%:{kernel}{like}", picture))[2] for like in ("", ":like=pillow"))
        row(f"8K to half, {kernel}: {ours:.1f} us, like=pillow {theirs:.1f}: times", theirs / ours, "", "at most 1.3", 2)


def patches():
    """Makes rows of patches for Qwen2-VL of pictures of 12 megapixels, as bfloat16 on the device."""
    kept = large_files()
    files, part = [kept[i % 8] for i in range(256)], 64

    def make(at):
        return vision.qwen2_vl(gf.decode(files[at:at + part], device="cuda:0"), dtype="bfloat16")[0]

    def threads(count):
        with concurrent.futures.ThreadPoolExecutor(count) as pool:
            return list(pool.map(make, range(0, len(files), part)))

    say(f"256 JPEGs of 4000x3000, {sum(map(len, kept)) / 8e3:.0f} kB each, to Qwen2-VL's patches as bfloat16 on the device, {part} at a time")
    one = rate(lambda: [make(at) for at in range(0, len(files), part)], len(files))
    row("  one thread", one, "/s")
    ours = max(one, rate(lambda: threads(3), len(files)))
    row("  three threads, or one", ours, "/s", "at least 2,000")
    for what, make_others in (("torchvision on the GPU", by_torchvision), ("torchvision's decoder, transformers' processor", by_transformers)):
        try:
            work = make_others([torch.frombuffer(bytearray(file), dtype=torch.uint8) for file in files[:part]])
            theirs = rate(work, part)
        except Exception as why:  # what is not installed, or was built without nvJPEG
            left_out(what, why)
            continue
        row(f"  {what}", theirs, "/s")
        row("  times as fast", ours / theirs, "")


def by_torchvision(files):
    """Returns what makes patches of files by torchvision, all pictures of one size."""
    from torchvision.io import ImageReadMode, decode_jpeg
    from torchvision.transforms.v2 import functional as change
    mean, std = (torch.tensor(numbers, device="cuda").reshape(3, 1, 1) for numbers in (vision.CLIP_MEAN, vision.CLIP_STD))

    def work():
        pictures = decode_jpeg(files, mode=ImageReadMode.RGB, device="cuda")
        height, width = vision.smart_resize(*pictures[0].shape[1:], max_pixels=28 * 28 * 1280)
        resized = torch.stack([change.resize(each, [height, width], change.InterpolationMode.BICUBIC, antialias=True) for each in pictures])
        return rows_of(((resized.float() / 255 - mean) / std).bfloat16())

    return work


def rows_of(numbers, patch=14, merge=2, temporal=2):
    """Returns the patches of an array (pictures, channels, rows, columns) of torch, by Qwen2-VL's order."""
    count, channels, height, width = numbers.shape
    high, wide = height // patch // merge, width // patch // merge
    blocks = numbers.reshape(count, channels, 1, high, merge, patch, wide, merge, patch).expand(-1, -1, temporal, -1, -1, -1, -1, -1, -1)
    return blocks.permute(0, 3, 6, 4, 7, 1, 2, 5, 8).reshape(count * high * wide * merge * merge, channels * temporal * patch * patch)


def by_transformers(files):
    """Returns what makes patches of files by torchvision's decoder and the processor of transformers that works on a device."""
    import transformers
    from torchvision.io import ImageReadMode, decode_jpeg
    fast = getattr(transformers, "Qwen2VLImageProcessorFast", None) or transformers.Qwen2VLImageProcessor
    size = {"shortest_edge": 56 * 56, "longest_edge": 28 * 28 * 1280}
    processor = fast(size=size)

    def work():
        pictures = decode_jpeg(files, mode=ImageReadMode.RGB, device="cuda")
        return processor(images=pictures, device="cuda", return_tensors="pt")["pixel_values"].bfloat16()

    return work


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
    kept = large_files()
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

        def frames_of(command):
            seconds = {}
            for count in 2 * (few, many):
                begin = time.perf_counter()
                subprocess.run(f"cat {folder}/{count} | {command} | cat >/dev/null", shell=True, check=True)
                seconds[count] = min(time.perf_counter() - begin, seconds.get(count, 1e9))
            return (many - few) / (seconds[many] - seconds[few])

        cat = frames_of("cat")
        say("a film of 1920x1080, 4:2:0, through blur=2,unsharp")
        row("  cat alone", cat, "/s")
        for device in "cuda", "cpu":
            made = frames_of(f"{program} -q --device={device} -i - -o - blur=2,unsharp")
            row(f"  --device={device}: {100 * made / cat:.0f} % of cat", made, "/s", "at least 400, 70 %" if device == "cuda" else "")


date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
driver = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], capture_output=True, text=True).stdout.split()
commit = os.environ.get("GF_COMMIT") or subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True,
                                                       cwd=here).stdout.strip()
say(f"{date}; {torch.cuda.get_device_name()}, driver {driver[0] if driver else '?'}; {len(os.sched_getaffinity(0))} processors; commit {commit}; "
    f"torch {torch.__version__}; medians of {runs} calls")
begin = time.perf_counter()
calls()
like_pillow()
coders()
patches()
loaders()
film()
print(f"took {time.perf_counter() - begin:.0f} s")
results = os.environ.get("RESULTS") or os.path.join(here, "results", f"device-{date}.txt")
with open(results, "w") as file:
    file.write("\n".join(table) + "\n")
print("written to", results)
