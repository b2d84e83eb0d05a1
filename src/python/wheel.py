"""Packs the module in the folder of a build as a wheel: wheel.py VERSION BUILD TO. pip calls build_wheel() (PEP 517), which runs make."""

import base64
import hashlib
import io
import os
import platform
import re
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
EVERYWHERE = {"libc.so.6", "libm.so.6", "libz.so.1", "libstdc++.so.6", "libgcc_s.so.1", "libgpufilter.so", "libjbig.so.0"}
WHEEL = "Wheel-Version: 1.0\nGenerator: gpufilter\nRoot-Is-Purelib: false\nTag: {tag}\n"


def is_binary(path):
    """Whether the name is that of a program or a library."""
    return path.endswith("/gpufilter") or ".so" in os.path.basename(path)


def licenses(libraries):
    """Returns the licenses of what auditwheel takes of the libraries that these need: texts by the names of Debian's packages."""
    if not shutil.which("dpkg"):
        return {}
    needed = subprocess.run(["ldd", *libraries], stdout=subprocess.PIPE, check=True).stdout.decode()
    texts = {}
    for name in sorted(set(re.findall(r"(\S+) => /", needed)) - EVERYWHERE):
        owner = subprocess.run(["dpkg", "-S", f"*/{name}"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout.decode()
        text = f"/usr/share/doc/{owner.partition(':')[0]}/copyright"
        if os.path.isfile(text):
            with open(text, "rb") as file:
                texts[owner.partition(":")[0]] = file.read()
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


def pack(version, build, to, has_libraries=False):
    """Writes the wheel of the module in the folder `build` into the folder `to`, and returns its name. With `has_libraries` there
    are the licenses of the libraries that auditwheel will put inside."""
    tag = f"py3-none-linux_{platform.machine()}"
    name, info = f"gpufilter-{version}-{tag}.whl", f"gpufilter-{version}.dist-info"
    files = {f"gpufilter/{file.name}": file.path for folder in ("python/gpufilter", "wheel") for file in os.scandir(f"{build}/{folder}")
             if file.is_file() and not file.name.endswith((".o", ".d"))}
    record = []
    os.makedirs(to, exist_ok=True)
    partial = os.path.join(to, name + ".partial")
    with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive:
        def add(path, data, mode=0o644):
            entry = zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0))  # the same inputs make the same wheel
            entry.external_attr, entry.compress_type = (stat.S_IFREG | mode) << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
            if path.endswith("/RECORD"):
                return
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(data)}\n")

        for path, source in sorted(files.items()):
            add(path, content(source), 0o755 if is_binary(path) else 0o644)
        add(f"gpufilter-{version}.data/scripts/gpufilter", SCRIPT.encode(), 0o755)
        with open(os.path.join(ROOT, "LICENSE"), "rb") as file:
            add(f"{info}/LICENSE", file.read())
        binaries = [path for path in files.values() if is_binary(path)]
        for package, text in licenses(binaries).items() if has_libraries else ():
            add(f"{info}/licenses/{package}", text)
        add(f"{info}/METADATA", METADATA.format(version=version).encode())
        add(f"{info}/WHEEL", WHEEL.format(tag=tag).encode())
        add(f"{info}/RECORD", ("".join(record) + f"{info}/RECORD,,\n").encode())
    os.replace(partial, os.path.join(to, name))
    return name


def version_of_sources():
    with open(os.path.join(ROOT, "include/gpufilter/version.h"), encoding="utf-8") as file:
        return ".".join(re.findall(r"GF_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", file.read()))


def tell(text):
    """Says something to whoever waits for pip, which keeps what a build prints to itself."""
    try:
        with open("/dev/tty", "w", encoding="utf-8") as terminal:
            terminal.write(f"\n{text}\n")
    except OSError:
        print(text, file=sys.stderr)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Builds the program, or takes what make has built, and packs the wheel into the folder, for pip."""
    if not shutil.which("make"):
        sys.exit("gpufilter: this build needs make, a C compiler, pkg-config, libpng, libjpeg-turbo and zlib with their headers; on Debian and "
                 "Ubuntu: apt-get install make && make demo")
    make = ["make", "-s", f"-j{os.cpu_count()}", "-C", ROOT, "wheel-folder", f"PYTHON={sys.executable}"]
    waits = subprocess.run([*make, "-n"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout.count(b"nvcc ")
    if waits:
        tell(f"gpufilter: {waits} files for the GPU are compiled, which takes about {1 + waits // 6 // os.cpu_count()} minutes; with CUDA=0 in the "
             "environment they are left out")
    failed = subprocess.run(make, check=False, stdout=sys.stderr).returncode
    if failed:
        sys.exit(f"gpufilter: make ended with status {failed}, for the reason above; make demo, in the same folder, installs what is missing")
    return pack(version_of_sources(), os.path.join(ROOT, "build"), wheel_directory)


def build_sdist(sdist_directory, config_settings=None):
    """Packs the sources that git knows into the folder, for pip and build (PEP 517)."""
    version = version_of_sources()
    name = f"gpufilter-{version}"
    listed = b""
    if shutil.which("git"):
        listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
    if b"src/python/wheel.py" not in listed:
        raise UnsupportedOperation("sources are packed in a clone of the repository alone, by git")
    with open(os.path.join(ROOT, "src/python/pyproject.toml"), encoding="utf-8") as file:
        project = file.read().replace('backend-path = ["."]', 'backend-path = ["src/python"]')
    with tarfile.open(os.path.join(sdist_directory, f"{name}.tar.gz"), "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for path in os.fsdecode(listed).split("\0"):
            if path:
                archive.add(os.path.join(ROOT, path), f"{name}/{path}", recursive=False)
        for path, text in (("pyproject.toml", project), ("PKG-INFO", METADATA.format(version=version))):
            entry = tarfile.TarInfo(f"{name}/{path}")
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return f"{name}.tar.gz"


class UnsupportedOperation(Exception):
    """What build_sdist() raises where it can make none (PEP 517)."""


def main(version, build, to):
    """Packs the wheel. Where auditwheel and patchelf are, it has the libraries that it is linked with inside, and is for every
    distribution from a certain age on."""
    has_tools = shutil.which("auditwheel") and shutil.which("patchelf")
    wheel = os.path.join(to, pack(version, build, to, has_libraries=has_tools))
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
