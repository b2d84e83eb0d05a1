"""CUDA graphs, and arrays of several devices: the right bits or an exception. Prints TAP."""

import threading
import unittest

import gpufilter as gf
from gpufilter import _batches
from support import main, optional, ramp

torch = optional("torch")
try:
    devices = min(torch.cuda.device_count(), 2) if torch and gf.Pipeline(device="cuda") else 0
except gf.Error:
    devices = 0
CHAINS = ("blur=2", "blur=2,equalize", "resize=50%,unsharp", "rotate=90")


class Devices(unittest.TestCase):
    def setUp(self):
        if not devices:
            self.skipTest("there is no torch with a GPU that the library has")
        whole = torch.frombuffer(bytearray(ramp(120, 160)), dtype=torch.uint8).reshape(120, 160, 3)
        self.pixels = [whole + 7 * i for i in range(4)]
        self.expected = {chain: [gf.run(chain, each, device="cpu") for each in self.pixels] for chain in CHAINS}
        self.tensors = [[each.to(f"cuda:{device}") for each in self.pixels] for device in range(devices)]

    def check(self, results, chain, places=range(4), device=None):
        self.assertEqual(len(results), len(places))
        for result, place in zip(results, places):
            self.assertTrue(torch.equal(result.cpu(), self.expected[chain][place]), chain)
            self.assertIn(device, (None, result.device.index))

    def test_captured_streams(self):
        for chain, first in (("blur=2", True), ("rotate=90", False)):
            pipeline, tensor, said = gf.Pipeline(chain, device="cuda:0"), self.tensors[0][0], []
            if first:
                pipeline.run(tensor)
            number, graph = torch.zeros(1, device="cuda"), torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                number += 1
                for call in (pipeline.run, lambda each: gf.encode([each], "jpeg")):
                    try:
                        call(tensor)
                    except gf.UsageError as refused:
                        said.append(str(refused))
                number += 1
            graph.replay()
            graph.replay()
            self.assertEqual(float(number), 4)  # nothing has broken the capture off
            self.assertEqual(["being captured" in text for text in said], [True, True])
            self.check([pipeline.run(tensor)], chain, [0])

    def test_numbers_in_a_graph(self):
        pipeline, form = gf.Pipeline("", device="cuda:0"), _batches.form_of("float32", "NCHW", None, 0.5, 0.25, None)
        batch, graph = torch.stack(self.tensors[0]), torch.cuda.CUDAGraph()
        _batches.floats(pipeline, list(batch), form)
        torch.cuda.synchronize()
        with torch.cuda.graph(graph):
            numbers = _batches.floats(pipeline, list(batch), form)
        batch.copy_(255 - batch)
        graph.replay()
        self.assertTrue(torch.equal(numbers, _batches.floats(pipeline, list(batch), form)))

    def check_floats(self, result, given, **options):
        self.assertTrue(result.is_cuda)
        expected = gf.run("blur=2", given, device="cpu", **options)
        self.assertEqual((result.dtype, result.shape), (expected.dtype, expected.shape))
        self.assertTrue(torch.equal(result.cpu(), expected), (given.dtype, given.shape, options))

    def test_floats(self):
        """They are filtered as the host's, and come back as they were."""
        for kind in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
            parts = [(each.double() / 255).to(kind) for each in self.pixels]
            for given in (parts[0], parts[0][:, :77], parts[0][::2, 1:60], parts[0][:, :, 0], parts[0][:, :, :1], parts[0].permute(1, 0, 2),
                          parts[0][:, :, :2], torch.cat((parts[0], parts[1][..., :1]), 2)):
                there = given.cuda() if given.is_contiguous() else parts[0].cuda().as_strided(given.shape, given.stride(), given.storage_offset())
                for _ in range(2):
                    self.check_floats(gf.run("blur=2", there), given)
            wide = parts[1] * 3 - 1.25
            self.check_floats(gf.run("blur=2", wide.cuda(), value_range=(-1.25, 1.75)), wide, value_range=(-1.25, 1.75))
            self.check_floats(gf.blur(parts[1].cuda(), 2), parts[1])
            self.check_floats(gf.run("blur=2", torch.stack(parts).cuda()), torch.stack(parts))
            for results in (gf.run("blur=2", [each.cuda() for each in parts]), gf.run("blur=2", (*(each.cuda() for each in parts), self.tensors[0][0]))):
                for result, given in zip(results, parts):
                    self.check_floats(result, given)
            form = {"dtype": "bfloat16", "layout": "NCHW", "mean": (0.485, 0.456, 0.406), "std": 0.25}
            self.assertTrue(torch.equal(gf.run("blur=2", parts[0].cuda(), **form).cpu(), gf.run("blur=2", parts[0], device="cpu", **form)))
            whole = gf.run("blur=2", [each.cuda() for each in parts], **form).cpu()
            self.assertTrue(torch.equal(whole, torch.stack([gf.run("blur=2", each, device="cpu", **form) for each in parts])))
            files = [gf.encode(each, "png", device="cpu") for each in parts]
            self.assertEqual(gf.encode([each.cuda() for each in parts], "png"), files)
            self.assertEqual(gf.encode([self.tensors[0][0], parts[1].cuda()], "png")[1], files[1])
            self.assertEqual(gf.encode(parts[2].cuda() * 2 - 1, "png", value_range=(-1, 1)), gf.encode(parts[2] * 2 - 1, "png", value_range=(-1, 1), device="cpu"))
        with torch.cuda.stream(torch.cuda.Stream()):
            large = parts[0].float().cuda().repeat(40, 40, 1)
            for _ in range(20):
                large = large * 0.875  # still queued when the library is called
            result = gf.run("blur=2", large)
        torch.cuda.synchronize()
        self.check_floats(result, large.cpu())

    def test_floats_that_stay_floats(self):
        """They are filtered by kernels of floats, beyond all limits, without a wait, and come back as they were."""
        stays = {"value_range": "float"}
        for kind in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
            parts = [(each.double() / 60 - 1).to(kind) for each in self.pixels]
            for given in (parts[0], parts[0][:, :77], parts[0][::2, 1:60], parts[0][:, :, 0], parts[0][:, :, :1], parts[0].permute(1, 0, 2),
                          parts[0][:, :, :2], torch.cat((parts[0], parts[1][..., :1]), 2)):
                there = given.cuda() if given.is_contiguous() else parts[0].cuda().as_strided(given.shape, given.stride(), given.storage_offset())
                for _ in range(2):
                    self.check_floats(gf.run("blur=2", there, **stays), given, **stays)
            self.check_floats(gf.blur(parts[1].cuda(), 2, **stays), parts[1], **stays)
            self.check_floats(gf.run("blur=2", torch.stack(parts).cuda(), **stays), torch.stack(parts), **stays)
            mixed = [*parts, parts[0][::2].contiguous(), parts[1].half(), parts[2].to(torch.bfloat16)]
            for given in (parts, [each[:40, :30].contiguous() for each in parts], mixed):
                for result, each in zip(gf.run("blur=2", [each.cuda() for each in given], **stays), given):
                    self.check_floats(result, each, **stays)
            form = {"dtype": "bfloat16", "layout": "NCHW", "mean": (0.485, 0.456, 0.406), "std": 0.25, **stays}
            self.assertTrue(torch.equal(gf.run("blur=2", parts[0].cuda(), **form).cpu(), gf.run("blur=2", parts[0], device="cpu", **form)))
            for layout in ("NCHW", "NHWC"):
                for name in ("float16", "bfloat16", "float32"):
                    numbers = gf.run("", [each.cuda() for each in parts], dtype=name, layout=layout, **stays).cpu()
                    whole = torch.stack([each.float().to(getattr(torch, name)) for each in parts])
                    self.assertTrue(torch.equal(numbers, whole.permute(0, 3, 1, 2) if layout == "NCHW" else whole), (kind, name, layout))
            self.assertEqual(gf.encode([each.cuda() for each in parts], "npy", **stays), [gf.encode(each, "npy", device="cpu", **stays) for each in parts])
        for chain, given, kind in (("float", self.pixels[0], torch.float32), ("float=16,blur", self.pixels[0], torch.float16)):
            result = gf.run(chain, given.cuda())
            self.assertTrue(result.dtype == kind and torch.equal(result.cpu(), gf.run(chain, given, device="cpu")))
        self.assertEqual(gf.run("integer", parts[0].float().cuda(), **stays).dtype, torch.uint16)
        image = gf.decode(gf.encode(parts[0].half(), "npy", device="cpu", **stays), device="cuda:0")
        self.assertTrue(torch.equal(torch.from_dlpack(image).cpu(), parts[0].half()))
        self.assertTrue(torch.equal(torch.from_dlpack(gf.run("invert", image)).cpu(), gf.run("invert", parts[0].half(), device="cpu", **stays)))
        with torch.cuda.stream(torch.cuda.Stream()):
            large = parts[0].float().cuda().repeat(40, 40, 1)
            for _ in range(20):
                large = large * 0.875  # still queued when the library is called
            result = gf.run("blur=2", large, **stays)
        torch.cuda.synchronize()
        self.check_floats(result, large.cpu(), **stays)

    def test_wrong_floats_that_stay(self):
        byte, part = self.tensors[0][0], (self.tensors[0][0] / 255).half()
        gf.run("blur", [part, part], value_range="float", device="cuda:0")
        for wrong, value_range, words in ((byte, "float", "for arrays of floats"), ([part, byte], "float", "for arrays of floats"), ([byte, part], None, "begin with floats"),
                                          (part.float().requires_grad_(), "float", "detach"), (part.permute(2, 0, 1), "float", "channels to the end"),
                                          (part[:0], "float", "no pixels"), (part.bfloat16().reshape(-1), "float", "shape"), (part, "floats", "two numbers")):
            with self.assertRaisesRegex(gf.UsageError, words):
                gf.run("blur", wrong, value_range=value_range, device="cuda:0")
        for kind in (torch.float16, torch.bfloat16, torch.float32):
            with self.assertRaisesRegex(gf.UnavailableError, "equalize: floats are filtered on the CPU only"):
                gf.run("blur,equalize", part.to(kind), value_range="float")

    def test_wrong_floats(self):
        part = (self.tensors[0][0] / 255).half()
        nan, text = part.clone(), r"far outside the range 0..1: value_range=\(0, 255\)"
        nan[3, 5, 1] = float("nan")
        for wrong, options, words in ((self.tensors[0][0].float(), {}, text), (nan, {}, "nan at 5,3 is " + text), (self.tensors[0][0], {"value_range": (0, 1)}, "for arrays of floats"),
                                      (part, {"value_range": (1, 1)}, "range 1..1"), (part, {"value_range": 3}, "two numbers"), (part.float().requires_grad_(), {}, "detach"),
                                      (part.reshape(-1), {}, "shape"), (part.permute(2, 0, 1), {}, "channels to the end"), (part[:0], {}, "no pixels"),
                                      (torch.stack([part])[:0], {}, "no pixels"), (part.to(torch.complex64), {}, ""), ([self.tensors[0][0], part], {}, "begin with floats")):
            with self.assertRaisesRegex(gf.UsageError, words):
                gf.run("blur", wrong, **options)
        pipeline, graph, said = gf.Pipeline("blur=2", device="cuda:0"), torch.cuda.CUDAGraph(), []
        with torch.cuda.graph(graph):
            held = part + 1
            try:
                pipeline.run(part)
            except gf.UsageError as refused:
                said.append(str(refused))
        self.assertIn("being captured", said[0])
        self.check_floats(pipeline.run(part), part.cpu())
        del held

    @unittest.skipUnless(devices > 1, "there are no two GPUs")
    def test_arrays_of_either_device(self):
        for current in (0, 1):
            with torch.cuda.device(current):
                for device in (1, 0):
                    stream = torch.cuda.Stream(device)
                    for chain in CHAINS:
                        self.check([gf.run(chain, each) for each in self.tensors[device]], chain, device=device)
                        self.check(gf.run(chain, self.tensors[device]), chain, device=device)
                        with torch.cuda.stream(stream):
                            results = gf.run(chain, torch.stack(self.tensors[device]))
                        stream.synchronize()
                        self.check(list(results), chain, device=device)
                    self.assertEqual(torch.cuda.current_device(), current)

    @unittest.skipUnless(devices > 1, "there are no two GPUs")
    def test_arrays_of_another_device(self):
        zero, one = self.tensors
        files = [gf.encode(each, "png", device="cpu") for each in self.pixels]
        there = [gf.decode(files, device=f"cuda:{device}") for device in (0, 1)]
        for device in (0, 1):
            for chain in CHAINS:
                self.check([torch.from_dlpack(each) for each in gf.run(chain, there[device])], chain, device=device)
        for call in (lambda: gf.Pipeline("blur", device="cuda:0").run(one[0]), lambda: gf.Pipeline("blur", device="cuda:1").run(zero[0]),
                     lambda: gf.run("blur", [zero[0], one[1]]), lambda: gf.run("blur", [one[0], zero[1]]),
                     lambda: gf.Pipeline("blur", device="cuda:0").run(there[1][0]), lambda: gf.run("blur", [there[1][0], there[0][1]]),
                     lambda: gf.encode([there[0][0], there[1][1]], "png")):
            with self.assertRaisesRegex(gf.UsageError, "is not in the memory of cuda:[01]"):
                call()

    @unittest.skipUnless(devices > 1, "there are no two GPUs")
    def test_threads_on_both(self):
        wrong = []

        def work(device):
            for turn in range(40):
                chain, place = CHAINS[turn % 4], turn // 4 % 4
                if not torch.equal(gf.run(chain, self.tensors[device][place]).cpu(), self.expected[chain][place]):
                    wrong.append(chain)

        threads = [threading.Thread(target=work, args=(i % 2,)) for i in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    main(Devices)
