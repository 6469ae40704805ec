"""The engine on a card, where there is one."""

import numpy as np
import pytest

import subridge as sr


def has_card():
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


@pytest.mark.torch
@pytest.mark.cuda
@pytest.mark.skipif(not has_card(), reason="needs a CUDA device")
def test_a_card_agrees_with_the_cpu_within_error_bars_and_repeats_its_numbers():
    M, P = 200, [20, 60, 150, 300]
    problem = sr.Problem(sr.covariance.autoregressive(M, 0.8), np.ones(M), label_noise=0.1)
    ensemble = sr.Ensemble(sr.subsets.overlapping([50, 100], M, seed=0), readout_noise=0.2)
    options = {"ridges": [0.0, 0.1], "progress": False}
    here, there, again = (
        sr.simulate(problem, ensemble, P, 200, run=sr.Run(device=device, block=block), **options).risk
        for device, block in (("cpu", None), ("cuda", 200), ("cuda", 50))
    )
    spread = np.sqrt(here.var("trial", ddof=1) / 200 + there.var("trial", ddof=1) / 200)
    assert float((abs(here.mean("trial") - there.mean("trial")) / spread).max()) < 5
    np.testing.assert_allclose(again, there, rtol=1e-8)
