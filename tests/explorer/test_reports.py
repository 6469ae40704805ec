"""Pages with data in them: whole, escaped, and telling what the numbers say."""

import csv
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
import xarray as xr
from click.testing import CliRunner

import subridge as sr
from subridge.cli import main
from subridge.explorer.figures import write_figures
from subridge.explorer.reports import forecast_sentences, write_report
from subridge.figures.paper.batch import run_batch
from subridge.figures.paper.reproduction import FigureRequest
from subridge.model.errors import ParameterError

HOSTILE = "</script><script>alert('name')</script><img src=x onerror=alert(1)>"


class Balanced(HTMLParser):
    """Every tag that opens closes, and nothing is fetched from elsewhere."""

    void = frozenset({"meta", "img", "input"})

    def __init__(self, text):
        super().__init__()
        self.open, self.images, self.scripts = [], [], 0
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        assert not any(name.startswith("on") for name in attributes)
        if tag == "img":
            self.images.append(attributes["src"])
        if tag == "script":
            self.scripts += 1
            assert "src" not in attributes
        assert tag != "link"
        if tag not in self.void:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def run(*words):
    answer = CliRunner().invoke(main, [str(word) for word in words])
    assert answer.exit_code == 0, answer.output
    return answer


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Rows whose names of columns and classes mean harm."""
    rng, place = np.random.default_rng(3), tmp_path_factory.mktemp("data") / "rows.csv"
    X = rng.standard_normal((90, 6))
    label = np.where(X @ [1, -1, 2, 0, 0, 1] + 0.5 * rng.standard_normal(90) > 0, HOSTILE, "calm")
    with place.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*(f"{HOSTILE}{i}" for i in range(6)), HOSTILE])
        writer.writerows([*row, name] for row, name in zip(X.tolist(), label, strict=True))
    return place


COMMANDS = {
    "forecast": ("--n-samples", "90:400", "--n-members", "3"),
    "advise": ("--n-members", "2,3", "--fraction-spreads", "0"),
    "simulate": ("--n-features", "40", "--n-samples", "10:80:5", "--n-trials", "3"),
    "curve": ("--n-members", "3", "--optimal-ridge", "--sample-ratios", "0.1:1:8,inf"),
    "phase": ("--sample-ratios", "0:2:9,inf"),
    "demo": ("--seed", "3"),
}


def command(name, table, place):
    data = (table, "--target", HOSTILE) if name in ("forecast", "advise") else ()
    return name, *data, *COMMANDS[name], "--out", place


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_writes_a_whole_page_that_says_how_to_make_it_again(name, table, tmp_path, monkeypatch):
    monkeypatch.setattr("subridge.cli.experiments._N_TRIALS", 3)  # of the demo
    place = tmp_path / f"{name}.html"
    words = command(name, table, place)
    assert f"wrote {place}" in run(*words).stderr
    text = place.read_text(encoding="utf-8")
    assert Balanced(text).scripts == 2
    assert f"subridge {name}" in text
    assert COMMANDS[name][1] in text
    assert text.count('class="reading"') >= 1
    panels = json.loads(re.search(r'id="panels">(.*?)</script>', text, flags=re.DOTALL).group(1))
    assert panels[0]["lines"] or panels[0]["sizes"]


def test_names_from_a_file_reach_a_page_as_text(tmp_path):
    X, ensembles = np.random.default_rng(0).standard_normal((60, 4)), {HOSTILE: sr.Ensemble(sr.subsets.Equal(2))}
    curves = sr.forecast(X, np.arange(60.0), [60, 100], ensembles)
    write_report(curves, tmp_path / "page.html", f"subridge forecast '{HOSTILE}'")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert Balanced(text).scripts == 2
    assert Balanced(text).images == []
    assert "&lt;script&gt;alert" in text


def test_forecasts_for_new_groups_and_for_infinite_data_have_a_page(table, tmp_path):
    with table.open(newline="") as file:
        rows = list(csv.reader(file))
    rows = [["subject", *rows[0]], *([str(i // 6), *row] for i, row in enumerate(rows[1:]))]
    with (tmp_path / "groups.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    place = tmp_path / "groups.html"
    words = ("--target", HOSTILE, "--groups", "subject", "--n-samples", "90,180", "--n-members", "2", "--out", place)
    run("forecast", tmp_path / "groups.csv", *words)
    assert "Errors are those on new groups" in place.read_text(encoding="utf-8")
    run("forecast", table, "--target", HOSTILE, "--n-samples", "inf", "--n-members", "2", "--out", place)
    Balanced(place.read_text(encoding="utf-8"))


def test_results_without_a_page_are_refused_by_name(tmp_path):
    with pytest.raises(ParameterError, match="no page for results of the kind 'comparison'"):
        write_report(xr.Dataset(attrs={"schema": "comparison"}), tmp_path / "page.html", "")


@pytest.mark.slow
def test_figures_become_one_whole_page(tmp_path):
    requests = [FigureRequest(figure, quick=True) for figure in ("fig1b", "fig3b", "fig4b")]
    outcomes = list(run_batch(requests, tmp_path, sr.Run()))
    place = tmp_path / "report.html"
    write_figures([outcome.dataset for outcome in outcomes], place, tmp_path, [("fig9", "no <such> figure")])
    text = place.read_text(encoding="utf-8")
    assert [source[:26] for source in Balanced(text).images] == ["data:image/svg+xml;base64,"] * 3
    for words in ("Fig. 1b, theory at this M", "c = 0.6", "no &lt;such&gt; figure", "numpy", "n_trials"):
        assert words in text
    assert text.count('class="panel"') == 1 + 1 + 6


@pytest.mark.slow
def test_reproduce_takes_the_name_of_its_page(tmp_path):
    run("reproduce", "fig3b", "--quick", "--out", tmp_path / "paper.html")
    assert (tmp_path / "paper.html").is_file()
    assert (tmp_path / "paper" / "fig3b.svg").is_file()


@pytest.mark.page
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (390, "dark")])
def test_reports_draw_answer_the_pointer_and_do_no_harm(visit, table, tmp_path, name, width, scheme):
    place = tmp_path / f"{name}.html"
    run(*command(name, table, place))
    page = visit(place, width=width, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator(".panel canvas").count() >= 1
    page.locator(".u-over").first.hover(position={"x": 120, "y": 60})
    assert page.locator(".hovered").first.inner_text() != ""
    page.click("#dark")
    with page.expect_download() as waiting:
        page.click(".export button:text-is('SVG')")
    picture = waiting.value.path().read_text()
    assert "NaN" not in picture
    with page.expect_download() as waiting:
        page.click(".export button:text-is('CSV')")
    assert len(waiting.value.path().read_text().splitlines()) > 2


@pytest.mark.page
def test_panels_of_figures_unfold(visit, tmp_path):
    run("reproduce", "fig1b", "fig4b", "--quick", "--out", tmp_path / "paper.html")
    page = visit(tmp_path / "paper.html")
    assert page.locator(".panel canvas").count() == 0
    for fold in page.locator("details.panels > summary").all():
        fold.click()
    page.locator(".panel canvas").nth(6).wait_for(state="attached")
    assert page.locator(".panel canvas").count() == page.locator(".panel").count() == 7


def test_a_forecast_wins_over_no_upper_bound():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 6))
    curves = sr.forecast(X, X[:, 0] + rng.standard_normal(40), [80])
    least = str(curves.ensemble.values[int(curves.prediction_error.values.argmin())])
    assert f"{least} has the lowest error" in forecast_sentences(curves)[0]
    others = curves.ensemble.values != least
    bounded = curves.assign(is_bound=curves.is_bound | xr.DataArray(others, dims="ensemble"))
    first = forecast_sentences(bounded)[0]
    assert "has the lowest error" not in first
    assert first.endswith(f"{' and '.join(curves.ensemble.values[others])} may have a lower one.")
    told = forecast_sentences(curves.assign(is_bound=curves.is_bound | True))
    assert "has the lowest error" not in told[0]
    assert "at most" in told[0]
    assert told[0].endswith("may have a lower one.")
    assert told[1].startswith("That is an R² of at least ")
    alone = curves.assign(is_bound=curves.is_bound | xr.DataArray(~others, dims="ensemble"))
    assert f"{least} has the lowest error: at most" in forecast_sentences(alone)[0]


def test_of_ensembles_with_the_same_printed_error_the_first_is_named():
    rng = np.random.default_rng(0)
    curves = sr.forecast(rng.standard_normal((40, 6)), rng.standard_normal(40), [80])
    factors = xr.DataArray(1 - 1e-6 * np.arange(curves.sizes["ensemble"]), dims="ensemble")
    same = curves.assign(prediction_error=curves.prediction_error.isel(ensemble=0, drop=True) * factors)
    assert f"{curves.ensemble.values[0]} has the lowest error" in forecast_sentences(same)[0]
