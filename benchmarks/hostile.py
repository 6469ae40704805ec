"""Hostile problems against ball arithmetic: is every number right, or does it say that it is not?

    python benchmarks/hostile.py [--seed S] [--one 10000] [--two 100000] [--rows 20000] [--near 5000] [--more 3000]
        [--exact 6000] [--ridges 3000] [--jobs J]

Prints a line per kind and every loss: an answer off by more than its bound, or by more than 1e-8 (leave-one-out: 1e-7)
without a warning, an ill-posed ridge let through, a well-posed one refused, a negative risk, a raw warning, a best
ridge that raises or that a grid of ridges beats by more than 1e-6. Exits with 1 if there is any. Needs python-flint.
"""

import argparse
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from reference import judge

_PART = 500  # Prop. 2 points per task
_FITTED = "scaled", "simplex", "free"  # aggregations that take turns


def _one(seed):
    return judge.judge_one(seed)


def _two(seed):
    return judge.judge_two(seed, _PART)


def _structured(seed):
    return judge.judge_structured(seed)


def _fitted(seed):
    kind = judge.judge_one if seed % 2 else judge.judge_structured
    return kind(seed, aggregation=_FITTED[seed // 2 % 3])


def _at_size(seed):
    return judge.judge_two(seed, _PART, int(10 ** (seed % 8)))


def _two_fitted(seed):
    return judge.judge_two(seed, _PART, None if seed % 2 else int(10 ** (seed // 6 % 8)), _FITTED[seed // 2 % 3])


def _rows(seed):
    return judge.judge_rows(seed)


def _near(seed):
    return judge.judge_near(seed)


def _singular(seed):
    return judge.judge_singular(seed)


def _seeming(seed):
    return judge.judge_seeming(seed)


def _common(seed):
    return judge.judge_common_ridge(seed)


def _joint(seed):
    return judge.judge_joint_ridges(seed)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--one", type=int, default=10_000)
    parser.add_argument("--two", type=int, default=100_000)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument(
        "--near", type=int, default=5_000, help="rows and groups whose columns nearly explain each other"
    )
    parser.add_argument(
        "--more",
        type=int,
        default=3_000,
        help="structured cases, and cases of each aggregation with fitted weights; 10 times for Prop. 2",
    )
    parser.add_argument(
        "--exact",
        type=int,
        default=6_000,
        help="exactly singular covariances, of two families, and half as many that seem so",
    )
    parser.add_argument("--ridges", type=int, default=3_000, help="best common ridges, and joint ones, against grids")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    given = parser.parse_args()
    start, losses = given.seed * 1_000_000, 0
    with ProcessPoolExecutor(given.jobs) as pool:
        for name, task, n in (
            ("Prop. 1", _one, given.one),
            ("Prop. 2", _two, given.two // _PART),
            ("rows", _rows, given.rows),
            ("rows and groups, near dependence", _near, given.near),
            ("Prop. 1, independent features and spikes", _structured, given.more),
            ("Prop. 1, fitted weights", _fitted, 3 * given.more),
            ("Prop. 2 at finite M", _at_size, 10 * given.more // _PART),
            ("Prop. 2, fitted weights", _two_fitted, 30 * given.more // _PART),
            ("Prop. 1, exactly singular covariances", _singular, given.exact),
            ("Prop. 1, covariances that seem singular", _seeming, given.exact // 2),
            ("best common ridge on two levels of variance", _common, given.ridges),
            ("ridges chosen together", _joint, given.ridges),
        ):
            began = time.perf_counter()
            found = list(pool.map(task, range(start, start + n), chunksize=8))
            verdicts = [v for part in found if part is not None for v in (part if isinstance(part, list) else [part])]
            skipped = sum(part is None for part in found)
            print(f"{name}: {time.perf_counter() - began:.0f} s, ill-posed on both sides {skipped}")
            for kind in sorted({v.kind for v in verdicts}) if len({v.kind for v in verdicts}) > 1 else []:
                print(f"  {kind:10s} {judge.summary([v for v in verdicts if v.kind == kind])}")
            print(f"  {'all':10s} {judge.summary(verdicts)}" if verdicts else "  nothing")
            for seed, part in zip(range(start, start + n), found, strict=True):
                for v in part if isinstance(part, list) else [part]:
                    if v is not None and v.remark:
                        losses += 1
                        print("  LOSS", seed, v)
    sys.exit(int(losses > 0))


if __name__ == "__main__":
    main()
