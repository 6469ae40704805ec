"""ResNet-50 and ResNeXt-50 in plain torch, with torchvision's parameter names: its state dicts load as they are.

He et al. (2016), Xie et al. (2017). The stride of a bottleneck is in its 3 × 3 convolution, as in torchvision.
"""

from importlib.util import find_spec
from pathlib import Path
from pickle import UnpicklingError

import torch
from torch import nn

from subridge.model.errors import DataError

_BLOCKS = (3, 4, 6, 3)
_EXPANSION = 4


class Bottleneck(nn.Module):
    """1 × 1, grouped 3 × 3 and 1 × 1 convolutions beside a shortcut."""

    def __init__(self, n_in: int, width: int, n_out: int, groups: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(n_in, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, padding=1, groups=groups, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, n_out, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(n_out)
        self.downsample = None
        if stride != 1 or n_in != n_out:
            self.downsample = nn.Sequential(nn.Conv2d(n_in, n_out, 1, stride, bias=False), nn.BatchNorm2d(n_out))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        branch = torch.relu(self.bn1(self.conv1(x)))
        branch = torch.relu(self.bn2(self.conv2(branch)))
        shortcut = x if self.downsample is None else self.downsample(x)
        return torch.relu(self.bn3(self.conv3(branch)) + shortcut)


class PooledResNet(nn.Module):
    """A ResNet up to its average pooling: (n, 3, s, s) to (n, 2048).

    One group of width 64 gives ResNet-50, 32 groups of width 4 give ResNeXt-50 32×4d.
    """

    def __init__(self, groups: int = 1, width_per_group: int = 64) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.maxpool = nn.MaxPool2d(3, 2, padding=1)
        n_in = 64
        for number, n_blocks in enumerate(_BLOCKS):
            planes = 64 * 2**number
            width = planes * width_per_group // 64 * groups
            blocks = []
            for position in range(n_blocks):
                stride = 2 if number and not position else 1
                blocks.append(Bottleneck(n_in, width, _EXPANSION * planes, groups, stride))
                n_in = _EXPANSION * planes
            setattr(self, f"layer{number + 1}", nn.Sequential(*blocks))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.maxpool(torch.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return x.mean((2, 3))


def resnext50_32x4d(weights: str | None) -> PooledResNet:
    """ResNeXt-50 32×4d with a state dict as torchvision publishes it; the last layer ``fc`` is dropped."""
    if weights is None:
        raise DataError(
            "resnext50_32x4d needs a weights file: give the path of torchvision's resnext50_32x4d-*.pth "
            "(--weights FILE); nothing is downloaded"
        )
    return _loaded(PooledResNet(32, 4), weights, prefix="")


def augnet_resnet50(weights: str | None) -> PooledResNet:
    """The ResNet-50 that AugNet trained without labels (Chen et al. 2021), from the file ``model.pth`` of imgsim."""
    if weights is None:
        found = find_spec("imgsim")
        if found is None or found.origin is None:
            raise DataError(
                "augnet-resnet50 needs model.pth of the package imgsim: pip install --no-deps imgsim, or give its "
                "path (--weights FILE)"
            )
        weights = str(Path(found.origin).with_name("model.pth"))
    return _loaded(PooledResNet(), weights, prefix="module.pre.")


def _loaded(module: PooledResNet, path: str, prefix: str) -> PooledResNet:
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, EOFError, UnpicklingError) as error:
        raise DataError(f"weights file {path} is not a file of weights alone: {error}") from error
    if not isinstance(state, dict):
        raise DataError(f"weights file {path} holds no parameters by name")
    kept = {name.removeprefix(prefix): value for name, value in state.items() if ".fc." not in f".{name}"}
    expected = set(module.state_dict())
    # Old state dicts lack the counters of batch normalisation, which do nothing after training.
    missing = {name for name in expected - set(kept) if not name.endswith("num_batches_tracked")}
    if missing or set(kept) - expected:
        odd = sorted(missing | (set(kept) - expected))[0]
        raise DataError(f"weights file {path} is not of this network: parameter {odd!r} does not match")
    module.load_state_dict(kept, strict=False)
    return module
