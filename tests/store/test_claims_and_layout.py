"""What a store is made of: locks on bytes, folders that are moved into place, descriptions, digests."""

import errno
import json
import os
import shutil
import threading
import time
from contextlib import suppress

import numpy as np
import pytest

import subridge as sr
from scripts import wait_for
from subridge.store import claims, digests, layout, resumable
from subridge.store.claims import Claims
from subridge.store.complaints import listed
from subridge.store.resumable import ResumableStore
from subridge.store.tasks import KIND

pytest.importorskip("zarr")


def simulate(store=None, n_trials=7, block=3, **options):
    problem = sr.Problem(sr.covariance.isotropic(12), np.ones(12), label_noise=0.1)
    ensemble = sr.Ensemble(sr.subsets.equal(2, 12, seed=0))
    settings = {"ridges": [0.1, 1.0], "progress": False} | options
    return sr.simulate(problem, ensemble, [4, 9], n_trials, run=sr.Run(store=store, block=block), **settings)


def handles(path):
    """How often this process has a file open; what else it opens and closes meanwhile does not count."""
    count = 0
    for number in os.listdir("/dev/fd"):
        with suppress(OSError):  # that of the listing itself is closed again
            count += os.path.samestat(os.fstat(int(number)), os.stat(path))
    return count


@pytest.mark.parametrize(
    ("problem", "granted"),
    [(errno.ENOLCK, True), (errno.EOPNOTSUPP, True), (errno.EACCES, False), (errno.EAGAIN, False)],
)
def test_every_claim_is_granted_where_a_file_system_knows_no_locks(tmp_path, monkeypatch, problem, granted):
    fcntl = pytest.importorskip("fcntl")

    def refuse(*_):
        raise OSError(problem, "no")

    own = Claims(tmp_path / "claims")
    with monkeypatch.context() as patched:
        patched.setattr(fcntl, "lockf", refuse)
        assert own.take(1) is granted
        patched.undo()
    own.close()


@pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="needs a list of what is open")
def test_a_file_of_claims_is_open_once_and_closed_by_its_last_user(tmp_path):
    several = [Claims(tmp_path / "claims") for _ in range(3)]
    assert handles(tmp_path / "claims") == 1
    several[0].close()
    assert several[1].take(5)
    several[1].close()
    assert handles(tmp_path / "claims") == 1
    assert several[2].take(5)
    several[2].close()
    assert handles(tmp_path / "claims") == 0
    assert not claims._open


def test_who_waits_for_the_description_gets_it_soon_after_it_is_free(tmp_path):
    one, other = Claims(tmp_path / "claims"), Claims(tmp_path / "claims")
    order = []

    def second():
        with other.description():
            order.append("second")

    with one.description():
        waiting = threading.Thread(target=second)
        waiting.start()
        time.sleep(0.1)
        assert not order
        order.append("first")
    begun = time.monotonic()
    waiting.join()
    assert time.monotonic() - begun < 0.8
    assert order == ["first", "second"]
    with one.description():  # given back by the second, too
        order.append("third")
    for each in (one, other):
        each.close()


def test_tasks_are_named_in_words():
    assert listed([4]) == "task 4"
    assert listed([4, 7]) == "tasks 4, 7"
    assert listed([1, 2, 3, 4, 5]) == "tasks 1, 2, 3, 4, 5"
    assert listed([1, 2, 3, 4, 5, 6, 7]) == "tasks 1, 2, 3, 4, 5 and 2 more"


def test_a_digest_depends_on_names_types_shapes_contents_and_context():
    values = np.arange(6.0)
    kinds = [
        ({"a": values}, ("f", 0)),
        ({"b": values}, ("f", 0)),
        ({"a": values.astype(np.float32)}, ("f", 0)),
        ({"a": values.reshape(2, 3)}, ("f", 0)),
        ({"a": -values}, ("f", 0)),
        ({"a": values}, ("g", 0)),
        ({"a": values}, ("f", 1)),
    ]
    found = [digests.digest_of_values(arrays, *context) for arrays, context in kinds]
    assert len(set(found)) == len(kinds)
    assert all(0 < digest < 2**64 for digest in found)
    assert max(found) > 2**56  # all of the 64 bits are used
    a, b = values[:2], values[2:]
    assert digests.digest_of_values({"a": a, "b": b}) == digests.digest_of_values({"b": b, "a": a})
    transposed = np.ascontiguousarray(values.reshape(2, 3).T)
    assert digests.digest_of_values({"a": transposed}) == digests.digest_of_values({"a": values.reshape(2, 3).T})


def test_a_creation_whose_folder_always_vanishes_is_given_up(tmp_path, monkeypatch):
    lay_out, times = layout._lay_out, []

    def vanishing(scratch, *rest):
        times.append(scratch)
        lay_out(scratch, *rest)
        shutil.rmtree(scratch)

    monkeypatch.setattr(layout, "_lay_out", vanishing)
    with pytest.raises(sr.errors.StoreError, match="kept vanishing; try again"):
        simulate(tmp_path / "a.zarr")
    assert len(set(times)) == 5
    assert not list(tmp_path.iterdir())


def test_a_place_that_cannot_be_taken_is_an_error_at_once(tmp_path, monkeypatch):
    def refused(self, target):
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr(layout.Path, "rename", refused)
    with pytest.raises(sr.errors.StoreError, match="Invalid cross-device link"):
        simulate(tmp_path / "a.zarr")
    assert not list(tmp_path.iterdir())


def test_a_creation_under_way_is_not_taken_for_a_leftover(tmp_path, monkeypatch):
    lay_out, seen = layout._lay_out, []

    def watched(scratch, *rest):
        layout.remove_leftovers(tmp_path / "a.zarr")
        seen.append(scratch.exists())
        lay_out(scratch, *rest)

    monkeypatch.setattr(layout, "_lay_out", watched)
    simulate(tmp_path / "a.zarr")
    assert seen == [True]


@pytest.mark.parametrize("moment", ["before it has its claim", "before it is moved"])
def test_nor_at_its_first_and_its_last_moment(tmp_path, monkeypatch, moment):
    lay_out, take, rename, laid_out = layout._lay_out, Claims.take, layout.Path.rename, []

    def cleaned_before_claim(self, number):
        if not laid_out and moment == "before it has its claim":
            monkeypatch.setattr(Claims, "take", take)
            layout.remove_leftovers(tmp_path / "a.zarr")
        return take(self, number)

    def cleaned_before_move(self, target):
        if moment == "before it is moved" and self.name.endswith(".creating"):
            layout.remove_leftovers(tmp_path / "a.zarr")
        return rename(self, target)

    monkeypatch.setattr(Claims, "take", cleaned_before_claim)
    monkeypatch.setattr(layout.Path, "rename", cleaned_before_move)

    def watched(scratch, *rest):
        laid_out.append(scratch.joinpath(*layout.CLAIMS).exists())
        lay_out(scratch, *rest)

    monkeypatch.setattr(layout, "_lay_out", watched)
    assert simulate(tmp_path / "a.zarr").identical(simulate())
    assert laid_out == [True]


def test_a_creation_killed_before_it_had_its_claim_is_removed_later(tmp_path):
    left = tmp_path / ".a.zarr.0.creating"
    (left / "done").mkdir(parents=True)
    layout.remove_leftovers(tmp_path / "a.zarr")
    assert left.exists()  # it may have begun this moment
    long_ago = time.time() - 3600
    os.utime(left, (long_ago, long_ago))
    layout.remove_leftovers(tmp_path / "a.zarr")
    assert not left.exists()


def test_stores_in_folders_that_are_not_there_are_created_with_them(tmp_path):
    assert simulate(tmp_path / "new" / "folder" / "a.zarr").identical(simulate())


def test_an_extension_moves_the_description_last_and_leaves_claims_and_results(tmp_path, monkeypatch):
    place, moved, replace = tmp_path / "a.zarr", [], os.replace
    simulate(place, 6)
    kept = [place.joinpath(*layout.CLAIMS), place / "risk" / "c" / "1" / "0" / "0"]
    before = [os.stat(file).st_ino for file in kept]

    def watched(source, target):
        moved.append(target)
        replace(source, target)

    monkeypatch.setattr(layout.os, "replace", watched)
    simulate(place, 9)
    ours = [target for target in moved if place in target.parents and target.name == "zarr.json"]
    assert ours.index(place / "zarr.json") == len(ours) - 1
    assert [os.stat(file).st_ino for file in kept] == before


def test_two_runs_that_extend_one_store_at_once_renew_it_once(tmp_path, monkeypatch):
    place, found, waiting, renewed = tmp_path / "a.zarr", [], set(), []
    simulate(place, 4)
    take, renew = Claims.take, resumable.renew

    def watched(self, number):
        if number > 2**20:
            waiting.add(threading.get_ident())
        return take(self, number)

    monkeypatch.setattr(Claims, "take", watched)
    monkeypatch.setattr(resumable, "renew", lambda *arguments: (renewed.append(arguments), renew(*arguments)))
    holder = Claims(place.joinpath(*layout.CLAIMS))
    with holder.description():
        runs = [threading.Thread(target=lambda: found.append(simulate(place, 9))) for _ in range(2)]
        for run in runs:
            run.start()
        wait_for(lambda: len(waiting) == 3)
    for run in runs:
        run.join()
    holder.close()
    assert len(renewed) == 1
    assert all(each.identical(simulate(n_trials=9)) for each in found)
    assert len(found) == 2


def test_a_damaged_description_is_mended_only_by_a_run_that_knows_all_rows(tmp_path):
    place = tmp_path / "a.zarr"
    whole = simulate(place, 10)
    (place / "ridge" / "zarr.json").write_text("{")
    with pytest.raises(sr.errors.StoreError, match="ask for its 10 rows to mend it"):
        simulate(place, 5)
    with pytest.raises(sr.errors.StoreError, match="do the same work again"):
        ResumableStore.open(place, KIND)
    with pytest.warns(sr.errors.DamagedStoreWarning, match="written anew"):
        assert simulate(place, 10).identical(whole)


def test_files_that_are_no_flags_are_not_taken_for_flags(tmp_path):
    place = tmp_path / "a.zarr"
    whole = simulate(place)
    for name in ("99", "1.partial", "x"):
        shutil.copy(place / "done" / "c" / "0", place / "done" / "c" / name)
    assert simulate(place).identical(whole)
    store = ResumableStore.open(place, KIND)
    assert (store.done(), store.missing()) == ([0, 1, 2], [])
    (place / "done" / "c" / "2").unlink()
    assert (store.done(), store.missing(), store.missing(6)) == ([0, 1], [2], [])


def test_a_wait_is_spoken_of_once_after_five_seconds_and_looks_often(tmp_path, monkeypatch, recwarn):
    simulate(tmp_path / "a.zarr")
    store, slept = ResumableStore.open(tmp_path / "a.zarr", KIND), []
    monkeypatch.setattr(resumable.time, "sleep", slept.append)
    while not recwarn.list:
        store.wait(4)
    assert 4 < sum(slept) < 6
    assert max(slept) <= 0.1
    for _ in range(1000):
        store.wait(4)
    assert [str(each.message)[:27] for each in recwarn.list] == ["waiting for 4 tasks of anot"]


def test_the_description_says_what_a_store_is(tmp_path):
    simulate(tmp_path / "a.zarr", 7)
    attributes = json.loads((tmp_path / "a.zarr" / "zarr.json").read_text())["attributes"]
    assert (attributes["schema"], attributes["schema_version"]) == ("subridge-curves", 2)
    assert (attributes["block"], attributes["n_rows"]) == (3, 7)
    risk = json.loads((tmp_path / "a.zarr" / "risk" / "zarr.json").read_text())
    assert risk["shape"] == [7, 2, 2]
    assert risk["chunk_grid"]["configuration"]["chunk_shape"] == [3, 2, 2]
    assert risk["fill_value"] == "NaN"
    assert [codec["name"] for codec in risk["codecs"]][-2:] == ["zstd", "crc32c"]
    done = json.loads((tmp_path / "a.zarr" / "done" / "zarr.json").read_text())
    assert (done["shape"], done["fill_value"], done["data_type"]) == ([3], 0, "uint64")


@pytest.mark.parametrize(("n_trials", "tasks"), [(6, 2), (7, 3), (8, 3), (9, 3)])
def test_a_store_has_as_many_flags_as_tasks(tmp_path, n_trials, tasks):
    simulate(tmp_path / "a.zarr", n_trials)
    assert json.loads((tmp_path / "a.zarr" / "done" / "zarr.json").read_text())["shape"] == [tasks]


def test_what_lies_beyond_the_trials_that_are_asked_for_does_not_matter(tmp_path):
    place = tmp_path / "a.zarr"
    simulate(place, 9)
    (place / "done" / "c" / "1").unlink()
    (place / "risk" / "c" / "1" / "0" / "0").write_bytes(b"half a chunk")  # a task that is not done
    (place / "risk" / "c" / "2" / "0" / "0").unlink()  # and a damaged one, of which nobody speaks
    ran = len(os.listdir(place / "done" / "c"))
    assert simulate(place, 3).identical(simulate(n_trials=3))
    assert len(os.listdir(place / "done" / "c")) == ran


def test_claims_on_tasks_leave_the_description_free(tmp_path):
    one, other = Claims(tmp_path / "claims"), Claims(tmp_path / "claims")
    assert all(one.take(number) for number in range(1000))
    assert other.take(claims._DESCRIPTION)
    for each in (one, other):
        each.close()


def test_reading_an_open_store_gives_its_coordinates(tmp_path):
    simulate(tmp_path / "a.zarr")
    store = ResumableStore.open(str(tmp_path / "a.zarr"), KIND)
    np.testing.assert_array_equal(store.read(["ridge"])["ridge"], [0.1, 1.0])
    assert (store.n_rows, store.block) == (7, 3)
    look = store.gather(["risk", "training_error"], 4)
    assert look.is_whole
    assert look.arrays["risk"].shape == (4, 2, 2)
