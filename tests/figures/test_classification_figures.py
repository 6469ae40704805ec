import json

import numpy as np
import pytest
from matplotlib.figure import Figure

import subridge as sr
from subridge.figures.paper.reproduction import FigureRequest


@pytest.mark.slow
@pytest.mark.parametrize("figure", ["fig3d", "fig3e", "figS2", "fig4e", "fig4f", "figS3", "figS4", "figS5"])
def test_every_figure_is_drawn_and_names_its_features(figure, quick_figure):
    made = quick_figure(figure)
    assert isinstance(made.figure, Figure)
    assert str(made.dataset.data.values) == "fashion-mnist x efficientnet-lite0"
    assert any("Imagenette" in line for line in json.loads(made.dataset.attrs["errata"]))


@pytest.mark.slow
def test_equal_subsets_peak_at_their_thresholds_and_many_unequal_ones_do_not(quick_figure):
    data = quick_figure("fig3e").dataset
    curves = data.misclassification.mean("trial").isel(ridge=0)
    sizes = data.n_samples.values
    for k in (4, 8, 16):
        p = int(np.searchsorted(sizes, int(data.n_features) // k))
        equal = curves.sel(strategy="equal", n_members=k).values
        assert equal[p] > max(equal[p - 1], equal[p + 1])
    for k in (8, 16, 32):
        spread = curves.sel(strategy="dirichlet", n_members=k).values
        # Falls within the noise of four trials of 600 test images.
        assert (np.diff(spread) < 0.02).all()


@pytest.mark.slow
def test_readout_noise_asks_for_more_members(quick_figure):
    best = quick_figure("fig4f").dataset.optimal_n_members.sel(ridge=0.1)
    assert float(best.sel(readout_noise=1.0).mean()) > float(best.sel(readout_noise=0.0).mean())


@pytest.mark.slow
@pytest.mark.parametrize(("figure", "tolerance"), [("figS4", 0.001), ("figS5", 0.01)])
def test_nearly_best_sizes_are_the_extremes_of_those_within_the_tolerance(figure, tolerance, quick_figure):
    data = quick_figure(figure).dataset
    mean, k = data.misclassification.mean("trial"), data.n_members.values
    for place in np.ndindex(*data.optimal_n_members.shape):
        here = dict(zip(data.optimal_n_members.dims, place, strict=True))
        shares = mean.isel(here).values
        near = k[shares <= shares.min() + tolerance]
        found = [int(data[name].isel(here)) for name in ("optimal_n_members", "smallest", "largest")]
        assert found == [k[shares.argmin()], near.min(), near.max()]


@pytest.mark.slow
def test_a_larger_tolerance_admits_more_sizes(quick_figure):
    strict, loose = (quick_figure(figure).dataset for figure in ("figS4", "figS5"))
    assert bool((loose.smallest <= strict.smallest).all())
    assert bool((loose.largest - loose.smallest > strict.largest - strict.smallest).any())


def test_features_are_chosen_by_name_and_change_the_identity_of_a_figure():
    chosen = FigureRequest("fig3e", quick=True, data="cifar10")
    assert chosen.settings.data == "cifar10"
    assert chosen.identity != FigureRequest("fig3e", quick=True).identity
    assert FigureRequest("fig4b", data="cifar10").settings == FigureRequest("fig4b").settings
    assert "--data cifar10" in chosen.command("cpu")
    assert FigureRequest("fig3d", variant="caption").settings.n_samples == 100


def test_features_that_are_absent_are_named():
    with pytest.raises(sr.errors.DataError, match="bundled, cifar10, fashion"):
        sr.figures.reproduce("fig3e", quick=True, data="nowhere.zarr")


@pytest.mark.slow
def test_the_spectrum_of_real_features_is_a_power_law(quick_figure):
    data = quick_figure("figS1").dataset
    assert -1.5 < float(data.power) < -0.7
    eigenvalues = data.eigenvalue.values[20:400]
    law = float(data.prefactor) * data["rank"].values[20:400] ** float(data.power)
    assert np.abs(np.log(eigenvalues / law)).max() < 0.35
