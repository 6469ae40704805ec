"""What a reader sees: lines without corners at peaks, labels apart, marks explained, nothing yellow on white."""

import re
from itertools import pairwise

import numpy as np
import pytest
import xarray as xr
from click.testing import CliRunner
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb

import subridge as sr
from subridge.cli import main
from subridge.figures.drawing.style import PALETTE
from subridge.theory.thresholds import around_thresholds


def slow(*figures):
    return [pytest.param(figure, marks=pytest.mark.slow) for figure in figures]


def pixels_off(alpha, nu, ridge):
    """How far the curve is from a line through its points, midway between them, in a picture of 900 by 600 pixels."""
    middles = (alpha[1:] + alpha[:-1]) / 2
    problem, ensemble = sr.EquicorrelatedProblem(label_noise=0.1), sr.Ensemble(nu, ridge)
    heights, between = (np.log(sr.risk(problem, ensemble, at).total) for at in (alpha, middles))
    width, height = 900 / (alpha[-1] - alpha[0]), 600 / np.ptp(heights)
    points = np.column_stack([width * alpha, height * heights])
    along = np.diff(points, axis=0)
    off = np.column_stack([width * middles, height * between]) - points[:-1]
    return float(np.max(np.abs(along[:, 0] * off[:, 1] - along[:, 1] * off[:, 0]) / np.hypot(*along.T)))


@pytest.mark.parametrize("nu", [[0.25] * 4, [0.06, 0.11, 0.3, 0.53]], ids=["equal", "heterogeneous"])
@pytest.mark.parametrize("ridge", [1e-6, 1e-3, 0.1])
def test_a_line_around_thresholds_has_no_corners(nu, ridge):
    coarse = np.linspace(0.05, 2, 40)
    assert pixels_off(around_thresholds(coarse, nu), nu, ridge) < 1.5
    assert ridge == 0.1 or pixels_off(coarse, nu, ridge) > 3


@pytest.mark.parametrize(("fractions", "peaks"), [("0.25,0.25,0.25", 1), ("0.11,0.15,0.4", 3)])
def test_the_picture_of_a_curve_has_all_its_peaks(fractions, peaks, tmp_path):
    words = ["curve", "--fractions", fractions, "--ridges", "1e-5", "--label-noise", "0.1"]
    result = CliRunner().invoke(main, [*words, "--sample-ratios", "0.02:2:21", "--out", str(tmp_path / "curve.svg")])
    assert result.exit_code == 0, result.output
    paths = re.findall(r'<path d="(M [^"]*)" clip-path', (tmp_path / "curve.svg").read_text())
    longest = max(paths, key=len)
    height = np.array(re.findall(r"[ML] -?[\d.]+ (-?[\d.]+)", longest), dtype=float)
    height = height[np.diff(height, prepend=np.nan) != 0]
    # Downwards from the top of the picture: a peak is lower than its neighbours.
    assert ((height[1:-1] < height[:-2]) & (height[1:-1] < height[2:])).sum() == peaks


@pytest.mark.slow
@pytest.mark.parametrize("figure", [*slow("fig1a", "fig2", "fig3c", "figS9"), "fig1b", "fig4a"])
def test_figures_are_drawn_along_such_lines(figure, quick_figure):
    data = quick_figure(figure).dataset
    alpha = data.sample_ratio.values[np.isfinite(data.sample_ratio.values)]
    nu = {"fig3c": [0.1], "fig4a": [1 / 2, 1 / 60], "figS9": [1 / 2, 1 / 60]}.get(figure)
    for threshold in data.subset_fraction.values if nu is None else nu:
        near = np.abs(alpha / threshold - 1)
        assert (near < 0.02).sum() > 25
        assert near.min() < 1e-3


def test_every_quick_figure_says_so_and_a_full_one_does_not(quick_figure):
    assert quick_figure("fig1b").figure.get_supxlabel() == "quick variant: 500 features (full: 5,000), 20 trials (100)"
    assert quick_figure("fig4a").figure.get_supxlabel() == "quick variant: a coarser grid"
    assert sr.figures.reproduce("fig3b").figure.get_supxlabel() == ""


def contrast_with_white(colour):
    """Of the Web Content Accessibility Guidelines; yellow has 1.3 and black 21."""
    red, green, blue = (v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in to_rgb(colour))
    return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)


@pytest.mark.parametrize("figure", ["fig3a", "fig3b", "fig4a", *slow("figS9", "figS14")])
def test_no_line_is_yellow_on_white(figure, quick_figure):
    assert min(map(contrast_with_white, PALETTE)) > 2
    for axes in quick_figure(figure).figure.axes:
        for line in axes.get_lines():
            assert contrast_with_white(line.get_color()) > 2


@pytest.fixture(scope="module")
def forecasts():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 8))
    y = X @ rng.standard_normal(8) + rng.standard_normal(60)
    return sr.forecast(X, y, np.geomspace(30, 2e6, 12).round(), {"2 equal": sr.Ensemble(sr.subsets.Equal(2))})


@pytest.mark.parametrize("largest", [200, 20_000, 2_000_000])
def test_labels_of_a_forecast_stand_apart_and_the_legend_beside_the_curves(forecasts, largest):
    picture = sr.figures.plot_forecast(forecasts.sel(n_samples=forecasts.n_samples <= largest))
    canvas = FigureCanvasAgg(picture)
    canvas.draw()
    axes = picture.axes[0]
    boxes = [tick.get_window_extent() for tick in axes.get_xticklabels() if tick.get_text()]
    assert len(boxes) > 1
    for first, second in pairwise(boxes):
        assert first.x1 + 2 < second.x0
    assert picture.legends[0].get_window_extent().x0 > axes.get_window_extent().x1


def test_the_legend_of_a_forecast_explains_its_marks(forecasts):
    def told(curves):
        return [text.get_text().replace("\n", " ") for text in sr.figures.plot_forecast(curves).legends[0].get_texts()]

    everywhere = forecasts.assign(in_reach=xr.ones_like(forecasts.in_reach), is_bound=xr.zeros_like(forecasts.is_bound))
    assert {"label noise ζ²", "90% interval"} <= set(told(everywhere))
    assert not any("reach" in text or "at most" in text for text in told(everywhere))
    nowhere = forecasts.assign(in_reach=xr.zeros_like(forecasts.in_reach), is_bound=xr.ones_like(forecasts.is_bound))
    assert any("at most" in text for text in told(nowhere))
    assert "beyond the pilot's reach" in sr.figures.plot_forecast(nowhere).get_supxlabel()


def test_a_forecast_for_infinite_data_alone_is_drawn(forecasts):
    alone = forecasts.isel(n_samples=[0]).assign_coords(n_samples=[np.inf])
    FigureCanvasAgg(sr.figures.plot_forecast(alone)).draw()
