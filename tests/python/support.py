"""What the tests of the Python module share: a picture, and results as TAP."""

import importlib
import subprocess
import unittest

import gpufilter as gf


def optional(name):
    """Returns the module of that name, or None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def ramp(height=40, width=60, channels=3):
    """Returns the samples of a picture that is not constant."""
    return bytes((x * 3 + y * 5 + c * 40 + x * y) % 256 for y in range(height) for x in range(width)
                 for c in range(channels))


def ppm(height=40, width=60):
    return b"P6\n%d %d\n255\n" % (width, height) + ramp(height, width)


def by_program(chain, data, *options):
    return subprocess.run([gf.program, "-q", "--device=cpu", "-i", "-", "-o", "-", *options, chain], input=data,
                          stdout=subprocess.PIPE, check=True).stdout


class Tap(unittest.TestResult):
    """Prints each test's result as a line of TAP."""

    def tell(self, test, word, text=""):
        print(f"{word} {self.testsRun} - python: {test.id().split('.')[-1]}{text}", flush=True)

    def addSuccess(self, test):
        self.tell(test, "ok")

    def addSkip(self, test, reason):
        self.tell(test, "ok", f" # SKIP {reason}")

    def addFailure(self, test, error):
        print("".join(f"# {line}\n" for line in self._exc_info_to_string(error, test).splitlines()))
        self.tell(test, "not ok")

    addError = addFailure


def main(*cases):
    """Runs the tests of classes."""
    suite = unittest.TestSuite(map(unittest.defaultTestLoader.loadTestsFromTestCase, cases))
    number = suite.countTestCases()
    suite.run(Tap())
    print(f"1..{number}")
