"""Hold our ResNeXt-50 and ResNet-50 against torchvision's, on parameters that a formula fills.

python tools/check_resnext.py --write tests/data/resnext_features.npz    # where torchvision is installed
python tools/check_resnext.py                                            # compare ours with the kept outputs

A hundred megabytes of random weights cannot be kept as test data; a generator seeded by the parameter's place in the
sorted list of names fills both sides alike, so that only outputs are kept. With torchvision present its weights also
go through a file, as a user's would.
"""

import argparse
import tempfile
import zlib
from pathlib import Path

import numpy as np
import torch

from subridge.datasets.images.modules import PooledResNet, resnext50_32x4d

_KEPT = Path(__file__).parents[1] / "tests/data/resnext_features.npz"
_SHAPES = {"resnext50_32x4d": (32, 4), "resnet50": (1, 64)}


def fill(module):
    """Fill every parameter and running statistic from its name: normal weights of He's scale, variances near one."""
    state = {}
    for name, value in module.state_dict().items():
        rng = np.random.default_rng(zlib.crc32(name.encode()))
        if name.endswith("num_batches_tracked"):
            filled = np.zeros(value.shape)
        elif name.endswith("running_var") or (value.ndim == 1 and name.endswith("weight")):
            filled = rng.uniform(0.5, 1.0, value.shape)
        elif value.ndim == 1:
            filled = 0.1 * rng.standard_normal(value.shape)
        else:
            fan = int(np.prod(value.shape[1:]))
            filled = rng.standard_normal(value.shape) * np.sqrt(2 / fan)
        state[name] = torch.from_numpy(filled).to(value.dtype)
    module.load_state_dict(state)
    return module.eval()


def inputs():
    """Two fixed images of 64 pixels, small so that the test is quick."""
    return torch.from_numpy(np.random.default_rng(2023).standard_normal((2, 3, 64, 64)).astype(np.float32))


def ours(name):
    with torch.inference_mode():
        return fill(PooledResNet(*_SHAPES[name]))(inputs()).numpy()


def theirs(name):
    """Pooled activations of torchvision's network; its last layer is replaced by the identity."""
    import torchvision

    module = fill(getattr(torchvision.models, name)(weights=None))
    module.fc = torch.nn.Identity()
    with torch.inference_mode():
        return module(inputs()).numpy()


def through_a_file():
    """Our network with random weights saved from torchvision, against torchvision's own output."""
    import torchvision

    torch.manual_seed(0)
    module = torchvision.models.resnext50_32x4d(weights=None).eval()
    with tempfile.TemporaryDirectory() as folder:
        torch.save(module.state_dict(), f"{folder}/weights.pth")
        loaded = resnext50_32x4d(f"{folder}/weights.pth").eval()
    module.fc = torch.nn.Identity()
    with torch.inference_mode():
        return relative(loaded(inputs()).numpy(), module(inputs()).numpy())


def relative(found, wanted):
    return float(np.abs(found - wanted).max() / np.abs(wanted).max())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, help="compute torchvision's outputs and keep them here")
    arguments = parser.parse_args()
    if arguments.write:
        print(f"random weights through a file: largest difference {through_a_file():.2e} of the largest feature")
        np.savez_compressed(arguments.write, **{name: theirs(name) for name in _SHAPES})
    with np.load(arguments.write or _KEPT) as kept:
        for name in _SHAPES:
            difference = relative(ours(name), kept[name])
            print(f"{name}: largest difference {difference:.2e} of the largest feature")
            if not difference < 1e-5:
                raise SystemExit(f"{name} does not give torchvision's numbers")


if __name__ == "__main__":
    main()
