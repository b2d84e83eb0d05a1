"""An image processor of transformers for Qwen2-VL by gpufilter: image_processor.py PICTURE...

It reads the same preprocessor_config.json, and gives a model the numbers of Qwen2VLImageProcessor by Pillow, the same bits:

    processor = transformers.AutoProcessor.from_pretrained(folder)
    processor.image_processor = GpufilterImageProcessor.from_pretrained(folder, device="cuda:0")

Pictures are also the bytes of files, which a GPU decodes. Prints, for each of the pictures, how many patches it has.
"""

import sys

from transformers.image_processing_utils import BaseImageProcessor, BatchFeature

import gpufilter as gf
from gpufilter import vision

#: What a call may change, and what vision.qwen2_vl() calls it.
NAMES = {"min_pixels": "min_pixels", "max_pixels": "max_pixels", "patch_size": "patch", "merge_size": "merge",
         "temporal_patch_size": "temporal", "image_mean": "mean", "image_std": "std", "dtype": "dtype"}


class GpufilterImageProcessor(BaseImageProcessor):
    """device is gpufilter's, and dtype that of pixel_values, float32 or bfloat16 as the model's."""
    model_input_names = ["pixel_values", "image_grid_thw"]

    def __init__(self, min_pixels=None, max_pixels=None, patch_size=14, merge_size=2, temporal_patch_size=2, image_mean=vision.CLIP_MEAN,
                 image_std=vision.CLIP_STD, device="cpu", dtype="float32", size=None, **kwargs):
        super().__init__(**kwargs)
        size = size or {}  # later configurations have the limits here
        self.min_pixels = min_pixels or size.get("shortest_edge") or size.get("min_pixels") or 56 * 56
        self.max_pixels = max_pixels or size.get("longest_edge") or size.get("max_pixels") or 28 * 28 * 1280
        self.patch_size, self.merge_size, self.temporal_patch_size = patch_size, merge_size, temporal_patch_size
        self.image_mean, self.image_std, self.device, self.dtype = list(image_mean), list(image_std), device, dtype

    def _flat(self, images):
        """Returns one list of pictures. Those of files are decoded together."""
        images = images if isinstance(images, (list, tuple)) else [images]
        if any(isinstance(image, (list, tuple)) for image in images):
            images = [image for some in images for image in (some if isinstance(some, (list, tuple)) else [some])]
        if images and all(isinstance(image, bytes) for image in images):
            return gf.decode(images, device=self.device)
        return [gf.decode(image) if isinstance(image, bytes) else image for image in images]

    def preprocess(self, images, return_tensors=None, **kwargs):
        settings = {ours: kwargs.get(name) or getattr(self, name) for name, ours in NAMES.items()}
        options = {} if self.device.startswith("cuda") else {"device": self.device}  # arrays on a device are filtered there
        rows, grid = vision.qwen2_vl(self._flat(images), **settings, **options)
        return BatchFeature({"pixel_values": rows, "image_grid_thw": grid}, tensor_type=return_tensors)

    def get_number_of_image_patches(self, height, width, images_kwargs=None):
        """Servers ask how many rows a picture will have."""
        of = {name: (images_kwargs or {}).get(name) or getattr(self, name) for name in NAMES}
        rows, columns = vision.smart_resize(height, width, of["patch_size"] * of["merge_size"], of["min_pixels"], of["max_pixels"])
        return rows // of["patch_size"] * (columns // of["patch_size"])


if __name__ == "__main__":
    files = []
    for path in sys.argv[1:]:
        with open(path, "rb") as file:
            files.append(file.read())
    made = GpufilterImageProcessor()(files)
    for path, (_, rows, columns) in zip(sys.argv[1:], made["image_grid_thw"].tolist()):
        print(f"{path}: {rows} x {columns} patches")
