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


class Planted:
    """What a harmful file holds: something that runs when it is unpickled."""

    def __init__(self, place):
        self.place = place

    def __reduce__(self):
        return open, (self.place, "w")


@pytest.mark.parametrize("name", ["resnext50_32x4d", "augnet-resnet50", "efficientnet-lite0"])
def test_code_in_a_weights_file_is_not_run(name, tmp_path):
    if name.startswith("efficientnet"):
        pytest.importorskip("efficientnet_lite_pytorch")
    torch.save({"conv1.weight": Planted(str(tmp_path / "was run"))}, tmp_path / "weights.pth")
    with pytest.raises(sr.errors.DataError, match="weights alone"):
        network(name).build(str(tmp_path / "weights.pth"))
    assert not (tmp_path / "was run").exists()


@pytest.mark.parametrize("content", [b"", b"no weights", b"PK\x03\x04"])
def test_what_is_no_weights_file_is_named(content, tmp_path):
    (tmp_path / "weights.pth").write_bytes(content)
    with pytest.raises(sr.errors.DataError, match=r"weights\.pth"):
        network("resnext50_32x4d").build(str(tmp_path / "weights.pth"))
