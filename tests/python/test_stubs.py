"""The types that editors and checkers read, against the functions themselves. Prints TAP."""

import ast
import inspect
import os
import subprocess
import sys
import tempfile
import unittest

import gpufilter as gf
from support import main, optional

STUB = os.path.join(os.path.dirname(gf.__file__), "__init__.pyi")
#: What every filter takes besides its own parameters.
COMMON = {"region", "feather", "variant"}
USES = '''
import io
import pathlib
import gpufilter as gf

picture: gf.Image = gf.open("a.png")
data: bytes = gf.encode(picture, "jpeg", quality=80, subsampling="444")
files: list[bytes] = gf.encode([picture, picture], "webp", workers=2)
views: list[memoryview] = gf.encode([picture, picture], "jpeg", views=True)
one: gf.Image = gf.decode(data, "blur=2", device="cuda:1", stripped=["gps"])
many: list[gf.Image] = gf.decode([data], max_pixels=10**8)
small: gf.Image = gf.resize(gf.blur(picture, 3, border="wrap", region="1 1 5 5"), w="50%", device="cpu")
gf.encode(gf.decode(io.BytesIO(data)), "png", file=io.BytesIO())
length: int = len(gf.Pipeline("blur").run_bytes(open("a.png", "rb"), "png"))
opened: gf.Image = gf.open(b"a.png", "blur", device="cpu")
opened.save(pathlib.Path("a.jpg"), quality=80, strip="gps", subsampling=444)
size: tuple[int, int] = gf.overlay(opened, picture).size
numbers = gf.decode([data], dtype="float32", layout="NCHW", mean=(0.5, 0.5, 0.5), std=0.2)
gf.Pipeline("blur", threads=2).run_file("a.png", "b.png")
done: int = gf.batch(["a.png"], "out/", "blur", print, workers=2, quality=80)["done"]
'''
ARRAYS = '''
import numpy
import gpufilter as gf

array = numpy.zeros((4, 4, 3), numpy.uint8)
result: numpy.ndarray = gf.blur(gf.run("blur", array / 255, value_range=(0, 1)), numpy.float32(2), region=array[..., 0])
gf.pad(gf.convolve(gf.lut(gf.overlay(array, array), array[0]), array[0] / 9), numpy.int64(9), 9, colour=array[0, 0])
gf.decode([array[0, 0]], dtype=numpy.float32, mean=array[0, 0], std=(1, 2, 3), scale=255)
gf.save(gf.decode(array[0, 0]), "a.png")
gf.compare(array, "a.png", measures=["psnr"])
'''
MISTAKES = ("gf.blur(picture, border='round')", "gf.blur(picture, radius=2)", "gf.run('blur', picture, qualty=3)",
            "gf.encode(picture, 'tga')", "gf.encode(picture, subsampling='411')", "gf.Pipeline('blur', threads='2')",
            "gf.decode(data, dtype='float32', layout='CHWN')", "text: str = gf.encode(picture)",
            "gf.open(7)", "gf.encode([picture], file=io.BytesIO()).index(0)")


def parameters_of(definition):
    """Returns [(name, whether by position, default)] of an ast.FunctionDef, without self and **options."""
    arguments = definition.args
    positional = arguments.posonlyargs + arguments.args
    defaults = [None] * (len(positional) - len(arguments.defaults)) + arguments.defaults
    found = [(argument.arg, True, default) for argument, default in zip(positional, defaults)]
    found += [(argument.arg, False, default) for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults)]
    return [(name, positional, default and ast.unparse(default)) for name, positional, default in found if name != "self"]


class Stubs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(STUB, encoding="utf-8") as file:
            cls.tree = ast.parse(file.read())

    def compare(self, name, function, definitions):
        """Every overload has the function's parameters, and one of them each of its defaults."""
        parameters = [parameter for parameter in inspect.signature(function).parameters.values()
                      if parameter.kind is not parameter.VAR_KEYWORD and parameter.name != "self"]
        self.assertTrue(definitions, f"{name} has no types")
        for definition in definitions:
            found = [each for each in parameters_of(definition) if each[0] not in COMMON or name not in gf.filters]
            self.assertEqual([each[:2] for each in found],
                             [(parameter.name, parameter.kind is not parameter.KEYWORD_ONLY) for parameter in parameters], name)
        for at, parameter in enumerate(parameters):
            default = None if parameter.default is parameter.empty else repr(parameter.default)
            given = [[each for each in parameters_of(definition) if each[0] == parameter.name][0][2] for definition in definitions]
            self.assertIn(default, given, f"{name}: {parameter.name}")

    def functions(self, body):
        found = {}
        for node in body:
            if isinstance(node, ast.FunctionDef):
                found.setdefault(node.name, []).append(node)
        return found

    def test_every_function_and_class(self):
        functions = self.functions(self.tree.body)
        classes = {node.name: node for node in self.tree.body if isinstance(node, ast.ClassDef)}
        public = {name: value for name, value in vars(gf).items() if not name.startswith("_") and callable(value)}
        self.assertGreater(len(public), 70)
        for name, value in public.items():
            if not inspect.isclass(value):
                self.compare(name, value, functions.pop(name, None))
                continue
            self.assertEqual({ast.unparse(base) for base in classes[name].bases} or {"object"}, {
                base.__name__ for base in value.__bases__}, name)
            methods = self.functions(classes[name].body)
            for method, definitions in methods.items():
                function = vars(value)[method]
                self.compare(f"{name}.{method}", function.fget if isinstance(function, property) else function, definitions)
            lacking = {method for method in vars(value) if not method.startswith("_")} - methods.keys()
            self.assertEqual(lacking, set(), name)
        self.assertEqual(list(functions), [], "there are no such functions")

    def test_every_option(self):
        known = {node.target.id for part in self.tree.body if getattr(part, "name", "") in ("_Coding", "_Options")
                 for node in part.body if isinstance(node, ast.AnnAssign)}
        members = {name for name, _ in gf._abi.gf_options._fields_}
        self.assertGreater(len(known), 40)
        self.assertEqual(known - members, {"keep"}, "there are no such options")
        for name in members - known:
            with self.assertRaisesRegex(gf.UsageError, "there is no option"):
                gf.Pipeline("blur", **{name: 1})

    @unittest.skipUnless(optional("mypy"), "there is no mypy")
    def test_mypy(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/uses.py", "w", encoding="utf-8") as file:
                file.write(USES + "".join(f"{line}\n" for line in MISTAKES) + (ARRAYS if optional("numpy") else ""))
            said = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", folder, f"{folder}/uses.py", STUB],
                                  stdout=subprocess.PIPE, env={**os.environ, "MYPYPATH": os.path.dirname(os.path.dirname(STUB))},
                                  check=False).stdout.decode()
        first = USES.count("\n") + 1
        wrong = {line.split(": error")[0].rpartition("/")[2] for line in said.splitlines() if ": error" in line}
        self.assertEqual(wrong, {f"uses.py:{first + at}" for at in range(len(MISTAKES))}, said)

    @unittest.skipUnless(optional("mypy"), "there is no mypy")
    def test_stubtest(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-m", "mypy.stubtest", "gpufilter", "--concise"], cwd=folder,
                                  stdout=subprocess.PIPE, env={**os.environ, **dict.fromkeys(("MYPYPATH", "PYTHONPATH"), os.path.dirname(os.path.dirname(STUB)))}, check=False)
        self.assertEqual((done.stdout.decode().splitlines(), done.returncode), ([], 0))


if __name__ == "__main__":
    main(Stubs)
