"""The programs in samples/python: the thumbnail service as its clients see it, the loader's tensors, and the notebook. Prints TAP."""

import ast
import contextlib
import http.client
import io
import json
import os
import re
import resource
import socket
import subprocess
import sys
import tempfile
import unittest

import gpufilter as gf
from support import main, optional, ppm

SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "samples", "python")
torch = optional("torch")


class Samples(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = os.path.join(scratch.name, "pictures")
        os.mkdir(self.folder)
        for name, data in (("wide.ppm", ppm(100, 300)), ("wide.jpg", gf.Pipeline().run_bytes(ppm(300, 400), "jpeg")),
                           ("gray.png", gf.encode(gf.decode(ppm(300, 400), "grayscale"), "png")), ("notes.txt", b"no picture"),
                           ("../secret.ppm", ppm())):
            with open(os.path.join(self.folder, name), "wb") as file:
                file.write(data)

    def test_thumbnails(self):
        try:
            gf.Pipeline(sandbox="all").run_bytes(gf.Pipeline().run_bytes(ppm(), "jpeg"), "png")
        except gf.UnavailableError as error:
            self.skipTest(str(error))
        command = [sys.executable, "-W", "error", os.path.join(SAMPLES, "thumbnails.py"), self.folder, "0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
            try:
                address = re.search(rb"//([^/]*)/", server.stdout.readline()).group(1).decode()

                def get(path):
                    connection = http.client.HTTPConnection(address, timeout=60)
                    connection.request("GET", path)
                    answer = connection.getresponse()
                    return answer.status, answer.getheader("Content-Type"), answer.read()

                for path, shape in (("/wide.ppm?size=60", (20, 60, 3)), ("/wide.jpg", (192, 256, 3)), ("/gray.png?size=40", (30, 40))):
                    status, kind, body = get(path)
                    self.assertEqual((status, kind, gf.decode(body).shape), (200, "image/jpeg", shape))
                for path, expected, words in (
                        ("/none.png", 404, b"No such file"), ("/wide.jpg/more", 404, b"Not a directory"), ("/" + "x" * 300, 404, b""), ("/", 404, b""), ("/../secret.ppm", 404, b""), ("/%2e%2e/secret.ppm", 404, b""),
                        ("/notes.txt", 422, b"input: "), ("/wide.jpg?size=0", 400, b"thumbnail"), ("/wide.jpg?size=big", 400, b"big")):
                    status, kind, body = get(path)
                    self.assertEqual((path, status, kind.partition(";")[0]), (path, expected, "text/plain"))
                    self.assertIn(words, body)
                    self.assertNotIn(os.path.basename(self.folder).encode(), body)
                # Nothing holds a thread for long: no file that has no end, no connection that says nothing.
                os.mkfifo(os.path.join(self.folder, "pipe.png"))
                with open(os.path.join(self.folder, "hole.png"), "wb") as hole:
                    hole.truncate(1 << 32)
                self.assertEqual([get(path)[0] for path in ("/pipe.png", "/hole.png")], [404, 400])
                host, port = address.split(":")
                with socket.create_connection((host, int(port)), timeout=60) as silent:
                    # Without a descriptor for a cell it is that picture's failure, which names no file of the server.
                    opened = len(os.listdir(f"/proc/{server.pid}/fd"))
                    resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (opened + 2, 64))
                    self.assertEqual(get("/wide.jpg?size=99")[::2], (503, b"Service Unavailable\n"))
                    resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (64, 64))
                    self.assertEqual(get("/wide.jpg?size=99")[0], 200)
                    self.assertEqual(silent.recv(1), b"")
            finally:
                server.terminate()

    @unittest.skipUnless(optional("numpy"), "there is no numpy")
    def test_notebook(self):
        """Runs cell by cell, as Jupyter does, in its folder; what a cell shows is a picture where it is an Image."""
        with open(os.path.join(SAMPLES, "tour.ipynb"), encoding="utf-8") as file:
            notebook = json.load(file)
        self.assertEqual((notebook["nbformat"], len({cell["id"] for cell in notebook["cells"]})), (4, len(notebook["cells"])))
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(SAMPLES)
        names, shown, said = {"__name__": "__main__"}, [], io.StringIO()
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                self.assertEqual((cell["outputs"], cell["execution_count"]), ([], None))
                *lines, last = ast.parse("".join(cell["source"])).body
                with contextlib.redirect_stdout(said):
                    exec(compile(ast.Module(lines, []), cell["id"], "exec"), names)
                    ends = isinstance(last, ast.Expr)
                    value = eval(compile(ast.Expression(last.value), cell["id"], "eval"), names) if ends else exec(compile(ast.Module([last], []), cell["id"], "exec"), names)
                shown += [gf.decode(each._repr_png_()).size for each in (value if isinstance(value, tuple) else [value]) if isinstance(each, gf.Image)]
        self.assertEqual(shown, 3 * [(450, 300)] + [(450, 303)], said.getvalue())
        for words in ("(900, 600) RGB uint8", "ndarray (300, 450, 3)", "(3, 224, 224) float16", "True JPEG 900", "4 (120, 80)"):
            self.assertIn(words, said.getvalue())

    @unittest.skipUnless(torch, "there is no torch")
    def test_loader(self):
        sys.path.insert(0, SAMPLES)
        import loader
        files = loader.files_of(self.folder)
        self.assertEqual(len(files), 2)
        for workers in (0, 2):
            loaded = torch.utils.data.DataLoader(loader.Pictures(files * 4), batch_size=8, num_workers=workers)
            batch, = loaded
            self.assertEqual((batch.shape, batch.dtype), ((8, 3, 224, 224), torch.float32))
            self.assertTrue(-3 < batch.min() < batch.max() < 3)
        plain = loader.Pictures(files, lambda: "resize=8:6")[1]
        pixels = torch.from_dlpack(gf.open(files[1], "resize=8:6")).permute(2, 0, 1).float() / 255
        mean, std = (torch.tensor(values).reshape(3, 1, 1) for values in (loader.MEAN, loader.STD))
        self.assertTrue(torch.equal(plain, (pixels - mean) / std))

    @unittest.skipUnless(torch and optional("torchvision") and optional("PIL.Image"), "there is no torch with torchvision")
    def test_loader_beside_torchvision(self):
        said = subprocess.run([sys.executable, os.path.join(SAMPLES, "loader.py"), self.folder, "8"], stdout=subprocess.PIPE,
                              check=True).stdout.decode()
        self.assertRegex(said, r"^gpufilter: \d+\.\d pictures in a second\ntorchvision: \d+\.\d pictures in a second\n"
                         r"(gpufilter on a GPU: \d+\.\d pictures in a second\n)?$")

    @unittest.skipUnless(torch and torch.cuda.is_available(), "there is no torch with a GPU")
    def test_loader_on_a_device(self):
        sys.path.insert(0, SAMPLES)
        import loader
        files = loader.files_of(self.folder) * 40
        batches = list(loader.OnDevice(files, 32, lambda: "resize=8:6"))
        self.assertEqual([batch.shape for batch in batches], [(32, 3, 6, 8), (32, 3, 6, 8), (16, 3, 6, 8)])
        expected = loader.Pictures(files, lambda: "resize=8:6")
        either = torch.stack([expected[0], expected[1]]).cuda()
        for batch in batches:
            for picture in batch:
                self.assertTrue(any(torch.equal(picture, one) for one in either))


if __name__ == "__main__":
    main(Samples)
