"""Tables of benchmarks/forecast_real.py."""

from collections import defaultdict
from pathlib import Path

import numpy as np

KINDS = ("single", "equal", "heterogeneous")

_METHOD = """\
Rows of every set are pooled and put into random order once; pilot j is rows jn to (j + 1)n, up to 8 pilots (20 of
cifar10). Measured: plain ridge fits (intercept, penalty λ N_r) on random n′ rows, squared error summed over one-hot
targets on up to 4,000 rows that were not trained on, 12 trials (48 for sets of fewer than 3,000 rows), without the rows
of the pilot it is compared with. Ensembles have k = 8 members, heterogeneous ones a spread of .75. Ridges: the best
leave-one-out one of the first pilot, a tenth of it and ten times it; and `tuned`, where the forecast takes the best at
n′ from the path of `ridges="auto"` (17 values, scale of all rows) and is compared with what is measured at that ridge.
Relative error is forecast/measured - 1 of one pilot; "median error" is the median of its absolute value, "bias" its
median. Forecasts of one pilot go up and down together, so that coverage is known no better than pilots are many.
"""

_POWER_LAW = """\
Power law a + b n^-c through `learning_curve` (5 folds, 8 sizes) of the same ensemble of `Ridge`, against `sr.forecast`
of that one ensemble at both sizes, with intervals, for one-hot targets as numbers (so that neither counts votes). One
thread, by turns, the same pilots (first 3; 2 of n = 1000), fixed ridges, in reach. `times cheaper` is the median of the
quotients of wall times. Both sizes come from one call of each.
"""

_ECV = """\
`sklearn-ensemble-cv` 0.2.5 estimates the error of a bagged ensemble at the sample size it has, from the rows that its
members did not see, and extrapolates over the number of members. It has no forecast for larger n, no given subsets and
no intervals, and needs every member to miss rows. Its GCV takes one target and the spectrum of all features, so that it
does not fit members on subsets. Compared here is ECV (8 members): for one ridge on .8 n rows both estimate the same
error; for 8 members of M/8 features each is compared with what its own ensemble measures, ours disjoint subsets and all
n rows, theirs random features and a random .8 n rows per member.
"""


def write_tables(results, path, command):
    """Write the markdown of all sets that were run."""
    cases = [case for found in results.values() for case in found["cases"]]
    compared = [record for found in results.values() for record in found["compared"]]
    lines = ["# Forecasts from pilots of real data", "", f"`{command}`", "", *_method(results), ""]
    lines += ["## Accuracy", "", *_summary(cases), "", *_by_set(cases), "", *_votes(cases), ""]
    lines += ["## Against what people use now", "", *_rivals(compared), "", *_ecv(compared), ""]
    lines += ["## Every case", "", *_cases(cases)]
    Path(path).write_text("\n".join(lines) + "\n")
    print("\n".join(lines[: lines.index("## Every case")]))


def _method(results):
    rows = []
    for name, found in results.items():
        about = found["set"]
        pilots = sorted({case["n"] for case in found["cases"]})
        ratio = ", ".join(f"{kind} {about['official'][kind]:.3f}" for kind in about.get("official", {}))
        rows.append([name, about["note"], about["rows"], about["M"], ", ".join(map(str, pilots)), ratio])
    return [
        *_METHOD.split("\n"),
        *_table(["set", "features", "rows", "M", "n", "official split / random split, n′ = 1000"], rows),
    ]


def _relative(case, key="forecast", truth="measured"):
    return case[key] / case[truth] - 1


def _of(cases, **conditions):
    return [case for case in cases if all(case[key] == value for key, value in conditions.items())]


def _median(cases, **names):
    return float(np.median([abs(_relative(case, **names)) for case in cases])) if cases else np.nan


def _covered(cases):
    return np.mean([case["lower"] <= case["measured"] <= case["upper"] for case in cases]) if cases else np.nan


def _percent(share, digits=1):
    return "–" if np.isnan(share) else f"{100 * share:.{digits}f} %"


def _larger(cases):
    return [case for case in cases if case["size"] > case["n"]]


def _summary(cases):
    reach = [case for case in _larger(cases) if case["in_reach"]]
    now = [case for case in cases if case["size"] == case["n"]]
    groups = {
        "n′ = 2n and 4n, in reach": reach,
        "of these, ridge tuned": _of(reach, setting="tuned"),
        "of these, ridge fixed": [case for case in reach if case["setting"] != "tuned"],
        "of these, n′ = 2n": [case for case in reach if case["size"] == 2 * case["n"]],
        "of these, n′ = 4n": [case for case in reach if case["size"] == 4 * case["n"]],
        "n′ = n (leave-one-out)": now,
    }
    rows = []
    for label, chosen in groups.items():
        both = [case for case in chosen if case["kind"] != "single"]
        one = _of(chosen, kind="single")
        bias = [np.median([_relative(case) for case in part]) if part else np.nan for part in (both, one)]
        rows.append(
            [
                label,
                *(len(both), _percent(_median(both)), _percent(bias[0]), _percent(_covered(both), 0)),
                *(len(one), _percent(_median(one)), _percent(bias[1]), _percent(_covered(one), 0)),
            ]
        )
    noise = np.median([case["measured_error"] / case["measured"] for case in reach])
    head = ["forecasts", "ensembles", "median error", "median bias", "90 % intervals cover"]
    head += ["single ridge", "median error", "median bias", "90 % intervals cover"]
    return [
        *_table(head, rows),
        "",
        f"The measured values have a median standard error of {_percent(noise)}. {_alike(reach)}",
    ]


def _alike(reach):
    """Medians in which no set counts more than another."""
    names = dict.fromkeys(case["set"] for case in reach)
    both = [_median([case for case in _of(reach, set=name) if case["kind"] != "single"]) for name in names]
    one = [_median(_of(reach, set=name, kind="single")) for name in names]
    return (
        f"In reach, at n′ = 2n and 4n, the median over the {len(both)} sets of each set's median error is "
        f"{_percent(np.median(both))} for ensembles and {_percent(np.median(one))} for the single ridge."
    )


def _by_set(cases):
    rows = []
    for name in dict.fromkeys(case["set"] for case in cases):
        for n in sorted({case["n"] for case in _of(cases, set=name)}):
            reach = [case for case in _larger(_of(cases, set=name, n=n)) if case["in_reach"]]
            cells = []
            for kind in KINDS:
                chosen = _of(reach, kind=kind)
                bias = np.median([_relative(case) for case in chosen]) if chosen else np.nan
                worst = max([abs(_relative(case)) for case in chosen], default=np.nan)
                cells += [f"{_percent(_median(chosen))} ({_percent(bias)}; {_percent(worst, 0)})"]
                cells += [_percent(_covered(chosen), 0)]
            rows.append([name, n, *cells])
    head = ["set", "n"]
    for kind in KINDS:
        head += [f"{kind}: median error (bias; worst)", "cover"]
    return ["By set, n′ = 2n and 4n, in reach:", "", *_table(head, rows)]


def _votes(cases):
    counted = [case for case in cases if case.get("votes") is not None]
    rows = []
    for label, chosen in {
        "n′ = n (leave-one-out)": [case for case in counted if case["size"] == case["n"]],
        "n′ = 2n": [case for case in counted if case["size"] == 2 * case["n"]],
        "n′ = 4n": [case for case in counted if case["size"] == 4 * case["n"]],
    }.items():
        cells = []
        for kind in KINDS:
            part = _of(chosen, kind=kind)
            names = {"key": "votes", "truth": "votes_measured"}
            bias = np.median([_relative(case, **names) for case in part]) if part else np.nan
            held = [case["votes_lower"] <= case["votes_measured"] <= case["votes_upper"] for case in part]
            share = np.mean(held) if part else np.nan
            cells += [f"{_percent(_median(part, **names))} ({_percent(bias)})", _percent(share, 0)]
        rows.append([label, *cells])
    head = ["share of wrong majority votes"]
    for kind in KINDS:
        head += [f"{kind}: median error (bias)", "cover"]
    return ["Misclassification by majority vote, in reach, sets of classes:", "", *_table(head, rows)]


def _seconds(records):
    return float(np.median([record["wall"] for record in records])) if records else np.nan


def _rivals(compared):
    rows = []
    for name in [*dict.fromkeys(record["set"] for record in compared), "all"]:
        chosen = compared if name == "all" else _of(compared, set=name)
        for kind in KINDS:
            ours = _of(chosen, kind=kind, method="forecast", in_reach=True)
            law = _of(chosen, kind=kind, method="power law", in_reach=True)
            tuned = [r for r in chosen if r["kind"] == kind and r["method"] == "forecast, 17 ridges"]
            voted = [r for r in chosen if r["kind"] == kind and r["method"] == "forecast, with votes"]
            ratios = [b["wall"] / a["wall"] for a, b in zip(ours, law, strict=True)]
            verdict = [_median(ours, key="estimate"), _median(law, key="estimate")]
            quick = float(np.median(ratios)) if ratios else np.nan
            short = [] if verdict[0] <= verdict[1] else ["less accurate"]
            short += [] if quick >= 10 else ["less than 10 times cheaper"]
            rows.append(
                [
                    *(name, kind, len(ours), _percent(verdict[0]), _percent(verdict[1])),
                    *(f"{_seconds(ours):.3f}", f"{_seconds(law):.2f}", f"{quick:.1f}", f"{_seconds(tuned):.3f}"),
                    f"{17 * _seconds(law) / _seconds(tuned):.0f}" if tuned and law else "–",
                    *(f"{_seconds(voted):.3f}", ", ".join(short)),
                ]
            )
    head = ["set", "ensemble", "forecasts", "median error, ours", "power law", "s, ours", "s, power law"]
    head += ["times cheaper", "s, ours, best of 17 ridges", "times cheaper than 17 power laws", "s, ours, with votes"]
    head += ["falls short"]
    return [*_POWER_LAW.split("\n"), *_table(head, rows), "", *_beyond(compared)]


def _beyond(compared):
    law = _of(compared, method="power law", in_reach=False)
    if not law:
        return []
    error = _percent(_median(law, key="estimate"))
    return [f"Beyond reach, where ours gives nothing, the power law errs by {error}."]


def _ecv(compared):
    rows = []
    for name in [*dict.fromkeys(record["set"] for record in compared), "all"]:
        chosen = compared if name == "all" else _of(compared, set=name)
        for kind, what in (("single", "one ridge, .8 n rows"), ("equal", "8 members of M/8 features")):
            ours = _of(chosen, kind=kind, method="forecast at n")
            theirs = _of(chosen, kind=kind, method="ECV")
            if theirs:
                quick = np.median([b["wall"] / a["wall"] for a, b in zip(ours, theirs, strict=True)])
                rows.append(
                    [
                        *(name, what, len(ours)),
                        *(_percent(_median(ours, key="estimate")), _percent(_median(theirs, key="estimate"))),
                        *(f"{_seconds(ours):.3f}", f"{_seconds(theirs):.3f}", f"{quick:.1f}"),
                    ]
                )
    head = ["set", "what", "estimates", "median error, ours", "ECV", "s, ours", "s, ECV", "times cheaper"]
    return [*_ECV.split("\n"), *_table(head, rows)]


def _cases(cases):
    groups = defaultdict(list)
    for case in cases:
        groups[case["set"], case["n"], case["size"], case["kind"], case["setting"]].append(case)
    rows = []
    for (name, n, size, kind, setting), chosen in groups.items():
        reach = np.mean([case["in_reach"] for case in chosen])
        error = np.mean([_relative(case) for case in chosen])
        size_of_error = np.mean([abs(_relative(case)) for case in chosen])
        ridges = sorted({case["ridge"] for case in chosen})
        ridge = f"{ridges[0]:.2g}" if len(ridges) == 1 else f"{ridges[0]:.2g} to {ridges[-1]:.2g}"
        votes = "–"
        if "votes" in chosen[0] and reach > 0:
            seen = [case for case in chosen if case["votes"] is not None]
            votes = f"{np.mean([c['votes'] for c in seen]):.3f} / {np.mean([c['votes_measured'] for c in seen]):.3f}"
        rows.append(
            (
                size_of_error,
                [
                    *(name, n, size, kind, setting, ridge, f"{np.mean([case['forecast'] for case in chosen]):.4f}"),
                    *(f"{np.mean([case['measured'] for case in chosen]):.4f}", _percent(error)),
                    *(_percent(size_of_error), _percent(reach, 0), _percent(_covered(chosen), 0), votes),
                ],
            )
        )
    rows.sort(key=lambda row: -row[0])
    head = ["set", "n", "n′", "ensemble", "ridge is", "λ", "forecast", "measured", "mean error", "mean size of error"]
    head += ["pilots in reach", "intervals cover", "wrong votes: forecast / measured"]
    return [
        "Means over pilots, the worst on top; pilots beyond reach are left out. Every pilot is in the JSON.",
        "",
        *_table(head, [row for _, row in rows]),
    ]


def _table(head, rows):
    return [
        "| " + " | ".join(map(str, head)) + " |",
        "|" + "---|" * len(head),
        *("| " + " | ".join(map(str, row)) + " |" for row in rows),
    ]
