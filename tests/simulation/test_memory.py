"""Memory is planned before anything is drawn."""

import importlib.util
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import subridge as sr
from subridge.simulation import run as run_module
from subridge.simulation.classification import make_classification
from subridge.simulation.gaussian import GaussianExperiment
from subridge.simulation.memory import bytes_of_arrays, bytes_of_member, bytes_of_votes, bytes_per_trial
from subridge.simulation.run import Job
from subridge.simulation.simulate import CLASSIFICATION, GAUSSIAN


def experiment(device="cpu", M=200, n_trials=20, sizes=(100, 400)):
    problem, ensemble = sr.Problem(sr.covariance.isotropic(M), np.ones(M)), sr.Ensemble(sr.subsets.equal(2, M, seed=0))
    return GaussianExperiment(problem, ensemble, sizes, n_trials, M, np.array([0.1, 1.0]), device=device)


def test_a_problem_that_cannot_fit_says_so_before_it_starts():
    with pytest.raises(sr.errors.BudgetError, match=r"one trial needs about .* MiB .* raise Run\(memory=\)"):
        sr.simulate(
            sr.Problem(sr.covariance.isotropic(200), np.ones(200)),
            sr.Ensemble(sr.subsets.equal(2, 200, seed=0)),
            [400],
            10**7,  # would take for ever if it started
            run=sr.Run(memory=10_000),
            progress=False,
        )


def test_processes_share_the_budget():
    needed = bytes_per_trial(experiment()) + bytes_of_arrays(experiment())  # each has its own copy of the description
    assert Job(GAUSSIAN, experiment(), 2 * needed, n_processes=2).plan() == 1
    with pytest.raises(sr.errors.BudgetError, match=r"a process may use .* \(2 in all\)"):
        Job(GAUSSIAN, experiment(), 2 * needed - 2, n_processes=2).plan()


def test_memory_is_counted_where_the_tasks_run(monkeypatch):
    counted = []

    def free_memory(device):
        counted.append(device)
        return 10**9

    monkeypatch.setattr(run_module, "free_memory", free_memory)
    problem, ensemble = sr.EquicorrelatedProblem(), sr.Ensemble(sr.subsets.equal(2, 20, seed=0))
    arguments = {"n_samples": [10], "n_trials": 4, "progress": False}
    here = sr.simulate(problem, ensemble, **arguments, run=sr.Run(block=1))
    assert counted == ["cpu"]  # once for all tasks of this machine
    with ThreadPoolExecutor(1) as pool:
        there = sr.simulate(problem, ensemble, **arguments, run=sr.Run(block=1, executor=pool))
    assert counted == ["cpu"] * 5  # and again in every task that ran elsewhere
    assert there.identical(here)


@pytest.mark.torch
def test_the_batch_grows_with_the_budget_up_to_all_trials():
    pytest.importorskip("torch")
    needed = bytes_per_trial(experiment("torch"))
    assert Job(GAUSSIAN, experiment("torch"), 7 * needed).plan() == 7
    assert Job(GAUSSIAN, experiment("torch"), 70 * needed).plan() == 20


def peak_of(work):
    import tracemalloc

    work()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def gaussian(M=400, sizes=(200, 800), k=2, subsets=None, covariance=None, noises=0.0, **options):
    problem = sr.Problem(covariance or sr.covariance.isotropic(M), np.ones(M), options.pop("noise", None))
    ensemble = sr.Ensemble(subsets or sr.subsets.equal(k, M, seed=0), readout_noise=noises)
    return GaussianExperiment(problem, ensemble, sizes, 1, M, np.array([0.1, 1.0]), **options)


many = tuple(range(20, 420, 20))
SETTINGS = {
    "plain": lambda: gaussian(800),
    "low rank": lambda: gaussian(600, covariance=sr.covariance.low_rank(np.ones((600, 2)), np.ones(600))),
    "dense": lambda: gaussian(900, covariance=sr.covariance.dense(np.eye(900))),
    "feature noise": lambda: gaussian(600, noise=np.eye(600)),
    "single precision": lambda: gaussian(900, dtype="float32"),
    "pairs": lambda: gaussian(800, many, 8, pairs=True),
    "noise sweep": lambda: gaussian(900, many, 3, noises=np.linspace(0, 1, 9)[:, None]),
    "noise sweep by member": lambda: gaussian(900, many, 4, noises=np.random.default_rng(0).random((9, 4))),
    "projections": lambda: gaussian(600, subsets=sr.subsets.Projection((500,) * 6)),
}

QUICK = ("low rank", "pairs", "noise sweep by member")


@pytest.mark.parametrize(
    "setting", [each if each in QUICK else pytest.param(each, marks=pytest.mark.slow) for each in SETTINGS]
)
def test_the_estimate_covers_what_a_trial_really_takes(setting):
    make = SETTINGS[setting]

    def work():
        Job(GAUSSIAN, make())([0])

    assert 0.3 * bytes_per_trial(make()) < peak_of(work) <= bytes_per_trial(make())


def benchmark():
    place = Path(__file__).parents[2] / "benchmarks" / "trust" / "memory.py"
    spec = importlib.util.spec_from_file_location("memory_benchmark", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


HELD = ("isotropic", "feature noise", "pairs, 8 members", "weights by theory", "classification, noise")
MEASURED = json.loads(benchmark().RESULTS.read_text())


@pytest.mark.parametrize(
    "setting", [each if each in HELD else pytest.param(each, marks=pytest.mark.slow) for each in benchmark().SETTINGS]
)
def test_a_plan_is_the_one_that_was_held_against_real_runs(setting):
    # Whoever changes how memory is counted measures it again: benchmarks/trust/memory.py --write.
    module, measured = benchmark(), MEASURED[setting]
    assert module.planned(module.SETTINGS[setting]()) == measured["planned"]
    assert 0.3 <= measured["real"] / measured["planned"] <= 1


def test_the_estimate_covers_what_votes_really_take():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((1500, 700)), np.arange(1500) % 5
    several = [sr.Ensemble(sr.subsets.Equal(k), readout_noise=[[0.0], [0.5]], aggregation="majority") for k in (1, 3)]
    data = (X[:1000], y[:1000], X[1000:], y[1000:])

    def made():
        return make_classification(data, several, [200, 800], 1, ridges=[0.1])

    whole = made()
    peak = peak_of(lambda: Job(CLASSIFICATION, whole)([0]))
    assert 0.3 * CLASSIFICATION.bytes_needed(whole) < peak <= CLASSIFICATION.bytes_needed(whole)


def test_memory_that_runs_out_is_a_budget_error(monkeypatch):
    def greedy(*_):
        raise MemoryError

    job = Job(GAUSSIAN._replace(run_trials=greedy), experiment())
    with pytest.raises(sr.errors.BudgetError, match="memory ran out during a trial; use fewer processes where"):
        job([0])


def test_half_of_what_is_free_is_used(monkeypatch):
    needed = bytes_per_trial(experiment())
    for free, fits in ((2 * needed, True), (2 * needed - 2, False)):
        monkeypatch.setattr(run_module, "free_memory", lambda _, free=free: free)
        job = Job(GAUSSIAN, experiment())
        if fits:
            assert job.memory_here() == needed
            assert job.plan() == 1
        else:
            with pytest.raises(sr.errors.BudgetError):
                job.plan()


def on(device, n_ridges=1, dtype="float64", sizes=(100, 400), k=2):
    made = experiment(device, sizes=sizes)
    ensemble = sr.Ensemble(sr.subsets.equal(k, 200, seed=0))
    return replace(made, ridges=np.geomspace(0.1, 1.0, n_ridges), dtype=dtype, ensemble=ensemble)


def test_a_card_holds_the_factors_of_all_ridges_at_once():
    one, ten = (bytes_per_trial(on("cuda", n, sizes=(400,), k=1)) for n in (1, 10))
    here = [bytes_per_trial(on("cpu", n, sizes=(400,), k=1)) for n in (1, 10)]
    factor = 8 * 200**2  # of one member of 200 features, in double precision
    assert one == here[0]
    # A factor and a copy for each ridge, and what is not counted.
    assert 2 * 9 * factor < (ten - one) - (here[1] - here[0]) < 2.4 * 9 * factor


def test_single_precision_is_drawn_in_double_precision_here_and_not_on_a_card():
    drawn = 8 * 400 * 200
    assert bytes_per_trial(on("cpu", dtype="float32")) - bytes_per_trial(on("cuda", dtype="float32")) == drawn
    assert bytes_per_trial(on("cuda", dtype="float32")) < bytes_per_trial(on("cuda"))


def test_a_card_trains_as_many_trials_at_once_as_fit():
    card = on("cuda")
    needed = bytes_per_trial(card)
    assert [GAUSSIAN.plan(card, budget) for budget in (needed, 2 * needed - 1, 7 * needed, 10**12)] == [1, 1, 7, 20]
    assert GAUSSIAN.plan(on("cpu"), 10**12) == 1


def votes(device="cpu", n=400, n_test=100, M=60, *, noises=(0.0,), aggregation="majority", **options):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n + n_test, M)), np.arange(n + n_test) % 5
    several = [
        sr.Ensemble(sr.subsets.Equal(k), readout_noise=np.array(noises)[:, None], aggregation=aggregation)
        for k in (1, 3)
    ]
    return make_classification(
        (X[:n], y[:n], X[n:], y[n:]), several, [50, 200], 30, ridges=[0.1, 1.0], device=device, **options
    )


def test_votes_take_a_count_and_a_sum_for_every_case():
    entries = 2 * 2 * 5 * 100  # ridges, sizes, classes, test samples
    assert bytes_of_votes(votes()) == entries * (4 + 8)  # counts of 4 bytes, sums of scores of 8
    assert bytes_of_votes(votes(aggregation="sum")) == entries * 8
    # With noise every value of it has its own counts, and what noise adds to a sum is kept beside the sum.
    assert bytes_of_votes(votes(noises=(0.0, 0.5, 1.0))) == entries * (3 * 4 + 2 * 8)
    assert bytes_of_votes(votes(noises=(0.0, 0.5, 1.0), test_draws=2)) == 2 * entries * (3 * 4 + 2 * 8)


def test_a_budget_is_divided_between_votes_and_members():
    here, card = votes(), votes("cuda")
    needed = CLASSIFICATION.bytes_needed(here)
    member = bytes_of_member(here, 60)
    assert CLASSIFICATION.plan(here, needed) == (1, member)
    assert CLASSIFICATION.plan(here, needed + 1000) == (1, member + 1000)
    assert CLASSIFICATION.plan(here, 2**40) == (1, 2**27)
    assert CLASSIFICATION.plan(card, 2**40) == (30, 2**34)
    # Half of what the data leave goes to votes of several trials, the rest to members.
    data, per_trial = (
        CLASSIFICATION.bytes_needed(card) - bytes_of_member(card, 60) - bytes_of_votes(card),
        bytes_of_votes(card),
    )
    budget = data + 2 * 7 * per_trial
    trials, members = CLASSIFICATION.plan(card, budget)
    assert (trials, members) == (7, max(bytes_of_member(card, 60), 7 * per_trial))
    assert CLASSIFICATION.plan(card, data)[0] == 1
    member = bytes_of_member(card, 60)
    assert CLASSIFICATION.plan(card, data + 60 * per_trial + 2 * member) == (30, 30 * per_trial + 2 * member)


def test_data_are_copied_for_a_card_and_for_single_precision_only():
    def data(experiment):
        return CLASSIFICATION.bytes_needed(experiment) - bytes_of_member(experiment, 60) - bytes_of_votes(experiment)

    labels = 400 * 5
    assert data(votes()) == 2 * 8 * labels
    assert data(votes("cuda")) == 8 * 500 * 60 + 2 * 8 * labels
    assert data(votes(dtype="float32")) == 4 * 500 * 60 + (4 + 8) * labels


def test_a_card_holds_members_of_all_ridges_and_some_refined_ones():
    here, card = bytes_of_member(votes(), 60), bytes_of_member(votes("cuda"), 60)
    one_more_ridge = 8 * 2 * 60**2  # a factor and its copy
    refined = 8 * (60**2 + 5 * 5 * (60 + 200))
    assert card - here == pytest.approx(1.15 * (one_more_ridge + refined), abs=1)


def test_projections_are_held_once_while_they_are_drawn():
    def work():
        return sr.subsets.projection([100] * 10, 600, seed=0)

    size = sum(A.nbytes for A in work().measurements)
    assert peak_of(work) < 1.7 * size


def test_a_plan_keeps_its_matrices_whatever_becomes_of_those_it_was_given():
    matrix = np.eye(3)
    view = matrix[:2]
    view.setflags(write=False)
    plan = sr.SubsetPlan.from_matrices([matrix, view])
    matrix[:] = 7.0
    np.testing.assert_array_equal(plan.measurements[0], np.eye(3))
    np.testing.assert_array_equal(plan.measurements[1], np.eye(3)[:2])
    kept = sr.SubsetPlan(plan.measurements, 3).measurements
    assert all(A is B for A, B in zip(kept, plan.measurements, strict=True))
    bad = np.array([[np.inf, 1.0, 2.0]])
    bad.setflags(write=False)
    with pytest.raises(sr.errors.DataError, match=r"matrices\[0\] contains infinity"):
        sr.SubsetPlan.from_matrices([bad])


def test_results_that_do_not_fit_are_refused_before_anything_runs(monkeypatch):
    monkeypatch.setattr("subridge.model.checks.available_memory", lambda: 2**30)
    problem, ensemble = sr.EquicorrelatedProblem(), sr.Ensemble(sr.subsets.Equal(2))
    with pytest.raises(sr.errors.BudgetError, match=r"result of 1,000,000 trials.* GiB are free; ask for fewer"):
        sr.simulate(problem, ensemble, range(1, 101), 10**6, ridges=np.geomspace(0.1, 1, 10), n_features=10)


def test_members_that_are_alike_are_counted_once(monkeypatch):
    from subridge.simulation import memory

    planned, real = [], memory.plan_curve

    def watched(*arguments, **options):
        planned.append(arguments)
        return real(*arguments, **options)

    monkeypatch.setattr(memory, "plan_curve", watched)
    bytes_per_trial(gaussian(60, (20, 40), subsets=sr.subsets.equal(8, 60, seed=0)))
    assert len(planned) == 2  # members of seven and of eight features


def test_results_that_do_not_fit_into_memory_are_refused_before_a_trial():
    ensemble = sr.Ensemble(sr.subsets.Equal(2))
    with pytest.raises(sr.errors.BudgetError, match=r"the result of 10,000,000 trials, .* needs about [\d,.]+ GiB"):
        sr.simulate(sr.EquicorrelatedProblem(), ensemble, range(1, 101), 10**7, ridges=[0.1, 1.0], n_features=10)
