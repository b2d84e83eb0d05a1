"""Thumbnails of a folder's pictures over HTTP: thumbnails.py FOLDER [PORT], then http://127.0.0.1:8000/harbour.png?size=200

What strangers have put into the folder is decoded in cells, processes without files and network; where the machine has none, the
service does not start.
"""

import errno
import functools
import http
import http.server
import os
import pathlib
import stat
import sys
import urllib.parse

import gpufilter as gf

FOLDER = pathlib.Path(sys.argv[1]).resolve()
FILE_BYTES_MOST = 64 << 20
SCARCE = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN}
STATUS = {gf.InputError: 422, gf.UsageError: 400, gf.TryAgainError: 503, OSError: 404, ValueError: 400}


@functools.lru_cache(maxsize=32)
def pipeline(size):
    return gf.Pipeline(f"thumbnail={size}", sandbox="all", max_pixels=10**8, timeout_s=10, serial=True, strip=True, quality=80)


def read(path):
    """Returns the bytes of a regular file; nothing else is waited for."""
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise FileNotFoundError(None, "No such picture")
        data = file.read(FILE_BYTES_MOST + 1)
    if len(data) > FILE_BYTES_MOST:
        raise ValueError(f"a file may have {FILE_BYTES_MOST} bytes")
    return data


def status_of(failure):
    if isinstance(failure, OSError) and failure.errno in SCARCE:
        return 503
    return next((code for known, code in STATUS.items() if isinstance(failure, known)), 500)


def words_for_strangers(failure, status):
    """Returns what a failure says of the request or the picture. The words of all others may name the server's own files."""
    if status == 404 and failure.strerror:
        return failure.strerror
    return str(failure) if status in (400, 422) else http.HTTPStatus(status).phrase


class Thumbnails(http.server.BaseHTTPRequestHandler):
    timeout = 10  # seconds of silence

    def do_GET(self):
        try:
            asked = urllib.parse.urlsplit(self.path)
            path = (FOLDER / urllib.parse.unquote(asked.path).lstrip("/")).resolve()
            if FOLDER not in path.parents:
                raise FileNotFoundError(None, "No such picture")
            size = int(dict(urllib.parse.parse_qsl(asked.query)).get("size", 256))
            status, kind, body = 200, "image/jpeg", pipeline(size).run_bytes(read(path), "jpeg")
        except Exception as failure:
            status = status_of(failure)
            kind, body = "text/plain; charset=utf-8", f"{words_for_strangers(failure, status)}\n".encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    pipeline(256)  # fails where there are no cells
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2]) if len(sys.argv) > 2 else 8000), Thumbnails)
    print(f"http://127.0.0.1:{server.server_port}/", flush=True)
    server.serve_forever()
