"""Print the tables of the tournament from data/<role>.json: python benchmarks/tournament/report.py ROLE_OR_FILE"""

import json
import sys

import numpy as np
from sets import SOURCES
from tables import FOLDER


def median(values):
    return float(np.median(values)) if len(values) else float("nan")


def percent(value):
    return f"{100 * value:.1f}"


def misses(cells, key=None):
    values = [cell["forecast"] if key is None else cell["rivals"][key] for cell in cells]
    with np.errstate(all="ignore"):
        found = np.abs(np.array(values) / np.array([cell["truth"] for cell in cells]) - 1)
    return np.where(np.isfinite(found), found, np.inf)


def covers(cells):
    return [cell["lower"] <= cell["truth"] <= cell["upper"] for cell in cells]


def forecasts(cells):
    names = list(dict.fromkeys(cell["set"] for cell in cells))
    laws = list(cells[0]["rivals"])
    print(
        "| set | kind | cells | in reach | median error | 90th | bias | covered | all covered | upper/lower |", end=""
    )
    print(" last value | best law |\n|" + "---|" * 12)
    rows = {}
    for name in [*names, "all"]:
        every = [cell for cell in cells if name in (cell["set"], "all")]
        near = [cell for cell in every if cell["in_reach"]]
        known = [cell for cell in every if np.isfinite(cell["forecast"])]
        error = misses(near)
        rivals = {law: median(misses(near, law)) for law in laws}
        best = min(rivals, key=rivals.get)
        bias = median([cell["forecast"] / cell["truth"] - 1 for cell in near])
        width = median([cell["upper"] / max(cell["lower"], 1e-300) for cell in known])
        rows[name] = median(error), rivals, np.mean(covers(known))
        kind = SOURCES[name].kind if name in SOURCES else ""
        print(
            f"| {name} | {kind} | {len(every)} | {len(near) / len(every):.0%} | {percent(median(error))} | "
            f"{percent(np.quantile(error, 0.9)) if len(error) else '-'} | {percent(bias)} | "
            f"{f'{np.mean(covers(near)):.0%}' if near else '-'} | {np.mean(covers(known)):.0%} | {width:.2f} | "
            f"{percent(rivals['last value'])} | {best} {percent(rivals[best])} |"
        )
    # A set without a cell in reach has no error to rank; its cells count in the share in reach and beyond it.
    unknown = [name for name in names if np.isnan(rows[name][0])]
    names = [name for name in names if name not in unknown]
    ours = median([rows[name][0] for name in names])
    theirs = {law: median([rows[name][1][law] for name in names]) for law in laws}
    print(
        f"\nMedian over {len(names)} sets (nothing in reach: {', '.join(unknown) or 'none'}) of the median error: "
        f"forecast {percent(ours)} %; " + ", ".join(f"{law} {percent(value)}" for law, value in theirs.items())
    )
    best = min(theirs, key=theirs.get)
    ratios = {name: rows[name][0] / rows[name][1]["last value"] for name in names}
    print(
        f"Against the best rival ({best}): {ours / theirs[best]:.2f}. Ratio to last value by set: "
        + ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items())
    )
    beaten = {law: sum(rows[name][1][law] < rows[name][0] for name in names) for law in laws}
    print(f"Sets (of {len(names)}) on which a rival has the smaller median error: {beaten}")
    for title, key in (
        ("size over n", lambda c: c["size"] // c["n"]),
        ("pilot", lambda c: "under 300 rows" if c["n"] < 300 else "from 300 rows"),
        ("ridge", lambda c: c["ridge"]),
        ("ensemble", lambda c: c["ensemble"]),
    ):
        for value in sorted({key(cell) for cell in cells}, key=str):
            part = [cell for cell in cells if key(cell) == value and cell["in_reach"]]
            if part:
                print(
                    f"{title} {value}: median {percent(median(misses(part)))}, covered {np.mean(covers(part)):.0%}, "
                    f"last value {percent(median(misses(part, 'last value')))}"
                )
    far = [cell for cell in cells if not cell["in_reach"] and np.isfinite(cell["forecast"])]
    if far:
        print(
            f"Beyond reach: {len(far)} cells, median {percent(median(misses(far)))}, "
            f"covered {np.mean(covers(far)):.0%}, last value {percent(median(misses(far, 'last value')))}"
        )
    votes = [c for c in cells if "wrong" in c and c["in_reach"] and np.isfinite(c["wrong"]) and c["wrong_truth"] > 0]
    if votes:
        error = [abs(c["wrong"] / c["wrong_truth"] - 1) for c in votes]
        covered = np.mean([c["wrong_lower"] <= c["wrong_truth"] <= c["wrong_upper"] for c in votes])
        print(f"Votes: median error {percent(median(error))}, covered {covered:.0%} ({len(votes)} cells)")


def advice(cells, truth, rival):
    """`truth` and `rival` name what is measured in a cell."""
    regret, other, loss, gains = [], [], [], []
    print("\n| set | n | advised | regret | one ridge, leave-one-out | loss to it | best candidate |\n|" + "---|" * 7)
    for cell in cells:
        errors, single = cell[truth], cell[rival]
        best = min(errors, key=errors.get)
        least = min(errors[best], single)
        regret.append(errors[cell["advised"]] / least - 1)
        other.append(single / least - 1)
        loss.append(errors[cell["advised"]] / single - 1)
        if errors[best] < 0.95 * single:
            gains.append(cell["advised"] != "one ridge")
        print(
            f"| {cell['set']} | {cell['n']} | {cell['advised']} | {percent(regret[-1])} | {percent(other[-1])} | "
            f"{percent(loss[-1])} | {best} |"
        )
    regret, other = np.array(regret), np.array(other)
    print(
        f"\nAdvice within 2 % of the best candidate: {np.mean(regret < 0.02):.0%} "
        f"(one ridge: {np.mean(other < 0.02):.0%}); mean regret {percent(regret.mean())} "
        f"(one ridge {percent(other.mean())}); worst loss to one ridge {percent(max(loss))}; "
        f"an ensemble advised in {np.sum(gains)} of {len(gains)} cases where one wins by 5 %"
    )


if __name__ == "__main__":
    given = sys.argv[1]
    with open(given if given.endswith(".json") else FOLDER / f"{given}.json") as file:
        found = json.load(file)
    failed = [cell for cells in found.values() for cell in cells if "failed" in cell]
    for cell in failed:
        print("FAILED", cell)
    forecasts([cell for cell in found["forecast"] if "failed" not in cell])
    pieces = [cell for cell in found["advice"] if "failed" not in cell]
    if pieces and "pasted" in pieces[0]:
        print("\nAdvice, pasted: estimators choose ridge and weights by the rows they are trained on.")
        advice(pieces, "pasted", "pasted_rival")
    if pieces:
        print("\nAdvice, held: ridge and weights of the pilot.")
        advice(pieces, "truth", "rival")
