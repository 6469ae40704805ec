"""Groups on the command line."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import subridge as sr
from subridge.cli import main


def call(*words, code=0):
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exit_code == code, result.output + repr(result.exception)
    return result


@pytest.fixture
def visits(tmp_path):
    """Rows of 30 subjects, some without label, written as text."""
    rng = np.random.default_rng(0)
    subject = np.repeat(np.arange(30), 4)
    X = rng.standard_normal((30, 6))[subject] + rng.standard_normal((120, 6))
    y = X.sum(axis=1) + rng.standard_normal(30)[subject] + 0.3 * rng.standard_normal(120)
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(6)]).assign(
        y=[None if i in (3, 77) else value for i, value in enumerate(y)],
        kind=np.where(y > 0, "high", "low"),
        subject=[f"s{number}" for number in subject],
        gaps=[None if i == 5 else i % 7 for i in range(120)],
        same="one",
    )
    frame.to_csv(tmp_path / "visits.csv", index=False)
    return tmp_path / "visits.csv"


WORDS = ("--target", "y", "--unlabelled", "drop", "--drop", "kind", "--drop", "gaps", "--drop", "same")


@pytest.mark.filterwarnings("ignore::subridge.model.errors.RidgePathWarning")
def test_sizes_are_rows_or_groups_and_errors_those_of_the_library(visits):
    words = (*WORDS, "--groups", "subject", "--n-members", 2, "--ridges", "0.1,1,10", "--json")
    found = json.loads(call("forecast", visits, *words, "--n-groups", "30,60").stdout)
    frame = pd.read_csv(visits).dropna(subset="y")
    X, y = frame[[f"x{i}" for i in range(6)]].to_numpy(), frame["y"].to_numpy()
    expected = sr.forecast(
        X, y, None, {"one": sr.Ensemble(sr.subsets.Equal(1))}, ridges=[0.1, 1, 10],
        groups=frame["subject"].tolist(), n_groups=[30, 60],
    )  # fmt: skip
    assert found["variables"]["prediction_error"]["values"][0] == pytest.approx(expected.prediction_error.values[0])
    by_rows = json.loads(call("forecast", visits, *words, "--n-samples", "118,236").stdout)
    assert by_rows["variables"]["prediction_error"]["values"] == found["variables"]["prediction_error"]["values"]


def test_a_forecast_by_groups_says_what_it_speaks_of(visits, tmp_path):
    result = call("forecast", visits, *WORDS, "--groups", "subject", "--n-groups", "30,240", "--n-members", 2)
    assert "118 rows in 30 groups, 6 features" in result.stderr
    assert all(word in result.stdout for word in ("groups", "240", "new groups", "independent ones"))
    call("forecast", visits, *WORDS, "--groups", "subject", "--n-members", 2, "--out", tmp_path / "curve.png")
    assert (tmp_path / "curve.png").stat().st_size > 1000


def test_classes_by_groups_have_their_wrong_votes(visits):
    words = ("--target", "kind", "--drop", "y", "--drop", "gaps", "--drop", "same", "--groups", "subject")
    assert "misclassification" in call("forecast", visits, *words, "--n-groups", "30", "--n-members", 2).stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [(("--groups", "subjct"), "did you mean 'subject'"),
     (("--groups", "y"), "target y is named twice; name it once in --target, and not in --drop or --groups"),
     (("--groups", "gaps"), "but 'gaps' lacks 1 of 118"), (("--groups", "same"), "--groups has one group only"),
     (("--n-groups", "30"), "--n-groups needs --groups"),
     (("--groups", "subject", "--n-groups", "30", "--n-samples", "60"), "give one of them"),
     (("--groups", "subject", "--target-error", "0.5"), "--target-error is searched for independent rows")],
)  # fmt: skip
def test_mistakes_are_named_with_their_flags(visits, words, message):
    result = CliRunner().invoke(
        main, ["forecast", str(visits), *WORDS, "--drop", "subject", *words, "--n-members", "2"]
    )
    assert result.exit_code in (1, 2)
    assert isinstance(result.exception, SystemExit)
    assert message in result.stderr


def test_arrays_beside_x_name_groups(tmp_path):
    rng = np.random.default_rng(0)
    X, y, subject = rng.standard_normal((40, 3)), rng.standard_normal(40), np.arange(40) // 4
    np.savez(tmp_path / "data.npz", X=X, y=y, subject=subject, short=subject[:5])
    table = sr.datasets.read_table(tmp_path / "data.npz", groups="subject")
    np.testing.assert_array_equal(table.groups, subject)
    for name in ("short", "absent"):
        with pytest.raises(sr.errors.DataError, match="groups"):
            sr.datasets.read_table(tmp_path / "data.npz", groups=name)


@pytest.mark.slow
def test_advice_by_groups_is_that_of_the_library(visits):
    result = call("advise", visits, *WORDS, "--groups", "subject", "--n-members", 2, "--json")
    found = json.loads(result.stdout)
    frame = pd.read_csv(visits).dropna(subset="y")
    X, y = frame[[f"x{i}" for i in range(6)]].to_numpy(), frame["y"].to_numpy()
    expected = sr.advise(X, y, n_members=[2], groups=frame["subject"].tolist())
    assert found["coordinates"]["candidate"]["values"] == expected.table.candidate.values.tolist()
    assert found["variables"]["prediction_error"]["values"] == pytest.approx(expected.table.prediction_error.values)
    shown = call("advise", visits, *WORDS, "--groups", "subject", "--n-members", 2).stdout
    assert "on new groups" in " ".join(shown.split())
