"""Compares the kernels of two builds by their machine code and by what they use: kernels.py FOLDER FOLDER.

Each folder has objects or cubins that nvcc made, for the same architectures and by the same options. A kernel is known by its name
as in the source, whichever file it lies in. Its instructions count with what they tell the scheduler; where constants and variables
of the file lie does not (banks 3 and 4), nor does what the compiler makes of the file's name. A kernel that several files have is the
same if the sets of its codes are. cuobjdump is that of CUOBJDUMP, of PATH or of /usr/local/cuda. Exit status 1: kernels differ, have
gone or have come."""

import collections
import concurrent.futures
import hashlib
import os
import re
import shutil
import subprocess
import sys

# _GLOBAL__N__HASH_FILE becomes c++filt's own "(anonymous namespace)".
LOCAL = re.compile(r"^__nv_static_\d+__\w*?_(?=_Z)")
INTERNAL = re.compile(r"_INTERNAL_\w+::")
INSTRUCTION = re.compile(r"^\s*/\*[0-9a-f]+\*/\s*(.*?)\s*/\* 0x([0-9a-f]{16}) \*/")
REST = re.compile(r"^\s*/\* 0x([0-9a-f]{16}) \*/")
PLACE = re.compile(r"(c\[0x[34]\])\[((?:U?R\w+)?)[^]]*\]")
RESERVE = "only whether the 1024 bytes that a block reserves are listed"
NAMED = re.compile(r"\b\w+@\w*\([^)]*\)|`\([^)]*\)")


def cuobjdump():
    tool = os.environ.get("CUOBJDUMP") or shutil.which("cuobjdump") or "/usr/local/cuda/bin/cuobjdump"
    if not os.path.exists(tool):
        sys.exit("kernels.py: no cuobjdump; CUOBJDUMP=PATH names one")
    return tool


def code_of(instruction, word):
    """What counts of an instruction: its text, and its word unless that has the place of something in it."""
    text = NAMED.sub("@", PLACE.sub(r"\1[\2]", instruction))
    placed = PLACE.search(instruction) or NAMED.search(instruction)
    return text + "\n" if placed else f"{text} {word}\n"


def kernels_of(path):
    """The kernels of a file: (architecture, mangled name), resources, hash of the code and its number of instructions."""
    found, resources, arch, name, digest, count = [], {}, "", None, None, 0
    command = [cuobjdump(), "-sass", "-res-usage", path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            if name and (match := INSTRUCTION.match(line)):
                digest.update(code_of(match[1], match[2]).encode())
                count += 1
            elif name and (match := REST.match(line)):
                digest.update(match[1].encode())
            elif match := re.match(r"^\s*Function ?: (\S+)$", line):
                name, digest, count = match[1], hashlib.sha256(), 0
            elif match := re.match(r"^ Function (\S+):$", line):
                of = match[1]
            elif line.startswith("  REG:"):  # CONSTANT[0] are the parameters, other banks the file's
                pairs = dict(item.split(":") for item in line.split())
                resources[of] = " ".join(f"{key}:{value}" for key, value in pairs.items()
                                         if not key.startswith("CONSTANT") or key == "CONSTANT[0]")
            elif match := re.match(r"^\s*code for (sm_\w+)", line):
                arch = match[1]
            elif name and line.strip() == "." * 10:
                found.append(((arch, name), resources.get(name, ""), digest.hexdigest(), count))
                name = None
            elif line.startswith("Resource usage:"):
                resources = {}
        said = process.stderr.read().strip()
        if process.wait() and "does not contain device code" not in said:
            sys.exit(f"kernels.py: {path}: {said}")
    return found


def files_of(folder):
    for root, _, files in os.walk(folder):
        yield from (os.path.join(root, file) for file in files if file.endswith((".o", ".cubin")))


def plain_names(names):
    """What each mangled name is in the source."""
    names = sorted(names)
    if not names:
        return {}
    text = "\n".join(LOCAL.sub("", name) for name in names)
    plain = subprocess.run(["c++filt"], input=text, capture_output=True, text=True, check=True).stdout.split("\n")
    return {name: INTERNAL.sub("", said) for name, said in zip(names, plain)}


def kernels(folder):
    """The kernels of all files of a folder: sets of (resources, code, instructions) by architecture and name."""
    with concurrent.futures.ProcessPoolExecutor(int(os.environ.get("JOBS", os.cpu_count() or 2))) as pool:
        files = sorted(files_of(folder), key=os.path.getsize, reverse=True)
        found = [kernel for some in pool.map(kernels_of, files) for kernel in some]
    plain = plain_names({name for (_, name), *_ in found})
    result = collections.defaultdict(set)
    for (arch, name), *what in found:
        result[arch, plain[name]].add(tuple(what))
    return result


def reserved(use, by=1024):
    """The resources with the bytes that a block of sm_90 reserves, which all kernels of a file have where one has dynamic memory."""
    return re.sub(r"SHARED:(\d+)", lambda match: f"SHARED:{int(match[1]) + by}", use)


def difference(old, new):
    """How the codes of a kernel differ, in words."""
    if len(old) != 1 or len(new) != 1:
        return f"{len(old)} and {len(new)} codes, {len(old & new)} of them the same"
    (use, *code), (new_use, *_) = *old, *new
    count, new_count = code[-1], next(iter(new))[-1]
    if new in ({(reserved(use), *code)}, {(reserved(use, -1024), *code)}):
        return RESERVE
    parts = [f"{one} is {other}" for one, other in zip(use.split(), new_use.split()) if one != other]
    parts += [f"{count} instructions are {new_count}"] if count != new_count else []
    return ", ".join(parts) or f"other code, {count} instructions"


def main(before, after):
    old, new = kernels(before), kernels(after)
    if not old:
        sys.exit(f"kernels.py: {before}: no kernels")
    gone, come = set(old) - set(new), set(new) - set(old)
    changed = {name for name in old if name in new and old[name] != new[name]}
    says = {name: difference(old[name], new[name]) for name in changed}
    for word, names in (("gone", gone), ("new", come), ("changed", changed)):
        for arch, name in sorted(names):
            print(f"{word}: {arch} {name}" + (f": {says[arch, name]}" if word == "changed" else ""))
    same = len(old) - len(gone) - len(changed)
    reserve = list(says.values()).count(RESERVE)
    print(f"{same} of {len(old)} kernels are the same; {len(changed)} changed{f' ({reserve} of them {RESERVE})' if reserve else ''}, "
          f"{len(gone)} gone, {len(come)} new")
    return 0 if same == len(old) and not come else 1


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
