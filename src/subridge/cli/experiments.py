"""`subridge demo` and `subridge simulate`: trained ensembles."""

from pathlib import Path
from typing import Any

import click

import subridge as sr
from subridge.cli import options as shared
from subridge.cli.options import numbers, redrawn, sizes
from subridge.cli.show import deliver, show_report
from subridge.model.errors import ParameterError, require

_N_FEATURES, _N_MEMBERS, _N_TRIALS, _RIDGE = 400, 10, 40, 1e-3
_N_SAMPLES = (10, 20, 28, 34, 37, 43, 48, 56, 70, 100, 140, 190, 250, 320, 400)


@click.command(short_help="One learning curve in seconds: theory beside trained ensembles.")
@click.option("--seed", type=click.IntRange(0), default=0)
@shared.result_options(out=Path("subridge-demo.png"))
def demo(**options: Any) -> None:
    """Draw one learning curve: an equal and a heterogeneous ensemble, theory and trained members."""
    import numpy as np

    from subridge.results.schemas import demo_curves
    from subridge.theory.thresholds import around_thresholds

    seed = options["seed"]
    problem = sr.EquicorrelatedProblem(correlation=0.2, feature_noise=0.1, label_noise=0.2).realise(_N_FEATURES, seed)
    plans = {
        "equal": sr.subsets.equal(_N_MEMBERS, _N_FEATURES, seed),
        "heterogeneous": sr.subsets.dirichlet(_N_MEMBERS, _N_FEATURES, 0.75, seed),
    }
    subset_sizes = [plan.subset_sizes for plan in plans.values()]
    ensembles = [sr.Ensemble(plan, ridge=_RIDGE) for plan in plans.values()]
    points = np.array(_N_SAMPLES)
    dense = around_thresholds(np.arange(8, _N_FEATURES + 1) / _N_FEATURES, np.concatenate(subset_sizes) / _N_FEATURES)
    curves = demo_curves(
        {
            "theory": [sr.risk(problem, each, dense).total for each in ensembles],
            "theory_at_points": [sr.risk(problem, each, points / _N_FEATURES).total for each in ensembles],
            "experiment": [sr.simulate(problem, each, points, _N_TRIALS, seed=seed).risk.values for each in ensembles],
            "subset_sizes": subset_sizes,
        },
        {"ensemble": list(plans), "dense_samples": dense * _N_FEATURES, "n_samples": points},
        n_features=_N_FEATURES,
        command=f"subridge demo --seed {seed}",
    )
    deliver(curves, options, draw=sr.figures.plot_demo, show=show_report)


@click.command(short_help="Train ensembles on sampled data; exact risks along a curve.")
@click.option("--n-features", type=click.IntRange(1, 10**7), default=500, help="M")
@shared.ensemble_options(n_members=4, fraction_spread=0.0)
@click.option("--n-samples", type=sizes, default="50:1000:20", help="P")
@click.option("--n-trials", type=click.IntRange(2, 10**7), default=20)
@click.option("--ridges", type=numbers, default="0.001,0.1", help="λ")
@shared.problem_options
@click.option(
    "--weights-from",
    type=click.Choice(("theory", "left_out")),
    default="theory",
    help="weights of --aggregation scaled, simplex or free: fixed by theory, or chosen in every trial",
)
@click.option("--redraw", type=redrawn, default="data,teacher", help="of data, teacher, subsets")
@click.option("--nested/--independent", default=True, help="training sets")
@click.option("--seed", type=click.IntRange(0), default=0)
@shared.run_options
@click.option("--store", type=click.Path(path_type=Path), help="directory that keeps finished tasks")
@click.option("--resume", is_flag=True, help="go on with what is in --store")
@click.option("--memory", type=click.IntRange(1), help="bytes the run may use; default half of what is free")
@shared.result_options()
def simulate(**options: Any) -> None:
    """Train ridge ensembles on equicorrelated data and print their exact risk along the learning curve.

    Lists are written a,b,c or start:stop:count or log:start:stop:count.

    \b
    subridge simulate --n-members 10 --n-samples 20:400:20 --out curves.png
    subridge simulate --n-features 2000 --n-trials 100 --store run.zarr --out curves.nc
    """
    _check_store(options["store"], options["resume"], options["out"])
    curves = sr.simulate(
        shared.problem_of(options),
        shared.ensemble_of(options, shared.strategy_of(options, options["n_features"])),
        run=shared.run_of(options),
        **shared.some_of(
            options, "n_samples", "n_trials", "ridges", "n_features", "weights_from", "redraw", "nested", "seed"
        ),
    )
    deliver(curves, options, draw=sr.figures.plot_simulated, show=show_report)


def _check_store(store: Path | None, resume: bool, out: Path | None) -> None:
    """A run continues an existing store only with --resume, and its result has a file of its own."""
    from subridge.store.tasks import is_store

    require(store is not None or not resume, "--resume needs --store: the directory to go on with", ParameterError)
    require(
        store is None or out is None or store.expanduser().absolute() != out.absolute(),
        f"--store and --out are both {out}; give the result a file of its own",
        ParameterError,
    )
    require(
        store is None or is_store(store) == resume,
        f"{store} does not exist, so there is nothing to resume; leave out --resume"
        if resume
        else f"{store} exists; add --resume to go on with it, or give another --store",
        ParameterError,
    )
