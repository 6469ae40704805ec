"""What does not fit into memory is refused by an estimate before the work, not ended by the system."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse

import subridge as sr
from subridge.model.errors import BudgetError

WIDE = scipy.sparse.csr_array((np.ones(30), (np.arange(30), np.arange(30))), shape=(30, 3 * 10**5))


def long(rows=3 * 10**6):
    return scipy.sparse.csr_array((np.ones(rows), np.arange(rows) % 30, np.arange(rows + 1)), (rows, 3 * 10**5))


@pytest.mark.parametrize(
    "call",
    [
        lambda: sr.risk(sr.EquicorrelatedProblem(), sr.Ensemble(np.full(2000, 5e-4), ridge=0.1), np.ones(10**5)),
        lambda: sr.phase_diagram(np.linspace(0.1, 1, 10**6), readout_nsr=np.linspace(0, 1, 10**6)),
        lambda: sr.covariance.power_law(10**7, 1.0, seed=0),
        lambda: sr.RidgeEnsembleRegressor(1).partial_fit(WIDE, np.arange(30.0)),
        lambda: sr.forecast(long(), np.arange(3e6), [10**7]),
    ],
)
def test_what_no_machine_has_is_refused(call):
    with pytest.raises(
        BudgetError, match=r"needs about [\d,.]+ GiB of memory, and only [\d,.]+ GiB are free; .*take fewer"
    ):
        call()


LIMITED = """
import gzip, resource, sys
import numpy as np, subridge as sr
from subridge.model.errors import BudgetError

rng = np.random.default_rng(0)
X = rng.standard_normal((3000, 40))
y = X[:, 0] + rng.standard_normal(3000)
sr.forecast(X[:50], y[:50], [100])
folder = sys.argv[1]
with gzip.open(folder + "/bomb.csv.gz", "wb", 1) as file:
    file.write(b"a,y\\n" + b"1,2\\n" * 10**7)
np.savez_compressed(folder + "/bomb.npz", X=np.zeros((10**5, 100)), y=np.zeros(10**5))
used = 4096 * int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (used + 10**8, -1))
calls = [
    lambda: sr.forecast(X, y, [6000], {"many": sr.Ensemble(sr.subsets.Overlapping((20,) * 800), ridge=1.0)}),
    lambda: sr.advise(X, y, ensembles={"many": sr.Ensemble(sr.subsets.Overlapping((20,) * 800), ridge=1.0)}),
    lambda: sr.datasets.read_table(folder + "/bomb.csv.gz", "y"),
    lambda: sr.datasets.read_table(folder + "/bomb.npz"),
]
for call in calls:
    try:
        call()
    except BudgetError as error:
        print("refused:", error)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit on the addresses of a process")
def test_a_limit_on_memory_is_respected(tmp_path):
    done = subprocess.run([sys.executable, "-c", LIMITED, str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("refused:") == 4, done.stdout + done.stderr
