"""What the rows' calls need of each peer: its modules, the pictures in its own form, and its results as arrays of bytes.

An adapter is made for a row and a picture. work() gives call(turn), which queues the work for one of two pictures, and
result() what the last call made, as rows, columns and channels of bytes, or of floats where the picture has them.
"""
import sys
import types

import numpy
import torch


class Adapter:
    module = ""

    def __init__(self, row, picture, shape):
        """picture: rows, columns and channels; the second picture is the same, mirrored. shape: of the result."""
        self.row, self.shape, self.made, self.torch, self.numpy = row, shape, {}, torch, numpy
        self.height, self.width = picture.shape[:2]
        self.pictures = [picture, numpy.ascontiguousarray(picture[:, ::-1])]

    def once(self, name, make):
        if name not in self.made:
            self.made[name] = make()
        return self.made[name]

    def levels(self, result):
        """Bytes, of an array whose full scale is 1, or of booleans or bytes."""
        if result.dtype == bool:
            return result.astype(numpy.uint8) * 255
        if result.dtype == numpy.uint8:
            return result
        return numpy.clip(numpy.rint(result * (255 * self.row.times.get(self.module, 1))), 0, 255).astype(numpy.uint8)


class CvCuda(Adapter):
    module = "cvcuda"

    def __init__(self, row, picture, shape):
        super().__init__(row, picture, shape)
        import cvcuda
        self.cv, self.Border, self.Interp = cvcuda, cvcuda.Border, cvcuda.Interp
        stream = self.kept_stream(cvcuda)
        self.on, self.white = {"stream": stream}, numpy.full(4, 255, numpy.float32)
        self.stream = torch.cuda.ExternalStream(stream.handle if isinstance(stream.handle, int) else stream.handle.value)
        self.arrays = {}
        self.source = [self.tensor(torch.from_numpy(p.reshape(p.shape[:2] + (-1,))).cuda()) for p in self.pictures]
        self.results = [self.empty() for _ in self.pictures]

    @staticmethod
    def kept_stream(cvcuda, kept=[]):
        kept or kept.append(cvcuda.Stream())
        return kept[0]

    def tensor(self, array):
        made = self.cv.as_tensor(array.unsqueeze(0), "NHWC")
        self.arrays[id(made)] = made, array
        return made

    def empty(self):
        kind = getattr(torch, self.pictures[0].dtype.name)
        return self.tensor(torch.full(self.shape[:2] + (self.shape[2:] or (1,)), 0xA5, dtype=kind, device="cuda"))

    def between(self, like, number=0):
        """A picture between two calls."""
        return self.once(("between", number), lambda: self.tensor(torch.empty_like(self.arrays[id(like)][1])))

    def batch(self, what, form):
        """A tensor, or an array of torch, as a batch of one image."""
        def make():
            made = self.cv.ImageBatchVarShape(1)
            made.pushback(self.cv.as_image(self.arrays[id(what)][1] if id(what) in self.arrays else what, getattr(self.cv.Format, form)))
            return made, what
        return self.once(("batch", id(what)), make)[0]

    def warp(self, to, source, matrix, kernel):
        """Pixels come from where `matrix`, of two rows, takes them; white lies beyond the picture."""
        self.cv.warp_affine_into(to, source, numpy.array(matrix, numpy.float32), getattr(self.Interp, kernel) | self.Interp.WARP_INVERSE_MAP,
                                 border_mode=self.Border.CONSTANT, border_value=self.white, **self.on)

    def work(self):
        return lambda turn: self.row.cvcuda(self, self.results[turn], self.source[turn])

    def result(self):
        return self.arrays[id(self.results[0])][1].cpu().numpy().reshape(self.shape)


class CuCim(Adapter):
    module = "cucim"

    def __init__(self, row, picture, shape):
        super().__init__(row, picture, shape)
        import cupy
        from cucim.core.operations.morphology import distance_transform_edt
        from cucim.skimage import color, exposure, filters, morphology, transform
        self.cupy, self.distance = cupy, distance_transform_edt
        self.color, self.exposure, self.filters, self.morphology, self.transform = color, exposure, filters, morphology, transform
        self.stream, self.last = torch.cuda.Stream(), None
        self.external = cupy.cuda.ExternalStream(self.stream.cuda_stream)
        self.source = [types.SimpleNamespace(
            bytes=b, unit=b.astype(cupy.float32) / 255,
            channels=[cupy.ascontiguousarray(b[:, :, i]) for i in range(3)] if b.ndim == 3 else [b]) for b in map(cupy.asarray, self.pictures)]
        cupy.cuda.Device().synchronize()

    def work(self):
        def call(turn):
            with self.external:
                self.last = self.row.cucim(self, self.source[turn])
        return call

    def result(self):
        parts = self.last if isinstance(self.last, list) else [self.last]
        parts = [self.levels(self.cupy.asnumpy(part)) for part in parts]
        return numpy.dstack(parts) if len(parts) > 1 else parts[0]


class Kornia(Adapter):
    module = "kornia"

    def __init__(self, row, picture, shape):
        super().__init__(row, picture, shape)
        for name in ("kornia_rs", "kornia_rs.io"):  # it reads files, which is not needed here
            sys.modules.setdefault(name, types.ModuleType(name))
        sys.modules["kornia_rs"].io = sys.modules["kornia_rs.io"]
        import kornia
        self.kornia, self.stream, self.last = kornia, torch.cuda.current_stream(), None
        self.source = [types.SimpleNamespace(planes=torch.from_numpy(numpy.atleast_3d(p)).cuda().permute(2, 0, 1).unsqueeze(0).float().div(255).contiguous())
                       for p in self.pictures]

    def work(self):
        def call(turn):
            with torch.inference_mode():
                self.last = self.row.kornia(self, self.source[turn])
        return call

    def result(self):
        return self.levels(self.last[0].permute(1, 2, 0).cpu().numpy()).reshape(self.shape)


class Clock:
    """As that of `make bench-gpu`: a kernel holds the stream until the host has queued all samples; a pair of events encloses
    four calls, or one where a call takes more than a millisecond; two pictures take turns; the median counts."""
    SAMPLES, HEAD_START_S = 30, .03

    def __init__(self):
        a, b = self.events(2)
        torch.cuda._sleep(10000000)
        a.record()
        torch.cuda._sleep(50000000)
        b.record()
        torch.cuda.synchronize()
        self.cycles = int(50000000 / (a.elapsed_time(b) / 1000) * self.HEAD_START_S)

    @staticmethod
    def events(count):
        return [torch.cuda.Event(enable_timing=True) for _ in range(count)]

    def ms(self, call, stream):
        with torch.cuda.stream(stream):
            first, last = self.events(1), self.events(1)
            for turn in (0, 1, 0):
                call(turn)
            torch.cuda.synchronize()
            first[0].record()
            call(1)
            last[0].record()
            torch.cuda.synchronize()
            one = first[0].elapsed_time(last[0])
            samples = max(3, min(self.SAMPLES, int(1000 / max(one, .01))))
            calls = 1 if one > 1 else 4
            first, last = self.events(samples), self.events(samples)
            torch.cuda._sleep(self.cycles)
            for i in range(samples):
                first[i].record()
                for k in range(calls):
                    call((i * calls + k) % 2)
                last[i].record()
            torch.cuda.synchronize()
        return sorted(a.elapsed_time(b) for a, b in zip(first, last))[samples // 2] / calls


ADAPTERS = {"CV-CUDA": CvCuda, "cuCIM": CuCim, "kornia": Kornia}
