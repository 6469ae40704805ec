"""How far work has come."""

import re

import subridge as sr


def shares_of(bar):
    """Percentages that a bar showed, in their order."""
    return [int(share) for share in re.findall(r"(\d+)%", bar)]


def test_a_bar_begins_where_a_store_is_and_ends_at_the_whole(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")  # a terminal, to whom it may concern
    problem, ensemble = sr.EquicorrelatedProblem(), sr.Ensemble(sr.subsets.Equal(2), ridge=0.1)

    def shown(store):
        run = sr.Run(store=store, block=3)
        sr.simulate(problem, ensemble, [4, 9], 12, n_features=12, run=run, progress=True)
        return shares_of(capsys.readouterr().err)

    alone = shown(None)
    assert (alone[0], alone[-1]) == (0, 100)
    first = shown(tmp_path / "a")
    assert (first[0], first[-1]) == (0, 100)
    for name in ("3-6.npz", "6-9.npz", "9-12.npz"):
        (tmp_path / "a" / name).unlink()
    again = shown(tmp_path / "a")
    assert (again[0], again[-1]) == (25, 100)
    assert shown(tmp_path / "a") == []
