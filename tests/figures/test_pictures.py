import pytest
from matplotlib.figure import Figure
from PIL import Image

import subridge as sr
from subridge.figures.drawing.style import journal, write_pictures


def picture():
    with journal():
        figure = Figure(figsize=(2, 1))
        figure.subplots().plot([0, 1], [1, 0])
    return figure


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_equal_figures_give_equal_bytes_and_leave_nothing_else(suffix, tmp_path):
    first, second = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
    write_pictures(picture(), [first])
    write_pictures(picture(), [second])
    assert first.read_bytes() == second.read_bytes()
    assert set(tmp_path.iterdir()) == {first, second}


def test_a_picture_carries_version_and_command(tmp_path):
    places = [tmp_path / f"a{suffix}" for suffix in (".png", ".svg", ".pdf")]
    write_pictures(picture(), places, "subridge curve --ridges 0.1")
    held = Image.open(places[0]).text
    assert (held["Software"], held["Description"]) == (f"subridge {sr.__version__}", "subridge curve --ridges 0.1")
    for place in places[1:]:
        assert f"subridge {sr.__version__}".encode() in place.read_bytes()
        assert b"subridge curve --ridges 0.1" in place.read_bytes()
