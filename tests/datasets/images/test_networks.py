"""Networks that need torch; the kept outputs were computed by torchvision, see tools/check_resnext.py."""

import runpy
from pathlib import Path

import numpy as np
import pytest

import subridge as sr
from subridge.datasets.images.networks import network

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("name", ["resnext50_32x4d", "resnet50"])
def test_our_networks_give_the_numbers_of_torchvision(name):
    check = runpy.run_path(str(ROOT / "tools/check_resnext.py"))
    with np.load(ROOT / "tests/data/resnext_features.npz") as kept:
        assert check["relative"](check["ours"](name), kept[name]) < 1e-5


def test_weights_of_another_network_are_refused(tmp_path):
    torch.save({"conv1.weight": torch.zeros(1)}, tmp_path / "weights.pth")
    with pytest.raises(sr.errors.DataError, match="not of this network"):
        network("resnext50_32x4d").build(str(tmp_path / "weights.pth"))


def test_resnext_asks_for_its_weights():
    with pytest.raises(sr.errors.DataError, match="nothing is downloaded"):
        network("resnext50_32x4d").build()
