"""Packs the module in the folder of a build as a wheel: wheel.py BUILD TO. pip and build call the functions of PEP 517 and 660, which run make."""

import base64
import contextlib
import functools
import hashlib
import io
import os
import platform
import re
import shlex
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

METADATA = """Metadata-Version: 2.1
Name: gpufilter
Version: {version}
Summary: Image filters on NVIDIA GPUs, and the same pictures without one
Requires-Python: >=3.9
License: see LICENSE
"""
# The command: pip changes nothing of a script for the shell, which starts sooner than Python. The program lies in the module, as
# Python knows it, or beside the folder of the script (pip install --target).
SCRIPT = """#!/bin/sh
self=$0
[ ! -L "$self" ] || self=$(readlink -f "$self")
bin=${self%/*}
for program in "$bin"/../gpufilter/gpufilter "$bin"/../lib*/python3*/*-packages/gpufilter/gpufilter; do
    [ ! -x "$program" ] || exec "$program" "$@"
done
echo "gpufilter: the module gpufilter is not where pip installs it for $bin" >&2
exit 3
"""
# Of the libraries that the wheel needs, those that every distribution has, and the one that python.mk replaces.
EVERYWHERE = {"libc.so.6", "libm.so.6", "libz.so.1", "libstdc++.so.6", "libgcc_s.so.1", "libgpufilter.so.1", "libjbig.so.0"}
WHEEL = "Wheel-Version: 1.0\nGenerator: gpufilter\nRoot-Is-Purelib: false\nTag: {tag}\n"


def is_binary(path):
    """Whether the name is that of a program or a library."""
    return path.endswith("/gpufilter") or ".so" in os.path.basename(path)


def licenses(libraries):
    """Returns the licenses of what auditwheel takes of the libraries that these need: texts by the names of Debian's packages, which
    begin with where the source is, and the licenses in full that these only name."""
    if not shutil.which("dpkg"):
        return {}
    needed = subprocess.run(["ldd", *libraries], stdout=subprocess.PIPE, check=True).stdout.decode()
    paths = {os.path.realpath(path) for name, path in re.findall(r"(\S+) => (/\S+)", needed) if name not in EVERYWHERE}
    # A package may call /usr/lib by its name from before the two were one.
    owners = subprocess.run(["dpkg", "-S", *paths, *(path.removeprefix("/usr") for path in paths)], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, check=False)
    packages = sorted(set(re.findall(r"^([^:,\s]+)", owners.stdout.decode(), re.M)))
    form = "${Package} ${Version}: apt-get source ${source:Package}=${source:Version}\n"
    described = subprocess.run(["dpkg-query", "-W", "-f", form, *packages], stdout=subprocess.PIPE, check=False) if packages else owners
    texts = {}
    for source in described.stdout.splitlines():
        package = source.split()[0].decode()
        with contextlib.suppress(OSError), open(f"/usr/share/doc/{package}/copyright", "rb") as file:
            texts[package] = b"The library is that of Debian's package " + source + b"\n\n" + file.read()
    for name in sorted(set(re.findall(rb"/usr/share/common-licenses/([\w.-]*\w)", b"".join(texts.values())))):
        with contextlib.suppress(OSError), open(b"/usr/share/common-licenses/" + name, "rb") as file:
            texts[f"common/{name.decode()}"] = file.read()
    return texts


def content(path):
    """Returns the bytes of a file; of a program or library without what only a debugger needs."""
    if not is_binary(path) or not shutil.which("strip"):
        with open(path, "rb") as file:
            return file.read()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["strip", "--strip-unneeded", "-o", f"{folder}/stripped", path], check=True)
        with open(f"{folder}/stripped", "rb") as file:
            return file.read()


def write_wheel(to, files, more=()):
    """Writes a wheel into the folder `to` and returns its name. `files` and `more` are pairs of a path, which more's is in the
    wheel's own folder, and bytes."""
    version, tag = version_of_sources(), f"py3-none-linux_{platform.machine()}"
    name, info = f"gpufilter-{version}-{tag}.whl", f"gpufilter-{version}.dist-info"
    record = []
    os.makedirs(to, exist_ok=True)
    partial = os.path.join(to, name + ".partial")
    with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive:
        def add(path, data):
            entry = zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0))  # the same inputs make the same wheel
            entry.external_attr = (stat.S_IFREG | (0o755 if is_binary(path) or "/scripts/" in path else 0o644)) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(data)}\n" if not path.endswith("/RECORD") else "")

        for path, data in files:
            add(path.format(version=version), data)
        with open(os.path.join(ROOT, "LICENSE"), "rb") as file:
            add(f"{info}/LICENSE", file.read())
        for path, data in more:
            add(f"{info}/{path}", data)
        add(f"{info}/METADATA", METADATA.format(version=version).encode())
        add(f"{info}/WHEEL", WHEEL.format(tag=tag).encode())
        add(f"{info}/RECORD", ("".join(record) + f"{info}/RECORD,,\n").encode())
    os.replace(partial, os.path.join(to, name))
    return name


IN_PATH = "gpufilter-{version}.data/scripts/gpufilter"


def pack(build, to, has_libraries=False):
    """Writes the wheel of the module in the folder `build`. With `has_libraries` there are the licenses of the libraries that
    auditwheel will put inside."""
    files = {f"gpufilter/{file.name}": file.path for folder in ("python/gpufilter", "wheel") for file in os.scandir(f"{build}/{folder}")
             if file.is_file() and not file.name.endswith((".o", ".d"))}
    texts = licenses([path for path in files.values() if is_binary(path)]) if has_libraries else {}
    contents = [(path, content(source)) for path, source in sorted(files.items())] + [(IN_PATH, SCRIPT.encode())]
    return write_wheel(to, contents, [(f"licenses/{name}", text) for name, text in texts.items()])


def version_of_sources():
    with open(os.path.join(ROOT, "include/gpufilter/version.h"), encoding="utf-8") as file:
        return ".".join(re.findall(r"GF_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", file.read()))


def show(text):
    """Shows a line to whoever waits for pip, which keeps what a build prints to itself; what comes next replaces it."""
    with contextlib.suppress(OSError), open("/dev/tty", "w", encoding="utf-8") as terminal:
        terminal.write(f"\033[K  {text[:100]}\r")


def plainly(function):
    """A function that ends with one line, and not with a traceback, where a file or a program fails."""
    @functools.wraps(function)
    def call(*arguments, **named):
        try:
            return function(*arguments, **named)
        except (OSError, subprocess.CalledProcessError) as error:
            sys.exit(f"gpufilter: {error}")
    return call


def sources(folder):
    """Returns what is compiled there: bytes by the names of files."""
    found = {}
    for top in ("Makefile", "include", "src", "cuda"):
        for at, _, names in os.walk(os.path.join(folder, top)):
            for path in (os.path.join(at, name) for name in names if not at.endswith("__pycache__")):
                with open(path, "rb") as file:
                    found[os.path.relpath(path, folder)] = file.read()
    return found


def folder_to_build_in():
    """Where make runs: build unpacks the sources that it has just packed, and if these are those of the folder that it was called
    in, what was built there is used."""
    called_in = os.environ.get("PWD", ROOT)
    is_same = os.path.isdir(f"{called_in}/build") and sources(called_in) == sources(ROOT)
    return called_in if is_same else ROOT


def run_make(target):
    """Builds the target, or takes what make has built, and returns the folder of the build."""
    folder = folder_to_build_in()
    missing = "" if shutil.which("make") else " make"
    missing += subprocess.run(["sh", f"{folder}/tests/packages.sh", "missing"], stdout=subprocess.PIPE, check=True).stdout.decode().rstrip()
    if missing:
        sys.exit(f"gpufilter: this is missing; on Debian and Ubuntu: apt-get install{missing}")
    make = ["make", "-s", f"-j{os.cpu_count()}", "-C", folder, target, "BUILD=build", f"PYTHON={sys.executable}", "V=0"]
    waits = subprocess.run([*make, "-n"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout.count(b"nvcc ")
    if waits:
        show(f"{waits} files for the GPU take {1 + waits // 6 // os.cpu_count()} minutes; CUDA=0 in the environment leaves them out")
    with subprocess.Popen(make, stdout=subprocess.PIPE, encoding="utf-8", errors="replace") as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            show(line.rstrip())
    show("")
    if process.returncode:
        sys.exit(f"gpufilter: make ended with status {process.returncode}, for the reason above")
    return os.path.join(folder, "build")


@plainly
def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Packs a wheel into the folder (PEP 517)."""
    return pack(run_make("wheel-folder"), wheel_directory)


@plainly
def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """Packs a wheel that names the folder of the build, which `make python` brings up to date (PEP 660)."""
    build = run_make("python")
    script = f'#!/bin/sh\nexec {shlex.quote(build)}/gpufilter "$@"\n'
    return write_wheel(wheel_directory, [("gpufilter.pth", f"{build}/python\n".encode()), (IN_PATH, script.encode())])


@plainly
def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """Says what will be built, before it is (PEP 517)."""
    version = version_of_sources()
    info = f"gpufilter-{version}.dist-info"
    os.makedirs(os.path.join(metadata_directory, info))
    with open(os.path.join(metadata_directory, info, "METADATA"), "w", encoding="utf-8") as file:
        file.write(METADATA.format(version=version))
    return info


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


@plainly
def build_sdist(sdist_directory, config_settings=None):
    """Packs the sources into the folder (PEP 517): the files that git knows, or all of those that were unpacked from such an archive."""
    version = version_of_sources()
    name = f"gpufilter-{version}"
    listed = b""
    if shutil.which("git"):
        listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
    paths = os.fsdecode(listed).split("\0")
    if "src/python/wheel.py" not in paths:
        paths = [os.path.relpath(os.path.join(at, file), ROOT) for at, _, files in os.walk(ROOT) for file in files]
        paths = [path for path in paths if not re.match(r"(build|dist/|\.git/|PKG-INFO)|.*__pycache__/", path)]

    def nobody(entry):
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        return entry

    with tarfile.open(os.path.join(sdist_directory, f"{name}.tar.gz"), "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(paths):
            if path and os.path.lexists(os.path.join(ROOT, path)):
                archive.add(os.path.join(ROOT, path), f"{name}/{path}", recursive=False, filter=nobody)
        text = METADATA.format(version=version).encode()
        entry = tarfile.TarInfo(f"{name}/PKG-INFO")
        entry.size = len(text)
        archive.addfile(entry, io.BytesIO(text))
    return f"{name}.tar.gz"


@plainly
def main(build, to):
    """Packs the wheel. Where auditwheel and patchelf are, it has the libraries that it is linked with inside, and is for every
    distribution from a certain age on."""
    has_tools = shutil.which("auditwheel") and shutil.which("patchelf")
    wheel = os.path.join(to, pack(build, to, has_libraries=has_tools))
    if not has_tools:
        print(f"{wheel}: only for distributions like this one: there is no auditwheel or no patchelf")
        return
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, LD_LIBRARY_PATH=os.path.abspath(f"{build}/wheel/replaced"))
        subprocess.run(["auditwheel", "repair", "-w", folder, wheel], check=True, env=environment)
        os.remove(wheel)
        name, = os.listdir(folder)
        shutil.move(os.path.join(folder, name), os.path.join(to, name))
    print(os.path.join(to, name))


if __name__ == "__main__":
    main(*sys.argv[1:])
