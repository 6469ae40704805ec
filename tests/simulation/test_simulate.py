"""What `simulate` promises about its result, its random numbers and bad input."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import subridge as sr

M, SIZES, RIDGES = 40, [10, 20, 60], [0.0, 0.1]


def problem():
    return sr.Problem(sr.covariance.autoregressive(M, 0.6), np.ones(M), label_noise=0.2)


def ensemble(**options):
    return sr.Ensemble(sr.subsets.overlapping([15, 25], M, seed=0), **({"readout_noise": 0.1} | options))


def simulate(n_trials=6, run=None, **options):
    settings = {"ridges": RIDGES, "progress": False} | options
    return sr.simulate(problem(), ensemble(), SIZES, n_trials, run=run, **settings)


def test_the_result_has_the_documented_dimensions_and_attributes():
    curves = simulate(pairs=True)
    assert curves.risk.dims == curves.training_error.dims == ("trial", "ridge", "n_samples")
    assert curves.pairs.dims == ("trial", "ridge", "n_samples", "member", "other_member")
    assert curves.risk.shape == (6, 2, 3)
    assert curves.ridge.values.tolist() == RIDGES
    assert curves.n_samples.values.tolist() == SIZES
    assert curves.attrs["subridge_version"] == sr.__version__
    description = json.loads(curves.attrs["experiment"])
    assert description["problem"]["signal_covariance"]["decay"] == 0.6
    assert description["seed"] == 0
    assert json.loads(curves.attrs["subset_sizes"]) == [15, 25]


def test_without_a_sweep_there_is_no_ridge_dimension():
    curves = sr.simulate(problem(), ensemble(ridge=[0.1, 0.2]), SIZES, 2, progress=False)
    assert curves.risk.dims == ("trial", "n_samples")


def test_the_risk_is_the_mean_of_the_pairs():
    curves = simulate(pairs=True)
    np.testing.assert_allclose(curves.pairs.mean(("member", "other_member")), curves.risk, rtol=1e-12)


def test_more_trials_keep_the_earlier_ones():
    np.testing.assert_array_equal(simulate(6).risk[:3], simulate(3).risk)


def test_another_seed_gives_other_numbers():
    assert not np.isclose(simulate(seed=0).risk, simulate(seed=1).risk).any()


@pytest.mark.parametrize("block", [1, 4, 6])
def test_the_size_of_a_task_changes_nothing(block):
    assert simulate(run=sr.Run(block=block)).equals(simulate())


@pytest.mark.torch
@pytest.mark.parametrize("redraw", [("data",), ("data", "teacher")])
def test_on_torch_the_batch_changes_risks_by_rounding_only(redraw):
    pytest.importorskip("torch")
    one, all_ = (
        simulate(ridges=[1e-3, 0.1], redraw=redraw, run=sr.Run(device="torch", block=block)) for block in (1, 6)
    )
    np.testing.assert_allclose(one.risk, all_.risk, rtol=1e-10)


@pytest.mark.torch
def test_drawn_data_are_bit_identical_whatever_the_batch():
    pytest.importorskip("torch")
    from subridge.simulation.gaussian import GaussianExperiment
    from subridge.simulation.training import draw_batch

    for device in ("cpu", "torch"):
        experiment = GaussianExperiment(problem(), ensemble(), tuple(SIZES), 5, M, seed=3, device=device)
        together = draw_batch(experiment, [0, 1, 2, 3], 60)
        alone = draw_batch(experiment, [2], 60)
        for name in ("features", "labels", "readout"):
            a, b = np.asarray(getattr(together, name)[2]), np.asarray(getattr(alone, name)[0])
            if device == "cpu" or name != "labels":  # labels pass through a product, whose order may differ
                assert a.tobytes() == b.tobytes()
            else:
                np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


def test_data_that_are_not_redrawn_stay_the_same():
    strategy = sr.Ensemble(sr.subsets.Equal(2), readout_noise=0.1)
    options = {"ridges": [0.1], "progress": False}
    fixed = sr.simulate(problem(), strategy, SIZES, 3, redraw=(), **options)
    np.testing.assert_array_equal(fixed.risk[0], fixed.risk[1])
    subsets = sr.simulate(problem(), strategy, SIZES, 3, redraw=("subsets",), **options)
    assert not np.isclose(subsets.risk[0], subsets.risk[1]).any()
    assert fixed.attrs["subsets_drawn"] == "once"


def test_a_fixed_teacher_of_an_equicorrelated_problem_is_the_same_in_every_trial():
    equicorrelated = sr.EquicorrelatedProblem(label_noise=0.1)
    plan = sr.Ensemble(sr.subsets.equal(1, M, seed=0), ridge=1e8)
    fixed, redrawn = (
        sr.simulate(equicorrelated, plan, [5], 4, redraw=words, progress=False).risk.values.ravel()
        for words in (("data",), ("data", "teacher"))
    )
    # Under a huge ridge the risk is the teacher's own power.
    assert np.ptp(fixed) < 1e-6 < np.ptp(redrawn)


@pytest.mark.parametrize("ridge", [1e-3, 1e-1])
def test_single_precision_is_off_by_no_more_than_its_stated_error(ridge):
    single, double = (simulate(ridges=[ridge], dtype=dtype).risk for dtype in ("float32", "float64"))
    deviation = float(abs(single / double - 1).max())
    assert 1e-9 < deviation < 3 * (1e-7 / ridge + 5e-7)  # above nothing: it is single precision indeed


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"n_samples": [20, 10]}, sr.errors.ParameterError, "ascending"),
        ({"n_samples": range(2000, 0, -1)}, sr.errors.ParameterError, "got 2000, 1999, 1998, 1997, 1996 and 1995 more"),
        ({"n_samples": [0, 10]}, sr.errors.ParameterError, "positive"),
        ({"n_samples": [2.5]}, sr.errors.ParameterError, "n_samples"),
        ({"n_trials": 0}, sr.errors.ParameterError, "n_trials"),
        ({"ridges": [-1.0]}, sr.errors.RidgeError, "at least 0"),
        ({"ridges": [[1.0, 2.0, 3.0]]}, sr.errors.ParameterError, "ridges must have shape"),
        ({"dtype": "int8"}, sr.errors.ParameterError, "dtype"),
        ({"ensemble": ensemble(aggregation="median")}, sr.errors.ParameterError, "weighted sums only"),
        ({"nested": "no"}, sr.errors.ParameterError, "nested must be True or False"),
        ({"weights_from": "nowhere"}, sr.errors.ParameterError, "weights_from must be"),
        (
            {"redraw": ("labels",)},
            sr.errors.ParameterError,
            'redraw must be "data", "teacher" or "subsets", got \'labels\'',
        ),
        ({"redraw": ("subsets",)}, sr.errors.SubsetError, "strategy"),
        ({"n_features": 41}, sr.errors.ParameterError, "contradicts"),
        ({"ensemble": sr.Ensemble([0.5])}, sr.errors.SubsetError, "SubsetPlan"),
        ({"ensemble": sr.Ensemble(sr.subsets.equal(1, 30, seed=0))}, sr.errors.SubsetError, "30 features"),
        ({"ensemble": 3}, sr.errors.ParameterError, "Ensemble"),
        ({"problem": 3}, sr.errors.ParameterError, "Problem"),
        ({"problem": sr.Problem(np.eye(M), np.ones(M), label_noise=[0.1, 0.2])}, sr.errors.ParameterError, "scalar"),
    ],
)
def test_bad_input_is_named_with_its_remedy(change, error, words):
    arguments = {"problem": problem(), "ensemble": ensemble(), "n_samples": SIZES, "n_trials": 2} | change
    with pytest.raises(error, match=words):
        sr.simulate(**arguments, progress=False)


def test_an_equicorrelated_problem_needs_a_size():
    with pytest.raises(sr.errors.ParameterError, match="n_features="):
        sr.simulate(sr.EquicorrelatedProblem(), sr.Ensemble(sr.subsets.Equal(2)), SIZES, 2, progress=False)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"device": "abacus"}, sr.errors.DeviceError, "abacus"),
        ({"device": "cuda:first", "scheduler": "tcp://x:1"}, sr.errors.DeviceError, "cuda:<number>"),
        ({"memory": 0}, sr.errors.ParameterError, "memory"),
        ({"executor": "many"}, sr.errors.ParameterError, "executor must be None, a number of processes, a concurrent"),
        ({"executor": 1.5}, sr.errors.ParameterError, "executor must be None"),
        ({"executor": 0}, sr.errors.ParameterError, "executor must be a positive integer"),
        ({"executor": True}, sr.errors.ParameterError, "executor must be a positive integer"),
        ({"executor": 2, "scheduler": "tcp://x:1"}, sr.errors.ParameterError, "not both"),
    ],
)
def test_a_bad_run_is_refused_when_it_is_built(options, error, words):
    with pytest.raises(error, match=words):
        sr.Run(**options)


def test_a_machine_without_a_card_can_drive_workers_that_have_one(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(sr.errors.DeviceError, match="needs PyTorch"):
        sr.Run(device="cuda")
    with pytest.raises(sr.errors.DeviceError, match="needs PyTorch"):
        sr.Run(device="cuda", executor=2)
    assert sr.Run(device="cuda:1", scheduler="tcp://x:1").device == "cuda:1"


def test_a_device_that_is_not_where_the_tasks_run_is_named_by_the_task(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with ThreadPoolExecutor(1) as pool, pytest.raises(sr.errors.DeviceError, match="needs PyTorch"):
        simulate(run=sr.Run(device="cuda", executor=pool))
