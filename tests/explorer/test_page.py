"""The page in a browser: sliders, presets, sharing, files to take away, and addresses that mean harm."""

import csv
import io
import json
import re
import runpy
import time
from importlib.resources import files

import numpy as np
import pytest

from subridge.figures.paper.registry import figure_ids

pytestmark = pytest.mark.page

# Which curves a slider must change, by the beginning of their names; all others must stay.
MOVES = {
    "correlation": ("one ridge", "8 equal", "8 unequal"),
    "alignment": ("one ridge", "8 equal", "8 unequal"),
    "label_noise": ("one ridge", "8 equal", "8 unequal"),
    "feature_noise": ("one ridge", "8 equal", "8 unequal"),
    "readout_noise": ("one ridge", "8 equal", "8 unequal"),
    "coverage": ("one ridge", "8 equal", "8 unequal"),
    "n_features": ("one ridge", "8 equal", "8 unequal"),
    "ridge": ("one ridge, λ = 0", "8 equal", "8 unequal"),
    "shared": ("8 equal", "8 unequal"),
    "row_fraction": ("8 equal", "8 unequal"),
    "dead_features": ("one ridge", "8 equal", "8 unequal"),
    "fraction_spread": ("8 unequal",),
}
START = "#correlation=0.3&alignment=0.4&n_members=8&n_features=500&coverage=0.8&feature_noise=0.2&shared=0.1"
CURVES = """() => Object.fromEntries(subridge.curveNumbers(subridge.app.state).curves.filter(one => !one.faint)
  .map(one => [one.name.replace(/λ = [0-9.e-]+/, 'λ = 0').replace(/mean of .*/, ''), [one.here, one.limit]]))"""


def move(page, setting, step):
    slider = page.locator(f"input[data-setting={setting}]")
    slider.evaluate("(it, by) => { it.value = Number(it.value) + by; it.dispatchEvent(new Event('input')); }", step)


def until(page, condition):
    """Wait; the page's policy keeps the browser's own way of waiting from evaluating text."""
    for _ in range(2400):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(25)
    raise AssertionError(f"never: {condition}")


@pytest.mark.parametrize("setting", MOVES)
def test_every_slider_changes_the_right_curves(visit, explorer_file, setting):
    page = visit(explorer_file, START)
    before = page.evaluate(CURVES)
    move(page, setting, -3 if setting in ("coverage", "n_features", "row_fraction") else 3)
    after = page.evaluate(CURVES)
    assert set(after) == set(before)
    for name, values in before.items():
        must = name.startswith(MOVES[setting]) and not (setting == "ridge" and name == "one ridge, λ = λ*")
        assert (after[name] != values) == must, name


def test_members_and_sample_ratio_and_draws_move_what_they_name(visit, explorer_file):
    page = visit(explorer_file, START)
    reading = page.locator("#curves .reading")
    assert "the threshold of 8 members" in reading.inner_text()
    move(page, "n_members", -5)
    assert "the threshold of 3 members" in reading.inner_text()
    assert page.evaluate("subridge.app.state.n_members") == 3
    before = page.locator(".legend b").all_inner_texts()
    move(page, "sample_ratio", 20)
    assert page.locator(".legend b").all_inner_texts() != before
    parts = page.evaluate("subridge.app.views[1].app.state.seed")
    page.click("#again")
    assert page.evaluate("subridge.app.state.seed") == parts + 1
    move(page, "sample_ratio", 400)
    assert "infinite data" in reading.inner_text()


def test_arrow_keys_move_sliders_and_everything_can_be_reached_by_tab(visit, explorer_file):
    page = visit(explorer_file)
    page.focus("input[data-setting=label_noise]")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("subridge.app.state.label_noise") == pytest.approx(0.11)
    reached = set()
    page.evaluate("document.activeElement.blur()")
    for _ in range(80):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.dataset.setting ?? document.activeElement.textContent"))
    wanted = page.evaluate("[...document.querySelectorAll('[data-setting]')].map(it => it.dataset.setting)")
    assert set(wanted) <= reached
    assert {"PNG", "SVG", "CSV", "Python", "draw again", "copy link"} <= reached


def test_every_figure_has_a_preset_that_draws(visit, explorer_file):
    page = visit(explorer_file)
    for figure in figure_ids():
        page.select_option("#preset", figure)
        finite = page.evaluate(
            "subridge.curveNumbers(subridge.app.state).curves.map(one => one.errors.filter(Number.isFinite).length)"
        )
        assert min(finite) > 50, figure
        page.evaluate("subridge.app.write()")
        assert f"preset={figure}" in page.url


def test_presets_are_listed_in_the_order_of_the_paper(visit, explorer_file):
    listed = visit(explorer_file).locator("#preset option").evaluate_all("them => them.map(it => it.value)")
    assert tuple(listed) == ("", *(f"tour{step}" for step in range(1, 6)), *figure_ids())


def test_the_page_opens_where_the_ensemble_wins_and_shows_its_curves_large(visit, explorer_file):
    page = visit(explorer_file)
    said = page.locator("#curves .reading").inner_text()
    assert re.search(r"10 members of equal size do 3\d % better than one ridge", said)
    axis, errors = page.evaluate(
        "[subridge.app.views[0].plot.what.y, subridge.app.views[0].numbers.curves.flatMap(one => one.errors)]"
    )
    filled = np.log(max(errors) / min(errors)) / np.log(axis["max"] / axis["min"])
    assert 0.75 < filled <= 1


def test_thresholds_in_words_are_where_the_curve_peaks(visit, explorer_file):
    page = visit(explorer_file, "#preset=fig1b&ridge=0")
    assert "The members' thresholds are α = 0.1, 0.3, 0.5." in page.locator("#curves .reading").inner_text()
    assert "0.333" not in page.locator("#curves .reading").inner_text()
    assert "Without a ridge the ensemble's error is infinite there." in page.locator("#curves .reading").inner_text()
    ratios, errors = page.evaluate(
        "(({ratios, curves}) => [ratios, curves.find(one => one.ensembles).errors])(subridge.app.views[0].numbers)"
    )
    higher = (np.diff(errors)[:-1] > 0) & (np.diff(errors)[1:] < 0)
    np.testing.assert_allclose(np.array(ratios)[1:-1][higher], [0.1, 0.3, 0.5], rtol=2e-3)
    move(page, "sample_ratio", 9)
    assert re.search(
        "There 3 members of these sizes do .* worse than one", page.locator("#curves .reading").inner_text()
    )


def test_a_preset_in_the_address_is_the_preset_chosen_from_the_list(visit, explorer_file):
    page, other = visit(explorer_file), visit(explorer_file, "#preset=fig4-scaled")
    page.select_option("#preset", "fig4-scaled")
    page.evaluate("subridge.app.write()")
    assert page.url.endswith("#preset=fig4-scaled")
    assert other.evaluate("JSON.stringify(subridge.app.state)") == page.evaluate("JSON.stringify(subridge.app.state)")
    move(page, "correlation", 5)
    page.evaluate("subridge.app.write()")
    again = visit(explorer_file, "#" + page.url.split("#")[1])
    assert again.evaluate("JSON.stringify(subridge.app.state)") == page.evaluate("JSON.stringify(subridge.app.state)")


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844)])
def test_presets_of_maps_show_the_map_above_the_fold(visit, explorer_file, width, height):
    page = visit(explorer_file, "#preset=fig4b", width=width, height=height)
    box = page.locator("#phase .plot").bounding_box()
    assert box["y"] + box["height"] <= height
    page.select_option("#preset", "fig1b")
    assert page.locator("#curves").bounding_box()["y"] < page.locator("#phase").bounding_box()["y"]


def test_curves_reach_where_the_map_is_clicked(visit, explorer_file):
    page = visit(explorer_file)
    page.locator("#phase .u-over").scroll_into_view_if_needed()
    box = page.locator("#phase .u-over").bounding_box()
    page.mouse.click(box["x"] + 0.9 * box["width"], box["y"] + box["height"] / 2)
    state, end = page.evaluate("[subridge.app.state, subridge.app.views[0].numbers.ratios.at(-1)]")
    assert state["sample_ratio"] == pytest.approx(2.7, abs=0.05)
    assert (state["largest_ratio"], end) == ("5", 5)


def test_fractions_can_be_typed(visit, explorer_file):
    page = visit(explorer_file)
    field, said = page.locator("input[data-setting=fractions]"), page.locator("#given")
    field.fill("1/2, 0.3 0.1")
    field.press("Enter")
    assert page.evaluate("[subridge.app.state.fractions, subridge.app.state.n_members]") == ["0.5,0.3,0.1", 3]
    assert "thresholds are α = 0.1, 0.3, 0.5" in page.locator("#curves .reading").inner_text()
    for wrong in ("0.5, 0.6", "-0.1, 0.2", "half", "1/2/3", "1/0"):
        field.fill(wrong)
        field.press("Enter")
        assert "Not used" in said.inner_text(), wrong
        assert page.evaluate("subridge.app.state.fractions") == "0.5,0.3,0.1"
    move(page, "n_members", 1)
    assert page.evaluate("[subridge.app.state.fractions, subridge.app.state.n_members]") == ["", 4]
    assert (field.input_value(), said.inner_text()) == ("", "")


def test_the_risk_matrix_has_a_colour_bar_of_its_numbers(visit, explorer_file):
    page = visit(explorer_file, "#n_members=3&fraction_spread=0&ridge=0&sample_ratio=0.4")
    page.wait_for_timeout(100)
    errors = page.evaluate("subridge.app.views[2].risk.pairs.flat()")
    told = page.locator("#matrix .scale span:not(.bare)").all_inner_texts()
    np.testing.assert_allclose([float(text) for text in told], [min(errors), max(errors)], rtol=5e-3)
    assert page.locator("#matrix .scale .bare").count() == 24
    page.evaluate("subridge.app.change({fractions: '0.4,0.2', ridge: 0})")
    page.wait_for_timeout(100)
    assert page.locator("#matrix .scale span:not(.bare)").all_inner_texts()[-1] == "∞"


def test_the_tour_sets_what_it_tells_about(visit, explorer_file):
    page = visit(explorer_file)
    assert page.locator("#tour").is_hidden()
    page.click("#start")
    steps = json.loads(files("subridge.explorer").joinpath("assets/tour.json").read_text(encoding="utf-8"))
    for at, step in enumerate(steps.values()):
        assert page.locator("#tour h2").inner_text() == f"{at + 1} of 5: {step['title']}"
        assert page.locator("#tour p").inner_text() == step["note"]
        state = page.evaluate("subridge.app.state")
        assert {name: state[name] for name in step["state"]} == step["state"]
        here = [one["error"] for one in step["told"] if one["sample_ratio"] == state["sample_ratio"] and "error" in one]
        assert set(here) <= set(page.locator("#curves .legend b").all_inner_texts())
        if at < 4:
            page.click("#next")
    assert page.locator("#next").is_disabled()
    assert "k* = 8 without a ridge" in page.locator("#phase .reading").inner_text()
    page.click("#back")
    assert page.evaluate("subridge.app.state.preset") == "tour4"
    page.click("#leave")
    assert page.locator("#tour").is_hidden()


def test_dots_of_trained_ensembles_belong_to_the_curves_they_lie_on(visit, explorer_file):
    page = visit(explorer_file, "#preset=tour3")
    shown = "subridge.app.views[0].numbers.curves.map(one => [one.name, one.run?.n_features ?? null])"
    names = ["one ridge, λ = 0.001", "one ridge, λ = λ*", "10 equal"]
    assert page.evaluate(shown) == [[name, 600] for name in names]
    assert "trained on 600 features, 20 trials" in page.locator("#curves .legend").inner_text()
    until(page, "!subridge.app.views[1].working")
    circles = "text => (text.match(/<circle/g) ?? []).length"
    with_dots = page.evaluate(circles, saved(page, "curves", "SVG").decode())
    move(page, "label_noise", 1)
    assert [run for _, run in page.evaluate(shown)] == [None, None, None]
    assert "trained" not in page.locator("#curves .legend").inner_text()
    assert with_dots >= page.evaluate(circles, saved(page, "curves", "SVG").decode()) + 30
    move(page, "label_noise", -1)
    move(page, "n_features", -5)
    assert [run for _, run in page.evaluate(shown)] == [None, None, None]
    page.select_option("#preset", "fig1b")
    assert page.evaluate(shown) == [["one ridge, λ = λ*", 2000], ["draw 1", None], ["3 unequal", 2000]]


def test_the_map_of_the_scaled_mean_agrees_with_its_curves(visit, explorer_file):
    page = visit(explorer_file, "#preset=fig4-scaled")
    page.wait_for_timeout(100)
    assert "k* = 1 without a ridge" in page.locator("#phase .reading").inner_text()
    here = page.evaluate("subridge.app.views[0].numbers.curves.map(one => [one.name, one.here])")
    assert [name for name, _ in here] == [f"k = {k}, scaled mean" for k in (1, 2, 3, 5, 10, 20, 60)]
    assert min(here, key=lambda one: one[1])[0] == "k = 1, scaled mean"
    page.select_option("select[data-setting=phase_aggregation]", "mean")
    page.wait_for_timeout(100)
    assert "plain mean" in page.locator("#phase .reading").inner_text()
    assert "k* = 1 " not in page.locator("#phase .reading").inner_text()


def test_preset_of_fig1b_is_the_figures_settings(visit, explorer_file):
    page = visit(explorer_file, "#preset=nothing")
    page.select_option("#preset", "fig1b")
    state = page.evaluate("subridge.app.state")
    assert (state["correlation"], state["alignment"], state["fractions"]) == (0.4, 0.3, "0.1,0.3,0.5")


def test_a_view_can_be_shared_by_its_address(visit, explorer_file):
    page = visit(explorer_file, START)
    move(page, "fraction_spread", 4)
    page.select_option("select[data-setting=aggregation]", "both")
    page.uncheck("input[data-setting=curves][value=b]")
    page.evaluate("subridge.app.write()")
    state, address = page.evaluate("JSON.stringify(subridge.app.state)"), page.url.split("#")[1]
    other = visit(explorer_file, f"#{address}")
    assert other.evaluate("JSON.stringify(subridge.app.state)") == state


def test_going_back_in_the_address_redraws(visit, explorer_file):
    page = visit(explorer_file)
    page.evaluate("location.hash = 'n_members=17'")
    until(page, "subridge.app.state.n_members === 17")
    assert "17 members" in page.locator("#curves .reading").inner_text()


def test_members_that_see_some_of_the_rows_have_later_thresholds(visit, explorer_file):
    page = visit(explorer_file, "#preset=fig1b&ridge=0&row_fraction=0.5&largest_ratio=2")
    assert "The members' thresholds are α = 0.2, 0.6, 1." in page.locator("#curves .reading").inner_text()
    ratios, errors = page.evaluate(
        "(({ratios, curves}) => [ratios, curves.find(one => one.ensembles).errors])(subridge.app.views[0].numbers)"
    )
    higher = (np.diff(errors)[:-1] > 0) & (np.diff(errors)[1:] < 0)
    np.testing.assert_allclose(np.array(ratios)[1:-1][higher], [0.2, 0.6, 1.0], rtol=2e-3)


def test_rows_and_dead_sensors_are_in_the_address_and_in_the_caption_and_the_keyboard_moves_them(visit, explorer_file):
    page = visit(explorer_file, START + "&row_fraction=0.5&dead_features=0.1")
    for setting, key in (("row_fraction", "ArrowLeft"), ("dead_features", "ArrowRight")):
        page.focus(f"input[data-setting={setting}]")
        page.keyboard.press(key)
    page.evaluate("subridge.app.write()")
    assert "row_fraction=0.49" in page.url
    assert "dead_features=0.11" in page.url
    for view in range(3):
        assert "rows per member = 0.49, dead features = 0.11" in page.evaluate(f"subridge.app.views[{view}].caption()")
    assert "on test data without dead features" in page.locator("#phase .reading").inner_text()


def test_dead_sensors_lose_an_infinite_signal_and_the_page_says_so(visit, explorer_file):
    page = visit(explorer_file, "#correlation=0.5&alignment=0.3&dead_features=0.1&aggregation=both&curves=obedms")
    assert "choose a finite number of features" in page.locator("#curves .reading").inner_text()
    here = "subridge.curveNumbers(subridge.app.state).curves.map(one => String(one.here))"
    assert set(page.evaluate(here)) == {"Infinity"}
    move(page, "n_features", -10)
    assert "choose a finite number of features" not in page.locator("#curves .reading").inner_text()
    assert "Infinity" not in page.evaluate(here)


def test_dots_of_trained_ensembles_leave_with_rows_and_with_sensors(visit, explorer_file):
    page = visit(explorer_file, "#preset=tour3")
    shown = "subridge.app.views[0].numbers.curves.map(one => Boolean(one.run))"
    assert page.evaluate(shown) == [True, True, True]
    move(page, "row_fraction", -5)
    assert page.evaluate(shown) == [True, True, False]
    move(page, "dead_features", 5)
    assert page.evaluate(shown) == [False, False, False]


def saved(page, view, kind):
    with page.expect_download() as waiting:
        page.click(f"#{view} .export button:text-is('{kind}')")
    return waiting.value.path().read_bytes()


@pytest.mark.parametrize("more", ["", "&row_fraction=0.6&dead_features=0.1&aggregation=both"])
def test_saved_numbers_are_those_that_the_saved_python_prints(visit, explorer_file, tmp_path, more):
    page = visit(explorer_file, START + f"&fraction_spread=0.75&n_draws=3&ridge=0.01{more}")
    rows = list(csv.reader(io.StringIO(saved(page, "curves", "CSV").decode())))
    table = np.array(rows[1:], dtype=float)
    script = tmp_path / "curves.py"
    script.write_bytes(saved(page, "curves", "Python"))
    found = runpy.run_path(str(script))
    np.testing.assert_array_equal(found["sample_ratios"], table[:, 0])
    assert np.isinf(table[-1, 0])
    assert list(found["curves"]) == sorted(found["curves"], key=list(found["curves"]).index)
    assert set(found["curves"]) == set(rows[0][1:])
    for column, name in enumerate(rows[0][1:], start=1):
        np.testing.assert_allclose(table[:, column], found["curves"][name], rtol=1e-10, err_msg=name)
    assert "irichlet" not in script.read_text()  # the drawn fractions stand in it, not how to draw them


@pytest.mark.parametrize(
    "map_of",
    [
        "alignment=0.4&phase_ridge=optimal",
        "alignment=0&phase_ridge=0&phase_aggregation=scaled",
        "n_features=300&alignment=0.3&row_fraction=0.45&dead_features=0.2",
    ],
)
def test_saved_matrix_and_phase_diagram_are_those_of_their_python(visit, explorer_file, tmp_path, map_of):
    page = visit(explorer_file, f"#correlation=0.3&n_members=6&best_ridge=1&{map_of}")
    table = np.array(list(csv.reader(io.StringIO(saved(page, "matrix", "CSV").decode())))[1:], dtype=float)
    (tmp_path / "matrix.py").write_bytes(saved(page, "matrix", "Python"))
    np.testing.assert_allclose(table[:, 1:], runpy.run_path(str(tmp_path / "matrix.py"))["found"].pairs, rtol=1e-10)
    rows = list(csv.reader(io.StringIO(saved(page, "phase", "CSV").decode())))
    (tmp_path / "phase.py").write_bytes(saved(page, "phase", "Python"))
    sizes = runpy.run_path(str(tmp_path / "phase.py"))["sizes"]
    np.testing.assert_array_equal(np.array(rows[1:], dtype=float)[:, 2], sizes.ravel())


@pytest.mark.parametrize("view", ["curves", "phase", "matrix", "subsets"])
def test_pictures_can_be_saved(visit, explorer_file, view):
    page = visit(explorer_file)
    until(page, "!subridge.app.views[1].working")
    assert saved(page, view, "PNG").startswith(b"\x89PNG")
    picture = saved(page, view, "SVG").decode()
    assert "NaN" not in picture
    drawn = page.evaluate(
        "text => new DOMParser().parseFromString(text, 'image/svg+xml').documentElement.nodeName", picture
    )
    assert drawn == "svg"


@pytest.mark.parametrize("view", ["curves", "phase", "matrix"])
def test_a_view_can_be_copied_as_a_figure_with_its_caption(visit, explorer_file, view):
    page = visit(explorer_file, "#preset=tour3", permissions=["clipboard-read", "clipboard-write"])
    until(page, "!subridge.app.views[1].working")
    page.click(f"#{view} .export button:text-is('copy')")
    until(page, f"document.querySelector('#{view} .export button').textContent === 'copied'")
    kinds, html, text = page.evaluate(
        """async () => {
          const [item] = await navigator.clipboard.read();
          const read = async (kind) => (await item.getType(kind)).text();
          return [item.types, await read("text/html"), await read("text/plain")];
        }"""
    )
    assert set(kinds) == {"text/html", "text/plain", "image/png"}
    assert "data:image/png;base64," in html
    assert "α = 0.3, k = 10, λ = 0.001, c = 0.6" in text
    assert page.locator(f"#{view} .reading").inner_text() in text
    assert text.replace("&", "&amp;") in html
    assert ("Dots: trained on 600 features" in text) == (view == "curves")


def test_saved_pictures_hold_their_caption_and_their_scale(visit, explorer_file):
    page = visit(explorer_file, "#preset=tour3", width=390, height=844)
    page.wait_for_timeout(100)
    picture = saved(page, "matrix", "SVG").decode()
    lines = re.findall(r'<text x="12" [^>]*>([^<]*)<', picture)
    assert len(lines) > 1
    assert " ".join(lines).replace("\N{NO-BREAK SPACE}", " ") == page.locator("#matrix .reading").inner_text()
    ends = page.evaluate(
        """picture => {
          const host = document.body.appendChild(document.createElement("div"));
          host.innerHTML = picture;
          const width = host.querySelector("svg").width.baseVal.value;
          return [...host.querySelectorAll("svg > text")].map(it => (it.getBBox().x + it.getBBox().width) / width);
        }""",
        picture,
    )
    assert max(ends) <= 1
    for told in page.locator("#matrix .scale span:not(.bare)").all_inner_texts():
        assert f">{told}<" in picture


HOSTILE = [
    "#correlation=NaN&n_members=NaN&ridge=NaN",
    "#n_members=1e308&n_draws=1e9&ridge=-1e308&sample_ratio=-inf",
    "#n_members=0&coverage=0&shared=1e99&fraction_spread=-5",
    "#preset=<script>alert(1)</script>&curves=<img src=x onerror=alert(1)>&phase_x=__proto__&phase_y=constructor",
    "#fractions=0.5,0.9&fractions=-1,2,NaN&fractions=" + ",".join(["0.001"] * 3000),
    "#__proto__=1&constructor=2&toString=3",
    "#preset=constructor",
    "#" + "a=" * 100_000,
    "#%E0%A4%A&%%%&=&&&",
    "#phase_x=H&phase_y=H",
    "#correlation=1&feature_noise=0&alignment=1&best_ridge=1&ridge=0&sample_ratio=0",
    "#n_features=20.7&seed=1.5&n_members=3.3",
    "#row_fraction=0&dead_features=-1&n_features=30&correlation=1",
    "#row_fraction=NaN&dead_features=1e308&alignment=1&aggregation=both&curves=obedms&sample_ratio=0",
    "#aggregation=scaled&n_features=1e308&correlation=1e-300&sample_ratio=inf",
]


@pytest.mark.parametrize("address", HOSTILE)
def test_hostile_addresses_leave_the_page_alive_and_harmless(visit, explorer_file, address):
    page = visit(explorer_file, address)
    state = page.evaluate("subridge.app.state")
    assert 1 <= state["n_members"] <= 60
    assert state["n_draws"] <= 20
    move(page, "label_noise", 5)
    assert page.locator("#curves .reading").inner_text() != ""
    assert page.locator("main script, main img").count() == 0
    assert page.evaluate("({}).polluted") is None


MOVE_SLIDERS = """async () => {
  const names = ["label_noise", "correlation", "alignment", "readout_noise", "ridge", "n_members",
    "fraction_spread", "sample_ratio"];
  const took = [];
  for (let i = 0; i < 220; i++) {
    const slider = document.querySelector(`input[data-setting=${names[i % names.length]}]`);
    await new Promise(requestAnimationFrame);
    slider.value = Math.round(Number(slider.max) * (0.1 + 0.8 * ((i * 7919) % 100) / 100));
    const start = performance.now();
    slider.dispatchEvent(new Event("input"));
    for (let turn = 0; turn < 3; turn++) await null; // uPlot draws in a microtask
    took.push(performance.now() - start);
  }
  return took.slice(20);
}"""


@pytest.mark.timing
def test_redraws_are_quick(visit, explorer_file):
    page, rounds = visit(explorer_file, "#fraction_spread=0.5"), []
    for _ in range(4):  # what else the machine does can only add: the quickest round counts
        took = page.evaluate(MOVE_SLIDERS)
        rounds.append((np.median(took), max(took)))
    middle, worst = np.min(rounds, axis=0)
    print(f"slider to redraw: median {middle:.1f} ms, worst of 200 {worst:.1f} ms")
    assert middle <= 16
    assert worst <= 50


@pytest.mark.timing
@pytest.mark.parametrize("ridge", ["0", "optimal"])
def test_phase_diagrams_are_quick(visit, explorer_file, ridge):
    page = visit(explorer_file, f"#phase_ridge={ridge}&alignment=0.3&correlation=0.5")
    took = page.evaluate(
        """() => Array.from({ length: 7 }, () => {
          const start = performance.now();
          subridge.phaseDiagram(subridge.app.state);
          return performance.now() - start;
        })"""
    )
    print(f"phase diagram, ridge {ridge}: {np.round(took, 1)} ms")
    assert np.median(took) <= 150


def test_the_page_is_small(explorer_file):
    assert explorer_file.stat().st_size <= 5_000_000


@pytest.mark.timing
def test_the_page_opens_within_a_second(visit, explorer_file):
    start = time.perf_counter()
    page = visit(explorer_file)
    opened = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
    size, seconds = explorer_file.stat().st_size / 1e3, time.perf_counter() - start
    print(f"{size:.0f} kB, {opened:.0f} ms to load, {seconds:.2f} s with the start of the page's process")
    assert opened < 1000


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [(1400, 1000), (390, 844)])
def test_nothing_overflows_the_screen(visit, explorer_file, scheme, width, height):
    page = visit(explorer_file, width=width, height=height, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
