"""Numbers behind every figure at quick settings, held fixed.

When a change of numbers is meant, write them anew with ``python tests/figures/test_golden.py`` and say so in the
change log.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import subridge as sr

DATA = Path(__file__).parents[1] / "data" / "figures"
# Errors that count votes move in steps, by the rounding of another machine; scikit-learn's votes hold them instead.
VOTES = {"fig3d", "fig3e", "fig4e", "fig4f", "figS1", "figS2", "figS3", "figS4", "figS5"}
# Every other figure as published, and what has a caption variant of its own.
CASES = [(figure, "published") for figure in sr.figures.figure_ids() if figure not in VOTES]
CASES += [("fig1b", "caption"), ("fig3c", "caption")]
QUICK = {("fig1b", "published"), ("fig3a", "published"), ("fig3b", "published"), ("fig4a", "published")}
# Differences of near-equal numbers and flags made from them: their inputs are held instead.
DERIVED = {"z", "logged_z", "allowance", "agrees", "boundary_before_end"}


def selected(dataset):
    """Shape, six values and the mean of the finite ones, for every variable."""
    found = {}
    for name, array in sorted(dataset.variables.items()):
        if name in DERIVED or array.dtype.kind not in "fiu":
            continue
        values = array.values.astype(float).ravel()
        places = np.linspace(0, values.size - 1, min(6, values.size)).round().astype(int)
        finite = values[np.isfinite(values)]
        found[name] = {
            "shape": list(array.shape),
            "values": [None if not np.isfinite(v) else float(v) for v in values[places]],
            "mean": float(finite.mean()) if finite.size else None,
        }
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("figure", "variant"), [pytest.param(*case, marks=() if case in QUICK else pytest.mark.slow) for case in CASES]
)
def test_numbers_of_a_figure_do_not_change(figure, variant, quick_figure):
    expected = json.loads((DATA / f"{figure}-{variant}.json").read_text())
    found = selected(quick_figure(figure, variant).dataset)
    assert found.keys() == expected.keys()
    for name, numbers in expected.items():
        assert found[name]["shape"] == numbers["shape"], name
        # Trained weights at the threshold carry rounding times the condition number, about 1e6 here.
        for kind in ("values", "mean"):
            mine, theirs = (np.array(n[kind], dtype=float) for n in (found[name], numbers))
            np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-12, err_msg=f"{figure} {name} {kind}")


def test_a_changed_number_is_noticed(quick_figure):
    dataset = quick_figure("fig4a").dataset.copy(deep=True)
    before = selected(dataset)
    dataset["reduced_risk"] *= 1.00001
    assert selected(dataset) != before


if __name__ == "__main__":
    DATA.mkdir(parents=True, exist_ok=True)
    for figure, variant in CASES:
        made = sr.figures.reproduce(figure, quick=True, settings=variant)
        (DATA / f"{figure}-{variant}.json").write_text(json.dumps(selected(made.dataset), indent=1) + "\n")
