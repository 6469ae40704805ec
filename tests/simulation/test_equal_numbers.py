"""Where and how tasks run changes no number beyond the tolerance that docs/how-to/trust-a-store.md states."""

import multiprocessing
import os
import subprocess
import sys
import textwrap
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor

import subridge as sr


def simulate(n_trials=6, **options):
    problem = sr.Problem(sr.covariance.autoregressive(300, 0.5), np.ones(300), label_noise=0.1)
    ensemble = sr.Ensemble(sr.subsets.equal(3, 300, seed=0), readout_noise=0.1)
    run = sr.Run(**options)
    return sr.simulate(problem, ensemble, [50, 150, 400], n_trials, ridges=[1e-3, 0.1], run=run, progress=False)


@pytest.fixture(scope="module")
def alone():
    return simulate(threads=1)


@pytest.mark.parametrize("options", [{"block": 1}, {"block": 4}, {"memory": 2**25}])
def test_blocks_and_budgets_leave_every_bit(alone, options):
    assert simulate(threads=1, **options).identical(alone)


def test_threads_leave_every_bit(alone, tmp_path):
    with ThreadPoolExecutor(2) as pool:
        assert simulate(executor=pool, block=1).identical(alone)
        assert simulate(4, executor=pool, block=1, store=tmp_path).identical(
            alone.isel(trial=slice(4)).assign_attrs(simulate(4, threads=1).attrs)
        )
        assert simulate(executor=pool, store=tmp_path).identical(alone)  # resumed


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["own", "standard", "loky"])
def test_processes_leave_every_bit(alone, kind):
    if kind == "own":
        assert simulate(threads=1, executor=2, block=1).identical(alone)
    elif kind == "standard":
        with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
            assert simulate(executor=pool, block=1).identical(alone)
    else:
        pool = get_reusable_executor(2)
        assert simulate(executor=pool, block=1).identical(alone)
        assert pool.submit(abs, -1).result() == 1  # it stays open
        pool.shutdown()


@pytest.mark.slow
def test_a_cluster_leaves_every_bit(alone):
    distributed = pytest.importorskip("distributed")
    options = {"processes": False, "dashboard_address": ":0", "silence_logs": 50}
    with distributed.LocalCluster(1, threads_per_worker=1, **options) as cluster, distributed.Client(cluster) as client:
        assert simulate(executor=client, block=1).identical(alone)


@pytest.mark.slow
def test_threads_of_blas_change_risks_by_rounding_only(alone):
    body = """
    import numpy as np, subridge as sr
    problem = sr.Problem(sr.covariance.autoregressive(300, 0.5), np.ones(300), label_noise=0.1)
    ensemble = sr.Ensemble(sr.subsets.equal(3, 300, seed=0), readout_noise=0.1)
    found = sr.simulate(problem, ensemble, [50, 150, 400], 2, ridges=[1e-3, 0.1], run=sr.Run(threads=4), progress=False)
    print(found.risk.values.tobytes().hex())
    """
    threads = {"OMP_NUM_THREADS": "4", "OPENBLAS_NUM_THREADS": "4"}
    command = [sys.executable, "-c", textwrap.dedent(body)]
    told = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | threads).stdout
    found = np.frombuffer(bytes.fromhex(told.strip())).reshape(2, 2, 3)
    np.testing.assert_allclose(found, alone.risk[:2], rtol=1e-10)
