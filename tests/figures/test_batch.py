from contextlib import nullcontext

import pytest
import xarray as xr

import subridge as sr
from subridge.figures.paper import batch as batch_module
from subridge.figures.paper.batch import read_figure, run_batch
from subridge.figures.paper.reproduction import FigureRequest
from subridge.simulation.executors import ChildPool


def made(folder, *figures, processes=1, **options):
    requests = [FigureRequest(figure, quick=True) for figure in figures]
    with ChildPool(processes) if processes > 1 else nullcontext() as pool:
        return list(run_batch(requests, folder, sr.Run(), pool=pool, **options))


@pytest.mark.slow
def test_a_figure_becomes_three_files_and_is_kept_the_second_time(tmp_path):
    first, second = made(tmp_path, "fig3b"), made(tmp_path, "fig3b")
    assert {path.name for path in tmp_path.iterdir()} == {"fig3b.png", "fig3b.svg", "fig3b.nc"}
    assert [first[0].status, second[0].status] == ["made", "kept"]
    # NetCDF keeps numbers, text and history.
    dataset = first[0].dataset
    with xr.open_dataset(tmp_path / "fig3b.nc", engine="scipy") as back:
        xr.testing.assert_allclose(back.load(), dataset)
        for name in ("settings", "subridge_version", "command", "agreement", "errata"):
            assert back.attrs[name] == dataset.attrs[name]
    assert "subridge reproduce fig3b --quick" in (tmp_path / "fig3b.svg").read_text()
    assert made(tmp_path, "fig3b", force=True)[0].status == "made"


@pytest.mark.slow
def test_other_settings_make_a_figure_anew(tmp_path):
    made(tmp_path, "fig3b")
    (outcome,) = run_batch([FigureRequest("fig3b")], tmp_path, sr.Run())
    assert outcome.status == "made"
    assert "--quick" not in read_figure("fig3b", tmp_path).attrs["command"]


@pytest.mark.slow
def test_a_missing_or_broken_file_is_noticed(tmp_path):
    made(tmp_path, "fig3b")
    (tmp_path / "fig3b.svg").unlink()
    assert made(tmp_path, "fig3b")[0].status == "made"
    (tmp_path / "fig3b.nc").write_bytes(b"not a figure")
    outcome = made(tmp_path, "fig3b")[0]
    assert outcome.status == "failed"
    assert "--force" in str(outcome.error)


@pytest.mark.slow
def test_one_failure_does_not_stop_the_rest(tmp_path, monkeypatch):
    real = batch_module.compute_figure

    def fails_once(request, run):
        if request.figure == "fig3a":
            raise sr.errors.ConvergenceError("no root")
        return real(request, run)

    monkeypatch.setattr(batch_module, "compute_figure", fails_once)
    assert [outcome.status for outcome in made(tmp_path, "fig3a", "fig3b")] == ["failed", "made"]


@pytest.mark.slow
def test_figures_made_side_by_side_are_those_made_one_by_one(tmp_path):
    figures = ("fig1a", "fig3a", "fig3b", "fig4b", "figS6")
    one_by_one, together_there = tmp_path / "one", tmp_path / "two"
    (one_by_one).mkdir()
    alone = {each.figure: each for each in made(one_by_one, *figures)}
    together = {each.figure: each for each in made(together_there, *figures, processes=3)}
    assert set(alone) == set(together) == set(figures)
    for figure in figures:
        xr.testing.assert_identical(alone[figure].dataset.drop_attrs(), together[figure].dataset.drop_attrs())
    # Nothing else is left: no tasks, and nothing of the processes.
    assert {path.name for path in together_there.iterdir()} == {path.name for path in one_by_one.iterdir()}
    again = made(together_there, *figures, processes=3)
    assert {each.status for each in again} == {"kept"}
    (together_there / "fig3b.nc").write_bytes(b"not a figure")
    broken = {each.figure: each.status for each in made(together_there, *figures, processes=2)}
    assert broken == dict.fromkeys(figures, "kept") | {"fig3b": "failed"}


@pytest.mark.slow
def test_an_interrupted_simulation_goes_on_where_it_stopped(tmp_path, monkeypatch):
    from subridge.simulation import simulate as driver

    real, done, after = driver.GAUSSIAN, [], []

    def stops_after_three(experiment, trials, plan):
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append(trials[0])
        return real.run_trials(experiment, trials, plan)

    def goes_on(experiment, trials, plan):
        after.append(trials[0])
        return real.run_trials(experiment, trials, plan)

    monkeypatch.setattr(driver, "GAUSSIAN", real._replace(run_trials=stops_after_three))
    with pytest.raises(KeyboardInterrupt):
        made(tmp_path, "fig1b")
    assert not (tmp_path / "fig1b.nc").exists()
    monkeypatch.setattr(driver, "GAUSSIAN", real._replace(run_trials=goes_on))
    dataset = made(tmp_path, "fig1b")[0].dataset
    assert after
    assert not set(after) & set(done)
    assert not (tmp_path / ".tasks").exists()
    expected = sr.figures.reproduce("fig1b", quick=True).dataset
    xr.testing.assert_allclose(dataset.risk, expected.risk)


@pytest.mark.slow
def test_pictures_and_data_of_different_settings_are_never_taken_for_one_figure(tmp_path, monkeypatch):
    def stopped(*_):
        raise KeyboardInterrupt

    made(tmp_path, "fig3b")
    with monkeypatch.context() as patched:
        patched.setattr(batch_module, "write_result", stopped)  # the pictures of other settings are there by now
        with pytest.raises(KeyboardInterrupt):
            list(run_batch([FigureRequest("fig3b")], tmp_path, sr.Run()))
    assert made(tmp_path, "fig3b")[0].status == "made"


def test_a_picture_that_cannot_be_written_is_a_failure(tmp_path):
    (tmp_path / "fig3b.png").mkdir(parents=True)
    assert [outcome.status for outcome in made(tmp_path, "fig3b")] == ["failed"]
