"""What the program does: many files, what pictures are, how alike two are."""

import json
import os
import subprocess
import tempfile

from ._library import error, program, text_of, warn, wrong_type

_EXITS = {2: "USAGE", 3: "UNAVAILABLE", 4: "INPUT"}
_ON = ("autorotate", "clobber", "fuse")  # options of the command line turn them off
_WARNING = "gpufilter: warning: "


def batch(inputs, output, chain="", progress=None, *, workers=None, **options):
    """Filters files, folders and archives by the program, on all processors and GPUs.

    inputs: a list of names, as -i takes them. output: a file, a folder, a template or an archive, as -o takes it.
    workers: the number of processors to use; by default all.
    progress: a function that gets a dict for each line of --progress=json; an exception in it ends the program.
    options: the options of the command line, as skip_existing=True, quality=80 or autorotate=False.
    Returns the last line of the progress as a dict. The exception after a failure has the program's messages.
    """
    if not isinstance(inputs, (str, bytes, os.PathLike)) and not hasattr(inputs, "__iter__"):
        raise wrong_type("inputs", "a name or a list of names", inputs)
    command = [program, "--progress=json"] + ([f"--threads={workers}"] if workers else [])
    for name, value in options.items():
        if name in _ON:
            name, value = "no_" + name, not value
        if value is not False:
            command.append("--" + name.replace("_", "-") + ("" if value is True else f"={value}"))
    for name in [inputs] if isinstance(inputs, (str, bytes, os.PathLike)) else inputs:
        command += ["-i", text_of(name, "inputs")]
    command += ["-o", text_of(output, "output")] + (["--", chain] if chain else [])
    last, messages = {}, []
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL) as process:
        try:
            for line in process.stderr:
                if line.startswith(b"{"):
                    last = json.loads(line)
                    if progress:
                        progress(last)
                else:
                    messages.append(line.decode(errors="replace").rstrip())
        except BaseException:
            process.terminate()  # it removes what is half-written
            process.stderr.close()
            raise
    _tell(process.returncode, messages)
    return last


def _tell(status, messages):
    """Raises what the program has failed with, and gives its warnings."""
    if status:
        raise error("\n".join(messages) or f"exit status {status}", _EXITS.get(status, "OUTPUT"))
    for message in messages:
        if message.startswith(_WARNING):
            warn(message[len(_WARNING):])


def _objects(*arguments, renamed=str):
    """Returns the objects of JSON that the program prints, one a line. Its messages pass through renamed()."""
    with tempfile.TemporaryFile() as said:
        with subprocess.Popen([program, *arguments], stdout=subprocess.PIPE, stderr=said, stdin=subprocess.DEVNULL) as process:
            try:
                lines = process.stdout.read().splitlines()
            except BaseException:
                process.kill()
                raise
        said.seek(0)
        _tell(process.returncode, renamed(said.read().decode(errors="replace")).splitlines())
    return [json.loads(line) for line in lines]


def info(path):
    """Returns what the program's --info says of a file, as a dict: format, width, height, channels, bits, orientation, camera, ...

    A list of dicts for a folder, or for a pattern that several files match.
    """
    name = text_of(path, "path")
    found = _objects("--info=json", os.path.join(b".", name))
    return found if len(found) != 1 or os.path.isdir(name) else found[0]


def compare(a, b, measures=None):
    """Returns how alike two pictures are, files or pictures in memory, as a dict: largest, mean, psnr, ssim, ms_ssim, equal.

    measures: those that are wanted in place of these, as ("ssimulacra2", "psnr") or "deltae2000,psnr-hvs-m".
    None stands for a PSNR of equal pictures, and for an SSIM of small ones.
    Of two folders or animations, as "film.gif[all]", a list: a dict for each pair, and one of pairs, means, worst, equal.
    """
    try:
        named = "" if measures is None else ":measures=" + (measures if isinstance(measures, str) else ",".join(measures))
    except TypeError:
        raise wrong_type("measures", "a name or a list of names", measures) from None
    from ._pipelines import encode
    with tempfile.TemporaryDirectory(prefix="gpufilter-") as folder:
        names, shown, pages = [os.path.join(folder, word) for word in "ab"], {}, ["", ""]  # names without a colon, which would end them
        for i, (name, value) in enumerate(zip(names, (a, b))):
            if isinstance(value, (str, bytes, os.PathLike)):
                path = os.fsdecode(text_of(value, "ab"[i]))
                if path.endswith("]") and not os.path.lexists(path):
                    path, bracket, inner = path.rpartition("[")
                    pages[i] = bracket + inner
                shown[name] = path
                os.symlink(os.path.abspath(path), name)
            else:
                with open(name, "wb") as file:
                    file.write(encode(value, "pam"))

        def renamed(text):
            for name in names:
                text = text.replace(name, shown.get(name, name[-1]))
            return text

        found = _objects(f"--compare={names[0]}{pages[0]}:json{named}", names[1] + pages[1], renamed=renamed)
        for each in found:
            if "file" in each:
                each["file"] = renamed(each["file"])
        return found if len(found) != 1 else found[0]
