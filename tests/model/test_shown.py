"""How descriptions and results are shown."""

import inspect

import numpy as np
import pytest

import subridge as sr

PLAN = sr.subsets.equal(3, 2000, seed=0)
SHOWN = [
    PLAN,
    sr.Ensemble(PLAN, ridge=[0.1, 0.2, 0.3]),
    sr.Ensemble([0.5, 0.5]),
    sr.Problem(np.eye(300), np.ones(300)),
    sr.EquicorrelatedProblem(correlation=np.linspace(0, 1, 50)),
    sr.covariance.dense(np.eye(300)),
    sr.risk(sr.EquicorrelatedProblem(), sr.Ensemble([0.5]), np.linspace(0.1, 2, 40)),
]


@pytest.mark.parametrize("thing", SHOWN, ids=lambda thing: type(thing).__name__)
def test_what_holds_large_arrays_is_shown_in_one_short_line(thing):
    text = repr(thing)
    assert text.startswith(type(thing).__name__)
    assert "\n" not in text
    assert len(text) < 260


def test_a_notebook_shows_a_table_with_escaped_text():
    html = sr.Ensemble(PLAN)._repr_html_()
    assert html.startswith("<table>")
    assert html.count("<tr>") == len(sr.Ensemble(PLAN)._shown())
    assert "&lt;" in sr.Ensemble(Odd(2))._repr_html_()


class Odd(sr.subsets.Equal):
    """A strategy whose text must not become markup."""

    def __repr__(self):
        return "<script>"


def test_sizes_of_members_are_shown():
    assert "subset_sizes=[667, 667, 666]" in repr(PLAN)
    assert "subset_sizes=10 each" in repr(sr.subsets.equal(20, 200, seed=0))


@pytest.mark.parametrize("name", [name for name in dir(sr) if callable(getattr(sr, name))])
def test_signatures_are_short_enough_to_read(name):
    assert "_Buffer" not in str(inspect.signature(getattr(sr, name)))


def test_a_risk_with_named_axes_is_a_dataset_and_a_picture():
    ratios, ridges = [0.2, 0.6, 1.0], [0.1, 1.0]
    found = sr.risk(sr.EquicorrelatedProblem(), sr.Ensemble([0.5, 0.5]), ratios, ridges=ridges)
    named = found.to_dataset(ridge=ridges, sample_ratio=ratios)
    assert float(named.risk.sel(ridge=1.0, sample_ratio=0.6)) == found.total[1, 1]
    assert named.pairs.dims == ("ridge", "sample_ratio", "member", "other_member")
    assert len(found.plot(ridge=ridges, sample_ratio=ratios)) == 2
    assert found.to_dataset().risk.dims == ("axis_0", "axis_1")
    assert len(sr.figures.plot_curve(named).axes[0].lines) == 2
    with pytest.raises(sr.errors.ParameterError, match="got Risk; its method to_dataset"):
        sr.figures.plot_curve(found)
    with pytest.raises(sr.errors.ParameterError, match="must name the axes of total"):
        found.to_dataset(sample_ratio=ratios)


@pytest.mark.parametrize("name", ["risk", "pairs", "error_bound", "member", "other_member"])
def test_an_axis_of_a_risk_has_a_name_of_its_own(name):
    found = sr.risk(sr.EquicorrelatedProblem(), sr.Ensemble([0.5, 0.5]), [0.2, 0.6])
    with pytest.raises(sr.errors.ParameterError, match="other names than risk, pairs, error_bound, member"):
        found.to_dataset(**{name: [0.2, 0.6]})
