"""Many files, by the program."""

import json
import os
import subprocess
import warnings

from ._library import error, PictureWarning, program

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
    command = [program, "--progress=json"] + ([f"--threads={workers}"] if workers else [])
    for name, value in options.items():
        if name in _ON:
            name, value = "no_" + name, not value
        if value is not False:
            command.append("--" + name.replace("_", "-") + ("" if value is True else f"={value}"))
    for name in [inputs] if isinstance(inputs, (str, bytes, os.PathLike)) else inputs:
        command += ["-i", os.fspath(name)]
    command += ["-o", os.fspath(output)] + (["--", chain] if chain else [])
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
    if process.returncode:
        raise error("\n".join(messages) or f"exit status {process.returncode}", _EXITS.get(process.returncode, "OUTPUT"))
    for message in messages:
        if message.startswith(_WARNING):
            warnings.warn(message[len(_WARNING):], PictureWarning, stacklevel=2)
    return last
