"""Several runs on one store, stores that grow, stores that nobody may write, and places that are none."""

import json
import os
import shutil
import subprocess
import sys
import textwrap
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import subridge as sr
from scripts import started, when
from subridge.simulation.gaussian import simulate as driver
from subridge.simulation.gaussian.trials import run_trials
from subridge.store import layout
from subridge.store.claims import Claims
from subridge.store.digests import digest_of_text
from subridge.store.resumable import ResumableStore
from subridge.store.tasks import KIND

pytest.importorskip("zarr")


def simulate(store=None, n_trials=7, block=3, **options):
    problem = sr.Problem(sr.covariance.isotropic(12), np.ones(12), label_noise=0.1)
    ensemble = sr.Ensemble(sr.subsets.equal(2, 12, seed=0))
    settings = {"ridges": [0.1, 1.0], "progress": False} | options
    return sr.simulate(problem, ensemble, [4, 9], n_trials, run=sr.Run(store=store, block=block), **settings)


@pytest.fixture
def ran(monkeypatch):
    seen = []

    def watched(experiment, trials, plan):
        seen.append(trials)
        return run_trials(experiment, trials, plan)

    monkeypatch.setattr(driver, "ENGINE", replace(driver.ENGINE, run_trials=watched))
    return seen


@pytest.mark.parametrize("block", [1, 3, 20])
def test_twenty_and_twenty_trials_are_forty(tmp_path, ran, block):
    simulate(tmp_path / "a.zarr", 20, block)
    ran.clear()
    assert simulate(tmp_path / "a.zarr", 40, block).identical(simulate(n_trials=40, block=40))
    again = {trial for trials in ran[:-1] for trial in trials}
    assert again >= set(range(20, 40))
    assert len(again - set(range(20, 40))) < block  # only a task that was not whole


def test_fewer_trials_are_read_from_a_store_that_has_more(tmp_path, ran):
    simulate(tmp_path / "a.zarr", 10)
    ran.clear()
    found = simulate(tmp_path / "a.zarr", 5)
    assert not ran
    assert found.identical(simulate(n_trials=5))


def test_a_task_that_fewer_trials_share_is_run_whole(tmp_path):
    whole = simulate(tmp_path / "a.zarr", 10)
    (tmp_path / "a.zarr" / "done" / "c" / "1").unlink()
    simulate(tmp_path / "a.zarr", 5)
    assert simulate(tmp_path / "a.zarr", 10).identical(whole)


def test_a_store_that_grew_describes_all_its_trials(tmp_path):
    import xarray

    simulate(tmp_path / "a.zarr", 4)
    whole = simulate(tmp_path / "a.zarr", 9)
    with xarray.open_zarr(tmp_path / "a.zarr", consolidated=False) as opened:
        assert opened.sizes["trial"] == 9
        assert opened.attrs["experiment"] == whole.attrs["experiment"]
        np.testing.assert_array_equal(opened.trial, np.arange(9))


def test_an_extension_that_was_cut_short_is_taken_up(tmp_path, monkeypatch):
    place, replaced = tmp_path / "a.zarr", os.replace
    simulate(place, 4)

    def failing(source, target):
        if Path(target) == place / "zarr.json":
            raise OSError(28, "No space left on device")
        replaced(source, target)

    monkeypatch.setattr(layout.os, "replace", failing)
    with pytest.raises(sr.errors.StoreError, match="No space left"):
        simulate(place, 9)
    monkeypatch.undo()
    with pytest.warns(sr.errors.DamagedStoreWarning, match="written anew"):
        assert simulate(place, 9).identical(simulate(n_trials=9))
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.zarr"]


def test_a_claim_excludes_others_until_it_is_given_back(tmp_path):
    one, other = Claims(tmp_path / "claims"), Claims(tmp_path / "claims")
    assert one.take(3)
    assert not other.take(3)
    assert not one.take(3)
    assert other.take(4)
    other.release(3)  # not its own
    assert not other.take(3)
    one.release(3)
    assert other.take(3)
    other.close()
    assert one.take(3)
    assert one.take(4)
    one.close()


def test_a_claim_of_another_process_ends_with_it(tmp_path):
    body = f"""
    import sys
    from pathlib import Path
    from subridge.store.claims import Claims
    claims = Claims(Path({str(tmp_path / "claims")!r}))
    print(claims.take(7), flush=True)
    sys.stdin.read()
    """
    command = [sys.executable, "-c", textwrap.dedent(body)]
    with started(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "True\n"
        claims = Claims(tmp_path / "claims")
        extra = Claims(tmp_path / "claims")  # a second one here must not give up what this process holds
        assert claims.take(8)
        extra.close()
        assert not claims.take(7)
        child.kill()
        child.communicate()
        assert claims.take(7)
        claims.close()


def test_two_runs_at_once_share_the_tasks(tmp_path, ran):
    place, found, errors = tmp_path / "a.zarr", [], []

    def work():
        try:
            found.append(simulate(place, 40, 1))
        except BaseException as error:
            errors.append(error)

    runs = [threading.Thread(target=work) for _ in range(3)]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    assert not errors
    truth = simulate(n_trials=40)
    assert all(each.identical(truth) for each in found)
    assert len(ran) - 14 == 40  # 14 tasks of the truth


def test_what_another_run_finishes_after_a_look_is_looked_at_again(tmp_path, monkeypatch):
    place, gather = tmp_path / "a.zarr", ResumableStore.gather
    simulate(place, 4)

    def finished_meanwhile(self, *what):
        look = gather(self, *what)
        monkeypatch.setattr(ResumableStore, "gather", gather)
        simulate(place, 9)
        return look

    monkeypatch.setattr(ResumableStore, "gather", finished_meanwhile)
    assert simulate(place, 9).identical(simulate(n_trials=9))


@pytest.mark.parametrize("moment", ["open", "first task", "last task"])
def test_a_store_that_grows_under_a_run_is_never_called_damaged(tmp_path, monkeypatch, moment):
    place, found, growing = tmp_path / "a.zarr", [], []

    def grow():
        if not growing:
            growing.append(threading.Thread(target=lambda: found.append(simulate(place, 9))))
            growing[0].start()
            deadline = time.monotonic() + (2 if moment == "last task" else 20)
            # The other run waits for a task that this one works on.
            while not (place / "done" / "c" / "2").exists() and time.monotonic() < deadline:
                time.sleep(0.01)

    def watched(experiment, trials, plan):
        here = threading.current_thread() is threading.main_thread()
        if here and moment == ("first task" if 0 in trials else "last task"):
            grow()
        return run_trials(experiment, trials, plan)

    gather = ResumableStore.gather

    def grown_before(self, *what):
        if moment == "open" and threading.current_thread() is threading.main_thread():
            grow()
        return gather(self, *what)

    monkeypatch.setattr(driver, "ENGINE", replace(driver.ENGINE, run_trials=watched))
    monkeypatch.setattr(ResumableStore, "gather", grown_before)
    found.append(simulate(place, 4))
    growing[0].join()
    few, many = sorted(found, key=lambda each: each.sizes["trial"])
    assert few.identical(simulate(n_trials=4))
    assert many.identical(simulate(n_trials=9))
    assert simulate(place, 9).identical(many)


def test_a_run_waits_for_the_tasks_of_another_and_takes_those_of_a_dead_one(tmp_path, monkeypatch):
    place = tmp_path / "a.zarr"
    whole = simulate(place)
    (place / "done" / "c" / "1").unlink()
    other = Claims(place.joinpath(*layout.CLAIMS))
    assert other.take(1)
    monkeypatch.setattr("subridge.store.resumable._PAUSE", 0.001)
    monkeypatch.setattr("subridge.store.resumable._SILENT", 2)
    with pytest.warns(sr.errors.WaitingWarning, match="1 task of another run") as said, when(lambda: said, other.close):
        assert simulate(place).identical(whole)


def test_leftovers_of_killed_creations_are_removed_and_those_under_way_are_not(tmp_path):
    body = f"""
    import os
    from pathlib import Path
    import numpy as np
    import subridge as sr
    from subridge.store import layout
    def die(*_):
        os._exit(9)
    layout._lay_out = die
    sr.simulate(sr.EquicorrelatedProblem(), sr.Ensemble(sr.subsets.Equal(1)), [2], 2, n_features=4,
        run=sr.Run(store={str(tmp_path / "a.zarr")!r}), progress=False)
    """
    assert subprocess.run([sys.executable, "-c", textwrap.dedent(body)]).returncode == 9
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".a.zarr.")
    under_way = shutil.copytree(left, tmp_path / ".a.zarr.0.creating")
    other = Claims(under_way.joinpath(*layout.CLAIMS))
    other.take(0)
    simulate(tmp_path / "a.zarr")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [".a.zarr.0.creating", "a.zarr"]
    other.close()


def test_whoever_comes_second_uses_the_store_of_the_first(tmp_path, monkeypatch):
    place, lay_out = tmp_path / "a.zarr", layout._lay_out

    def overtaken(*arguments):
        monkeypatch.setattr(layout, "_lay_out", lay_out)
        simulate(place)  # another run is faster
        lay_out(*arguments)

    monkeypatch.setattr(layout, "_lay_out", overtaken)
    assert simulate(place).identical(simulate())
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.zarr"]


def test_a_creation_whose_folder_vanishes_begins_again(tmp_path, monkeypatch):
    lay_out = layout._lay_out

    def vanishing(scratch, *rest):
        monkeypatch.setattr(layout, "_lay_out", lay_out)
        lay_out(scratch, *rest)
        shutil.rmtree(scratch)

    monkeypatch.setattr(layout, "_lay_out", vanishing)
    assert simulate(tmp_path / "a.zarr").identical(simulate())


def test_an_empty_folder_may_be_the_place_of_a_store(tmp_path):
    (tmp_path / "a.zarr").mkdir()
    assert simulate(tmp_path / "a.zarr").identical(simulate())


@pytest.fixture
def read_only(monkeypatch):
    """Directories cannot be written, whoever runs the tests."""
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and access(path, mode))
    for name in ("replace", "mkdir", "open"):
        original = getattr(os, name)

        def refused(*arguments, original=original, name=name, **options):
            if name == "open" and not arguments[1] & (os.O_RDWR | os.O_WRONLY | os.O_CREAT):
                return original(*arguments, **options)
            raise OSError(30, "Read-only file system")

        monkeypatch.setattr(os, name, refused)


def test_a_finished_store_on_read_only_media_is_readable(tmp_path, monkeypatch, request):
    whole = simulate(tmp_path / "a.zarr")
    request.getfixturevalue("read_only")
    assert simulate(tmp_path / "a.zarr").identical(whole)
    assert simulate(tmp_path / "a.zarr", 5).sizes["trial"] == 5
    with pytest.raises(sr.errors.StoreError, match="read-only"):
        simulate(tmp_path / "a.zarr", 9)


def test_an_unfinished_or_damaged_store_on_read_only_media_says_so(tmp_path, request):
    for name in ("a.zarr", "b.zarr"):
        simulate(tmp_path / name)
    (tmp_path / "a.zarr" / "done" / "c" / "1").unlink()
    (tmp_path / "b.zarr" / "risk" / "c" / "1" / "0" / "0").unlink()
    request.getfixturevalue("read_only")
    with pytest.raises(sr.errors.StoreError, match="is read-only; make it writable"):
        simulate(tmp_path / "a.zarr")
    with pytest.raises(sr.errors.StoreError, match="damaged in task 1 and read-only"):
        simulate(tmp_path / "b.zarr")


@pytest.mark.parametrize("path", ["s3://bucket/run.zarr", "file:///data/run.zarr", Path("gs://bucket/x"), "", "a\0b"])
def test_what_is_no_directory_of_this_machine_is_refused_at_once(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(sr.errors.SubridgeError, match=r"is an address|is no path|must be a path"):
        sr.Run(store=path)
    assert not list(tmp_path.iterdir())


def test_a_tilde_is_the_home_of_the_user(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "home").mkdir()
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    simulate("~/a.zarr")
    assert [entry.name for entry in tmp_path.iterdir()] == ["home"]
    assert (tmp_path / "home" / "a.zarr" / "zarr.json").exists()
    with pytest.raises(sr.errors.StoreError, match="no such home"):
        sr.Run(store="~nobody_of_this_name/a.zarr")


def pretend_version(store, version):
    """Let a store say that another version wrote it."""
    head = store / "zarr.json"
    described = json.loads(head.read_text())
    attributes = described["attributes"]
    del attributes["attributes_digest"]
    attributes["subridge_version"] = version
    attributes["attributes_digest"] = digest_of_text(attributes)
    head.write_text(json.dumps(described))


def test_a_store_of_another_version_whose_numbers_are_equal_is_gone_on_with(tmp_path, ran):
    place = tmp_path / "a.zarr"
    whole = simulate(place)
    pretend_version(place, "0.0.1")
    (place / "done" / "c" / "2").unlink()
    ran.clear()
    assert simulate(place).identical(whole)
    assert ran == [[0, 1, 2], [6]]  # the proof, and what was missing
    simulate(place, 9)
    assert json.loads((place / "zarr.json").read_text())["attributes"]["subridge_version"] == "0.0.1"


def test_a_store_of_another_version_whose_numbers_differ_is_refused(tmp_path, monkeypatch):
    place = tmp_path / "a.zarr"

    def otherwise(experiment, trials, plan):
        return {name: values * (1 + 1e-15) for name, values in run_trials(experiment, trials, plan).items()}

    monkeypatch.setattr(driver, "ENGINE", replace(driver.ENGINE, run_trials=otherwise))
    simulate(place)
    monkeypatch.undo()
    pretend_version(place, "0.0.1")
    with pytest.raises(sr.errors.StoreError, match=r"subridge 0\.0\.1, and this version .* gives other numbers"):
        simulate(place)


def test_results_that_are_not_finite_are_not_kept(tmp_path, monkeypatch):
    def broken(experiment, trials, plan):
        values = run_trials(experiment, trials, plan)
        return values | {"training_error": values["training_error"] + np.inf}

    monkeypatch.setattr(driver, "ENGINE", replace(driver.ENGINE, run_trials=broken))
    with pytest.raises(sr.errors.ConvergenceError, match="training_error of trials"):
        simulate(tmp_path / "a.zarr")
    assert not (tmp_path / "a.zarr" / "done" / "c").exists()


def test_claims_are_given_back_when_a_run_fails(tmp_path, monkeypatch):
    def broken(*_):
        raise sr.errors.ConvergenceError("no")

    monkeypatch.setattr(driver, "ENGINE", replace(driver.ENGINE, run_trials=broken))
    with pytest.raises(sr.errors.ConvergenceError):
        simulate(tmp_path / "a.zarr")
    store = ResumableStore.open(tmp_path / "a.zarr", KIND)
    assert list(store.claimed(store.missing())) == [0, 1, 2]
    store.release()
