"""From a picture to the numbers a network was trained on."""

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from subridge.arrays.types import Json
from subridge.model.errors import ParameterError

if TYPE_CHECKING:
    from PIL import Image

Float32Array: TypeAlias = npt.NDArray[np.float32]

# Means and standard deviations of the channels of ImageNet, on a scale of 0 to 1, as published with its networks.
_MEAN = (0.485, 0.456, 0.406)
_STD = (0.229, 0.224, 0.225)


@dataclass(frozen=True)
class Preprocessing:
    """Resize the shorter side to `resize` pixels, antialiased, cut a square of side `crop` from the centre, normalise.

    `interpolation` is "bilinear" or "bicubic"; `mean` and `std` are per channel, on a scale of 0 to 1.
    """

    resize: int
    crop: int
    interpolation: str = "bilinear"
    mean: tuple[float, float, float] = _MEAN
    std: tuple[float, float, float] = _STD

    def __post_init__(self) -> None:
        if not 1 <= self.crop <= self.resize:
            raise ParameterError(f"crop must lie between 1 and resize={self.resize}, got {self.crop}")

    def at_size(self, size: int | None) -> "Preprocessing":
        """The same at another size, without a margin around the crop; None changes nothing.

        >>> Preprocessing(256, 224).at_size(128).resize
        128
        """
        return self if size is None else replace(self, resize=size, crop=size)

    def describe(self) -> dict[str, Json]:
        return asdict(self)

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
        kind = Image.Resampling.BICUBIC if self.interpolation == "bicubic" else Image.Resampling.BILINEAR
        resized = rgb.resize(target, kind) if rgb.size != target else rgb
        left, top = (round((side - self.crop) / 2) for side in resized.size)
        square = np.asarray(resized.crop((left, top, left + self.crop, top + self.crop)), dtype=np.float32)
        normalised = (square / np.float32(255) - np.array(self.mean, np.float32)) / np.array(self.std, np.float32)
        return np.ascontiguousarray(normalised.transpose(2, 0, 1))
