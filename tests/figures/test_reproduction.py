import json
from importlib import import_module
from pkgutil import iter_modules

import numpy as np
import pytest
from matplotlib.figure import Figure

import subridge as sr
from subridge.figures import paper
from subridge.figures.paper.registry import recipe_of
from subridge.figures.paper.reproduction import VARIANTS, FigureRequest


def slow(*figures):
    return [pytest.param(figure, marks=pytest.mark.slow) for figure in figures]


def test_every_figure_has_settings_of_both_variants_and_quick_ones():
    for figure in sr.figures.figure_ids():
        for variant in VARIANTS:
            full, quick = (FigureRequest(figure, shrunk, variant).settings for shrunk in (False, True))
            assert type(full) is type(quick)
            assert full.fingerprint() == FigureRequest(figure, False, variant).settings.fingerprint()


def test_identity_tells_figures_variants_and_sizes_apart():
    seen = {FigureRequest(figure, quick).identity for figure in ("fig4b", "figS6", "fig1b") for quick in (False, True)}
    seen.add(FigureRequest("fig1b", variant="caption").identity)
    assert len(seen) == 7


def test_published_settings_are_those_of_the_authors_notebooks():
    published, caption = (FigureRequest("fig1b", variant=variant).settings for variant in VARIANTS)
    assert (published.correlation, caption.correlation) == (0.4, 0.6)
    published, caption = (FigureRequest("fig3c", variant=variant).settings for variant in VARIANTS)
    assert (published.label_noise, published.alignment) == (0.1, 0.0)
    assert (caption.label_noise, caption.alignment) == (0.0, 0.3)


def test_a_figure_that_is_not_there_is_named():
    with pytest.raises(sr.errors.ParameterError, match="no figure 'fig9'"):
        sr.figures.reproduce("fig9")
    with pytest.raises(sr.errors.ParameterError, match="published"):
        sr.figures.reproduce("fig3b", settings="other")


def test_reproduce_returns_a_figure_and_its_data_with_their_history(quick_figure):
    figure, dataset = quick_figure("fig3b")
    assert isinstance(figure, Figure)
    assert dataset.attrs["command"] == "subridge reproduce fig3b --quick"
    assert dataset.attrs["subridge_version"] == sr.__version__
    assert json.loads(dataset.attrs["settings"])["n_members"] == 10


@pytest.mark.parametrize("figure", [*slow("fig1a", "fig2"), "fig1b"])
def test_quick_theory_and_experiment_agree_at_finite_size(figure, quick_figure):
    rows = json.loads(quick_figure(figure).dataset.attrs["agreement"])
    assert all(row["outside"] == 0 for row in rows if "M → ∞" not in row["name"]), rows


def test_fig1b_shows_both_theories_and_they_differ_at_small_samples(quick_figure):
    first = quick_figure("fig1b").dataset.isel(sample_ratio=0)
    gap = first.theory / first.infinite_theory - 1
    assert (gap > 0.005).all()


@pytest.mark.slow
def test_fig3c_peak_of_the_equal_ensemble_is_near_48_hundredths(quick_figure):
    data = quick_figure("fig3c").dataset
    curve = data.risk.sel(ridge=1e-3, fraction_spread=0.0).isel(panel=3)
    assert (float(data.correlation[3]), float(data.readout_noise[3])) == (0.8, 0.5)
    assert float(curve[:-1].max()) == pytest.approx(0.48, abs=0.005)
    assert "0.4794" in data.attrs["notes"]


@pytest.mark.slow
def test_fig3c_as_captioned_says_that_the_average_does_not_exist(quick_figure):
    figure, data = quick_figure("fig3c", "caption")
    assert "does not exist for σ = 1/k, ρ ≠ 0" in data.attrs["notes"]
    assert "does not exist" in figure.get_supxlabel()
    exists = data.average_exists.transpose("panel", "fraction_spread").values
    assert exists.tolist() == [[1, 1, 1, 1], [1, 1, 1, 0], [1, 1, 1, 1], [1, 1, 1, 0]]


@pytest.mark.slow
@pytest.mark.parametrize("figure", ["fig4b", "fig4c", "fig4d"])
def test_analytic_boundary_lies_on_the_numerical_one(figure, quick_figure):
    data = quick_figure(figure).dataset
    noise = next(name for name in ("readout_nsr", "feature_nsr", "label_nsr") if name in data.dims)
    sizes = data.optimal_n_members.transpose("ridge", "alignment", noise, "sample_ratio").values
    boundary = data.boundary.transpose("ridge", "alignment", noise).values[..., None]
    alpha = data.sample_ratio.values
    # Beyond the boundary no infinite ensemble; before it, infinite unless a small one wins below its own threshold.
    assert not np.isinf(sizes[(alpha > boundary) & np.isfinite(alpha)]).any()
    before = sizes[(alpha < boundary) & np.isfinite(boundary)]
    assert (np.isinf(before) | (before < 10)).all()


@pytest.mark.slow
def test_without_readout_noise_one_member_at_its_best_ridge_is_best(quick_figure):
    for figure in ("fig4c", "fig4d"):
        assert (quick_figure(figure).dataset.optimal_n_members.sel(ridge="optimal") == 1).all()


def test_the_registry_lists_every_recipe_once_and_no_two_figures_share_a_title():
    modules = {import_module(f"{paper.__name__}.{module.name}") for module in iter_modules(paper.__path__)}
    written = [figure for module in modules for figure in getattr(module, "RECIPES", ())]
    assert sorted(written) == sorted(sr.figures.figure_ids())
    assert len({recipe_of(figure).title for figure in written}) == len(written)


def test_a_quick_figure_is_not_expected_to_take_longer_than_a_full_one():
    for figure in sr.figures.figure_ids():
        assert 0 < FigureRequest(figure, quick=True).seconds <= FigureRequest(figure).seconds
