import json
import re

from click.testing import CliRunner

from subridge.cli import main
from subridge.explorer.page import asset, render
from subridge.figures.paper.registry import figure_ids, recipe_of


def test_explore_writes_a_page_and_prints_its_path_without_a_display(tmp_path, monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    place = tmp_path / "page.html"
    answer = CliRunner().invoke(main, ["explore", "--out", str(place)])
    assert (answer.exit_code, answer.output.strip()) == (0, str(place))
    text = place.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    markup = text[: text.index("<script>")]  # what runs is watched in a browser: make test-page
    assert not re.search(r"\b(?:src|href|url)\b", markup.replace("-src", ""))


def test_explore_opens_a_browser_only_when_asked(tmp_path, monkeypatch):
    opened = []
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr("webbrowser.open", opened.append)
    place = tmp_path / "page.html"
    assert CliRunner().invoke(main, ["explore", "--no-open", "--out", str(place)]).exit_code == 0
    assert opened == []
    assert CliRunner().invoke(main, ["explore", "--out", str(place)]).exit_code == 0
    assert opened == [place.as_uri()]


def test_explore_into_a_missing_folder_is_wrong_usage(tmp_path):
    answer = CliRunner().invoke(main, ["explore", "--out", str(tmp_path / "none" / "page.html")])
    assert answer.exit_code == 2
    assert "--out" in answer.output
    assert "cannot be written" in answer.output


def test_every_figure_of_the_paper_has_a_preset_in_settings_of_the_page():
    known = set(re.findall(r"^  (\w+): ", _settings(), flags=re.MULTILINE))
    made = asset("presets.json")
    assert tuple(made) == figure_ids()
    for figure, entry in made.items():
        assert set(entry["state"]) <= known, figure
        json.dumps(entry, allow_nan=False)
    titles = [entry["title"] for entry in made.values()]
    alike = [f for f, entry in made.items() if sum(entry["state"] == other["state"] for other in made.values()) > 1]
    assert alike == ["fig3d", "fig4e", "fig4f", "figS1", "figS3", "figS4", "figS5"]
    assert [title.split(":")[0] for title in titles if "(as " in title] == [
        "S1 (as 3d)",
        "S3 (as 4e)",
        "S4 (as 4e)",
        "S5 (as 4f)",
    ]


def test_a_preset_has_the_title_and_the_settings_of_its_figure():
    alike = 0
    for figure, entry in asset("presets.json").items():
        recipe = recipe_of(figure)
        assert entry["title"].split(": ", 1)[1] == recipe.title
        shown = {"n_draws", "largest_ratio"}  # how much of it the page draws
        for name in (entry["state"].keys() & vars(recipe.settings).keys()) - shown:
            value = vars(recipe.settings)[name]
            alike += isinstance(value, int | float)
            assert isinstance(value, tuple) or entry["state"][name] == value, (figure, name)
    assert alike >= 15


def _settings():
    from importlib.resources import files

    text = files("subridge.explorer").joinpath("assets/state.js").read_text(encoding="utf-8")
    return text[text.index("const SETTINGS") : text.index("function standardState")]


def test_values_in_a_page_are_escaped():
    hostile = {"</script><script>alert(1)</script>": "x"}
    page = render("explorer.html", ["formulas.js"], presets=hostile, runs=hostile)
    assert "<script>alert" not in page
