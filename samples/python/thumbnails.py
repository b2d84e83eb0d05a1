"""Thumbnails of a folder's pictures over HTTP: thumbnails.py FOLDER [PORT], then http://127.0.0.1:8000/harbour.png?size=200

What strangers have put into the folder is decoded in cells, processes without files and network, where the machine has them.
"""

import functools
import http.server
import pathlib
import sys
import urllib.parse

import gpufilter as gf

FOLDER = pathlib.Path(sys.argv[1]).resolve()
STATUS = {gf.InputError: 422, gf.UsageError: 400, gf.TryAgainError: 503, OSError: 404, ValueError: 400}


@functools.lru_cache(maxsize=32)
def pipeline(size):
    options = {"sandbox": "all", "max_pixels": 10**8, "timeout_s": 10, "serial": True, "strip": True, "quality": 80}
    try:
        return gf.Pipeline(f"thumbnail={size}", **options)
    except gf.UnavailableError:  # no cells here
        return gf.Pipeline(f"thumbnail={size}", **options | {"sandbox": "off"})


class Thumbnails(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        try:
            asked = urllib.parse.urlsplit(self.path)
            path = (FOLDER / urllib.parse.unquote(asked.path).lstrip("/")).resolve()
            if FOLDER not in path.parents:
                raise FileNotFoundError(asked.path)
            size = int(dict(urllib.parse.parse_qsl(asked.query)).get("size", 256))
            status, kind, body = 200, "image/jpeg", pipeline(size).run_bytes(path.read_bytes(), "jpeg")
        except Exception as failure:
            status = next((code for known, code in STATUS.items() if isinstance(failure, known)), 500)
            words = getattr(failure, "strerror", None) or failure  # without the path, which is not for strangers
            kind, body = "text/plain; charset=utf-8", f"{words}\n".encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2]) if len(sys.argv) > 2 else 8000), Thumbnails)
    print(f"http://127.0.0.1:{server.server_port}/", flush=True)
    server.serve_forever()
