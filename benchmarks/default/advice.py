"""Advice on the tables of the tournament: is it what a fit takes, and what does it cost beside always one ridge?

    python benchmarks/default/advice.py DATA --jobs 16 --pilots 2 --minutes 9 --kept advice.jsonl

Pilots of each table, of its smallest size. At the pilot's size the advice is compared with what the default takes. For
twice as many rows every candidate of the advice is trained on them, ridge and weights chosen there, and its squared
error (one-hot for classes) on up to 2,000 other rows is compared with that of the best candidate (regret) and of one
ridge, not scaled. `--taken` trains what is advised and one ridge alone, which takes a twentieth of the time and leaves
the regret open. `--kept` has what the advice says of every candidate, beside its errors. The rule was looked at on
the first twenty tables; the others are reported apart.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
from tasks import parser, results

sys.path.insert(0, str(Path(__file__).parents[1] / "tournament"))

from tables import load, names

USED = 20  # tables, in the order of the sets
SAID = ("pilot_prediction_error", "prediction_error", "prediction_error_upper", "in_reach", "is_bound")
SAID += ("gain", "gain_standard_error")


def judged(task):
    """What the fit and the advice take from one pilot, and errors of the candidates at twice as many rows."""
    from sklearn.utils import check_random_state

    import subridge as sr

    folder, name, number, draws, taken = task
    warnings.simplefilter("ignore")
    table = load(name, Path(folder))
    n = next((each for each in table.pilots if table.sizes(each)), None)
    if n is None:
        return {}
    rows = table.pilot(n, number)
    X, y = table.X[rows], table.y[rows]
    seed = int(check_random_state(0).randint(np.iinfo(np.int32).max, size=2)[0])  # as an estimator draws it
    kind = sr.RidgeEnsembleClassifier if table.classes else sr.RidgeEnsembleRegressor
    fit = kind(random_state=0).fit(X, y)
    present, planned = (sr.advise(X, y, size, task=table.task, seed=seed) for size in (None, 2 * n))
    errors = {each: [] for each in planned.ensembles if not taken or each in ("one ridge", planned.best)}
    for draw in range(draws):
        train, test = table.split(2 * n, 100 + draw)
        for each in errors:
            ensemble = planned.ensembles[each]
            model = sr.RidgeEnsembleRegressor(subsets=ensemble.plan, aggregation=ensemble.aggregation.name)
            output = model.fit(table.X[train], table.targets[train]).predict(table.X[test])
            error = ((output.reshape(len(test), -1) - table.targets[test]) ** 2).sum() / len(test)
            errors[each].append(float(error))
    said = {each: {part: float(planned.table[part].sel(candidate=each)) for part in SAID} for each in errors}
    found = {"table": name, "n": n, "pilot": number, "fit": fit.choice_.name, "present": present.best}
    return found | {"planned": planned.best, "errors": errors, "said": said}


def report(kept):
    """What the advice costs over pilots."""
    errors = [{name: np.mean(values) for name, values in each["errors"].items()} for each in kept]
    ours, best, single = (
        np.array([pick(each, known) for each, known in zip(kept, errors, strict=True)])
        for pick in (lambda e, k: k[e["planned"]], lambda e, k: min(k.values()), lambda e, k: k["one ridge"])
    )
    same, change = [each["fit"] == each["present"] for each in kept], ours / single - 1
    print(f"advice at the pilot's size is what a fit takes on {sum(same)} of {len(kept)} pilots")
    print(f"mean regret {np.mean(ours / best - 1):.2%}, always one ridge {np.mean(single / best - 1):.2%}")
    within = [np.mean(each < 1.02 * best) for each in (ours, single)]
    print(f"within 2 % of the best {within[0]:.0%}, always one ridge {within[1]:.0%}")
    print(f"at worst {change.max():+.1%} beside one ridge, at best {change.min():+.1%}, mean {change.mean():+.2%}\n")


if __name__ == "__main__":
    options = parser(draws=2, pilots=1)
    options.add_argument("data", type=Path)
    options.add_argument("--only", nargs="+", help="tables")
    options.add_argument("--taken", action="store_true", help="train what is advised and one ridge alone")
    options = options.parse_args()
    print("| table | pilot | fit takes | advice at n | for 2n | / best | one ridge / best | advice / one ridge |")
    print("|---" * 8 + "|")
    kept, known = [], names(options.data)
    chosen = options.only or known
    rest = [options.draws, options.taken]
    tasks = [[str(options.data), name, number, *rest] for number in range(options.pilots) for name in chosen]
    for _, each in results(judged, tasks, options):
        if each:
            kept.append(each)
            errors = {name: np.mean(values) for name, values in each["errors"].items()}
            best, single, ours = min(errors.values()), errors["one ridge"], errors[each["planned"]]
            print(
                f"| {each['table']} | {each['n']} | {each['fit']} | {each['present']} | {each['planned']} | "
                f"{ours / best:.3f} | {single / best:.3f} | {ours / single:.3f} |",
                flush=True,
            )
    for title, part in ("looked at before", known[:USED]), ("not looked at before", known[USED:]), ("all", known):
        if some := [each for each in kept if each["table"] in part]:
            print(f"\nTables {title}:")
            report(some)
