"""Packs build/python as a wheel: wheel.py VERSION FOLDER TO. pip calls build_wheel() (PEP 517), which runs make."""

import base64
import hashlib
import os
import platform
import re
import shutil
import stat
import subprocess
import sys
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
WHEEL = "Wheel-Version: 1.0\nGenerator: gpufilter\nRoot-Is-Purelib: false\nTag: {tag}\n"


def content(path):
    """Returns the bytes of a file; of a program or library without what only a debugger needs."""
    is_program = path.endswith(("/gpufilter", ".so"))
    if not is_program or not shutil.which("strip"):
        with open(path, "rb") as file:
            return file.read()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["strip", "--strip-unneeded", "-o", f"{folder}/stripped", path], check=True)
        with open(f"{folder}/stripped", "rb") as file:
            return file.read()


def pack(version, folder, to):
    """Writes the wheel of the package in `folder` into the folder `to`, and returns its name."""
    tag = f"py3-none-linux_{platform.machine()}"
    name, info = f"gpufilter-{version}-{tag}.whl", f"gpufilter-{version}.dist-info"
    package = os.path.join(folder, "gpufilter")
    files = {f"gpufilter/{file}": os.path.join(package, file) for file in sorted(os.listdir(package))
             if not file.startswith("__pycache__")}
    files[f"gpufilter-{version}.data/scripts/gpufilter"] = files.pop("gpufilter/gpufilter")
    record = []
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

        for path, source in files.items():
            add(path, content(source), 0o755 if path.endswith(("/gpufilter", ".so")) else 0o644)
        with open(os.path.join(ROOT, "LICENSE"), "rb") as file:
            add(f"{info}/LICENSE", file.read())
        add(f"{info}/METADATA", METADATA.format(version=version).encode())
        add(f"{info}/WHEEL", WHEEL.format(tag=tag).encode())
        add(f"{info}/RECORD", ("".join(record) + f"{info}/RECORD,,\n").encode())
    os.replace(partial, os.path.join(to, name))
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Builds the program and packs the wheel into the folder, for pip."""
    subprocess.run(["make", "-s", f"-j{os.cpu_count()}", "-C", ROOT, "python", f"PYTHON={sys.executable}"], check=True,
                   stdout=sys.stderr)
    with open(os.path.join(ROOT, "include/gpufilter/version.h"), encoding="utf-8") as file:
        version = ".".join(re.findall(r"GF_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", file.read()))
    return pack(version, os.path.join(ROOT, "build/python"), wheel_directory)


def main(version, folder, to):
    """Packs the wheel. With auditwheel and patchelf there is another one beside it, which has the libraries that it is linked
    with inside, and is for every distribution from a certain age on."""
    wheel = os.path.join(to, pack(version, folder, to))
    print(wheel)
    if shutil.which("auditwheel") and shutil.which("patchelf"):
        subprocess.run(["auditwheel", "repair", "-w", to, wheel], check=True)
    else:
        print("only for distributions like this one: there is no auditwheel or no patchelf")


if __name__ == "__main__":
    main(*sys.argv[1:])
