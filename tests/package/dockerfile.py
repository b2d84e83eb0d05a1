"""Runs the steps of samples/cluster/Dockerfile up to a target where there is no Docker: an image is a folder, and chroot runs
each RUN in a copy of it. Root only, by a network. The command of the target then runs as the image's user, and so does a
filter with each format that the image should know.

Arguments: the target, and IMAGE=FOLDER for each image that the file begins with, such as debian:12-slim=FOLDER with a folder
that debootstrap --variant=minbase made. No folder is changed. As the context counts what git has of the working tree.
"""
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

root = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
target, images = sys.argv[1], dict(a.rsplit("=", 1) for a in sys.argv[2:])
work = tempfile.mkdtemp(prefix="dockerfile.")
stages, arguments = {}, {}  # name: folder, environment, working folder, user, command


def steps():
    text = re.sub(r"^#.*\n", "", open(os.path.join(root, "samples/cluster/Dockerfile")).read(), flags=re.M)
    for line in re.sub(r"\\\n", "", text).splitlines():
        if line.strip():
            yield line.split(None, 1)


def within(stage, command, user="0:0"):
    """Runs a command as process 1 of a namespace with a /proc of its own, as a container does."""
    shell = 'mount -t proc proc "$1/proc" && exec chroot --userspec="$2" "$1" /bin/sh -ec "cd $3 && $4"'
    subprocess.run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec", shell, "sh", stage["folder"], user,
                    stage["at"], command], check=True, env={"PATH": os.environ["PATH"], **stage["set"]},
                   stdin=subprocess.DEVNULL)


def begin(words):
    base, name = words.split(" AS ")
    base = re.sub(r"\$\{(\w+)\}", lambda m: arguments[m[1]], base)
    stage = dict(stages.get(base, {"folder": images.get(base), "set": {}, "at": "/", "user": "0:0"}))
    stage["set"] = dict(stage["set"])
    stages[name] = stage
    if base in stages or name != "toolkit":  # nothing runs in the toolkit's image
        folder = os.path.join(work, name)
        subprocess.run(["cp", "-a", stage["folder"], folder], check=True)
        shutil.copy("/etc/resolv.conf", os.path.join(folder, "etc"))
        stage["folder"] = folder
    return stage


def copy(stage, words):
    given = re.match(r"--from=(\S+) (\S+) (\S+)$", words)
    if not given:  # the context
        tree = subprocess.run(["git", "-C", root, "archive", "HEAD"], check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x", "-C", stage["folder"] + stage["at"]], input=tree, check=True)
        return
    for each in glob.glob(stages[given[1]]["folder"] + given[2]):
        subprocess.run(["cp", "-aT", each, stage["folder"] + given[3]], check=True)


def run(stage, words):
    mount = re.match(r"--mount=type=bind,from=([^,]+),source=([^,]+),target=(\S+) +", words)
    if mount:
        there = stage["folder"] + mount[3]
        os.makedirs(there)
        shutil.copytree(stages[mount[1]]["folder"] + mount[2], there, dirs_exist_ok=True,
                        ignore=lambda at, names: [n for n in names if not n.endswith(".deb")])
        words = words[mount.end():]
    within(stage, words)
    if mount:
        shutil.rmtree(there)


def wanted():
    """The stages that the target is made of, as BuildKit finds them."""
    needs, name = {}, None
    for step, words in steps():
        if step == "FROM":
            base, name = words.split(" AS ")
            needs[name] = {base}
        elif name:
            needs[name] |= set(re.findall(r"from=([\w-]+)", words))
    found = {target}
    for each in reversed(list(needs)):
        found |= needs[each] if each in found else set()
    return found


keep, stage = wanted(), None
for step, words in steps():
    if step == "ARG":
        name, value = words.split("=", 1)
        arguments[name] = value
        continue
    if step == "FROM":
        stage = begin(words) if words.split(" AS ")[1] in keep else None
    if not stage or step == "FROM":
        continue
    print("==", step, words, flush=True)
    if step == "ENV":
        stage["set"].update(pair.split("=", 1) for pair in shlex.split(words))
    elif step == "WORKDIR":
        stage["at"] = words
        os.makedirs(stage["folder"] + words, exist_ok=True)
    elif step == "USER":
        stage["user"] = words
    elif step in ("COPY", "RUN"):
        {"COPY": copy, "RUN": run}[step](stage, words)
    elif step == "CMD":
        stage["command"] = shlex.join(eval(words))
within(stage, stage["command"] + " | head -n 5", stage["user"])
within(stage, "gpufilter --version; ! gpufilter --version | grep '^without'", stage["user"])
shutil.copy(os.path.join(root, "samples/harbour.png"), stage["folder"] + "/tmp")
within(stage, "for each in png jpg webp tiff avif jxl; do gpufilter -i /tmp/harbour.png -o /tmp/small.$each resize=20% && "
       "gpufilter -q -i /tmp/small.$each -o /tmp/again.png; done; ls -l /tmp", stage["user"])
shutil.rmtree(work)
