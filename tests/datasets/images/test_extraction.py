"""Image folders and their extraction, with a stand-in for the network so that no torch is needed."""

import numpy as np
import pytest
from click.testing import CliRunner

import subridge as sr
from subridge.cli import main
from subridge.datasets import extract_folder, load_store
from subridge.datasets.images.extraction import read_folder
from subridge.datasets.images.networks import Network, Preprocessing, network

Image = pytest.importorskip("PIL.Image")


@pytest.fixture
def folder(tmp_path):
    """Two classes of 40 images each: bright and dark."""
    rng = np.random.default_rng(0)
    for name, level in (("bright", 200), ("dark", 50)):
        (tmp_path / "images" / name).mkdir(parents=True)
        for number in range(40):
            pixels = (level + rng.integers(-20, 20, (30, 40, 3))).astype(np.uint8)
            Image.fromarray(pixels).save(tmp_path / "images" / name / f"{number:02d}.png")
    return tmp_path / "images"


@pytest.fixture
def seen(monkeypatch):
    """A network whose features are the mean and spread of the pixels; records how many images it was given."""
    pytest.importorskip("zarr")
    counts = []

    def build(self, weights=None, device="cpu"):
        def features(images):
            counts.append(len(images))
            rows = np.zeros((len(images), self.n_features), dtype=np.float32)
            rows[:, 0], rows[:, 1] = images.mean(axis=(1, 2, 3)), images.std(axis=(1, 2, 3))
            return rows

        return features

    monkeypatch.setattr(Network, "build", build)
    return counts


def test_subfolders_are_classes(folder):
    found = read_folder(folder)
    assert found.class_names == ("bright", "dark")
    assert np.bincount(found.labels).tolist() == [40, 40]
    assert not found.is_test.any()


def test_train_and_val_folders_are_the_split(folder, tmp_path):
    for part in ("train", "val"):
        (tmp_path / "split" / part).mkdir(parents=True)
        (folder / ("bright" if part == "train" else "dark")).rename(tmp_path / "split" / part / "one")
    found = read_folder(tmp_path / "split")
    assert found.is_test.sum() == 40
    assert found.class_names == ("one",)


def test_a_folder_without_images_is_named(tmp_path):
    with pytest.raises(sr.errors.DataError, match="one subfolder per class"):
        read_folder(tmp_path)
    with pytest.raises(sr.errors.DataError, match="not a folder"):
        read_folder(tmp_path / "absent")


def test_features_come_with_labels_and_how_they_were_made(folder, tmp_path, seen):
    assert extract_folder(folder, tmp_path / "f.zarr", size=32) == []
    data = load_store(tmp_path / "f.zarr")
    assert len(data.X) + len(data.X_test) == 80
    assert data.class_names == ("bright", "dark")
    assert data.attributes["network"] == "efficientnet-lite0"
    assert data.attributes["preprocessing"]["crop"] == 32
    assert ((data.X[:, 0] > 0) == (data.y == 0)).all()


def test_an_interrupted_extraction_goes_on(folder, tmp_path, seen, monkeypatch):
    from subridge.store.tasks import TaskStore

    write, calls = TaskStore.write, []

    def failing(self, *arguments):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        write(self, *arguments)

    monkeypatch.setattr(TaskStore, "write", failing)
    with pytest.raises(KeyboardInterrupt):
        extract_folder(folder, tmp_path / "f.zarr", size=32)
    with pytest.raises(sr.errors.StoreError, match="not finished"):
        load_store(tmp_path / "f.zarr")
    extract_folder(folder, tmp_path / "f.zarr", size=32)
    assert seen == [64, 16, 16]
    assert len(load_store(tmp_path / "f.zarr").X_test) == 24


def test_an_unreadable_image_is_fatal_and_named_unless_skipped(folder, tmp_path, seen):
    (folder / "dark" / "07.png").write_bytes(b"no picture")
    with pytest.raises(sr.errors.DataError, match=r"dark/07.png does not decode"):
        extract_folder(folder, tmp_path / "f.zarr", size=32)
    assert extract_folder(folder, tmp_path / "f.zarr", size=32, skip_unreadable=True) == ["dark/07.png"]
    data = load_store(tmp_path / "f.zarr")
    assert len(data.X) + len(data.X_test) == 79
    assert np.isfinite(data.X).all()


def test_missing_weights_leave_nothing_behind(folder, tmp_path):
    with pytest.raises(sr.errors.DataError):
        extract_folder(folder, tmp_path / "f.zarr", "resnext50_32x4d")
    assert not (tmp_path / "f.zarr").exists()


def test_a_store_of_another_network_is_refused(folder, tmp_path, seen):
    extract_folder(folder, tmp_path / "f.zarr", size=32)
    with pytest.raises(sr.errors.StoreError, match="another network"):
        extract_folder(folder, tmp_path / "f.zarr", "augnet-resnet50", size=32)


def test_the_command_tells_what_it_wrote_and_what_it_left_out(folder, tmp_path, seen):
    (folder / "dark" / "07.png").write_bytes(b"no picture")
    arguments = ["features", str(folder), "--out", str(tmp_path / "f.zarr"), "--size", "32"]
    stopped = CliRunner().invoke(main, arguments)
    assert stopped.exit_code == 1
    assert "dark/07.png does not decode" in stopped.output
    done = CliRunner().invoke(main, [*arguments, "--skip-unreadable"])
    assert done.exit_code == 0, done.output
    assert "left out, does not decode: dark/07.png" in done.output
    assert "1,280 features, 2 classes, 1 image left out" in done.output


def test_preprocessing_resizes_the_shorter_side_and_cuts_the_centre():
    wide = np.zeros((40, 80, 3), dtype=np.uint8)
    wide[:, 20:60] = 255
    cut = Preprocessing(20, 20)(Image.fromarray(wide))
    assert cut.shape == (3, 20, 20)
    white = (1 - np.array([0.485, 0.456, 0.406])) / np.array([0.229, 0.224, 0.225])
    np.testing.assert_allclose(cut[:, 10, 10], white, rtol=1e-5)
    assert Preprocessing(20, 20)(Image.fromarray(wide[..., 0])).shape == (3, 20, 20)


def test_an_unknown_network_is_named():
    with pytest.raises(sr.errors.ParameterError, match='network must be "resnext50_32x4d", '):
        network("resnet-1001")
