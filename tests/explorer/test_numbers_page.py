"""The page's numbers are those of subridge.risk, everywhere the sliders reach."""

import json
import warnings

import numpy as np
import pytest

import subridge as sr
from subridge.model.errors import AccuracyWarning, InfiniteRiskWarning

pytestmark = pytest.mark.page

N_POINTS = 10_000
RISK = """points => points.map(p => subridge.risk(p.problem, p.ensemble, p.alpha))
  .map(found => [found.mean, found.scaled, found.pairs])"""


def evaluate(page, function, points):
    """Call a function of the page; infinity does not survive JSON, and travels as 1e999 and as text."""
    text = json.dumps(points).replace("Infinity", "1e999")
    finite = "(_, v) => typeof v === 'number' && !Number.isFinite(v) ? String(v) : v"
    made = page.evaluate(f"() => JSON.stringify(({function})({text}), {finite})")
    return json.loads(made)


def draw_points(rng, count):
    """Points in the sliders' ranges; thresholds, ends of ranges and limits come often."""

    def often(*special, low=0.0, high=1.0):
        return float(rng.choice(special)) if rng.random() < 0.4 else float(rng.uniform(low, high))

    for _ in range(count):
        k = int(rng.integers(1, 13)) if rng.random() < 0.95 else 60
        parts = sr.subsets.Dirichlet(k, float(rng.choice([0.0, 0.5, 1.0, 2.0]))).fractions(rng)
        parts = np.maximum(parts, 1e-6) / np.maximum(parts, 1e-6).sum()
        seen, core = float(rng.choice([1.0, 1.0, 0.6, 0.05])), float(rng.choice([0.0, 0.0, 0.3, 0.9])) * (k > 1)
        fractions = seen * (core + (1 - core) * parts)
        ridge = (
            float(rng.choice([0.0, 0.0, 1e-6, 1e-3, 0.1, 100.0])) if rng.random() < 0.6 else 10 ** rng.uniform(-6, 2)
        )
        rows = float(rng.choice([1.0, 1.0, 0.5, 0.05])) if rng.random() < 0.6 else float(rng.uniform(0.05, 1))
        alpha = (
            often(0.0, np.inf, *(fractions / rows), *(fractions / rows), high=3.0)
            if rng.random() < 0.8
            else 10 ** rng.uniform(-2, 1)
        )
        yield {
            "problem": {
                "scale": 1.0,
                "correlation": often(0.0, 1.0, 0.4),
                "alignment": often(0.0, 1.0, 0.3),
                "featureNoise": often(0.0, 2.0, high=2.0),
                "labelNoise": often(0.0, 2.0, high=2.0),
                "readoutNoise": often(0.0, 2.0, high=2.0),
                "nFeatures": float(rng.choice([np.inf, np.inf, 20.0, 1000.0, 100000.0])),
                "failing": float(rng.choice([0.0, 0.0, 0.01, 0.5])) if rng.random() < 0.6 else rng.uniform(0, 0.5),
            },
            "ensemble": {"fractions": fractions.tolist(), "shared": seen * core, "ridge": float(ridge), "rows": rows},
            "alpha": float(alpha),
        }


def described(point, aggregation="mean"):
    """A point in subridge's words."""
    data, ensemble = point["problem"], point["ensemble"]
    noises = data["featureNoise"], data["alignment"], data["labelNoise"]
    nu = np.full((len(ensemble["fractions"]),) * 2, ensemble["shared"])
    np.fill_diagonal(nu, ensemble["fractions"])
    members = sr.Ensemble(nu, ensemble["ridge"], data["readoutNoise"], aggregation, [ensemble["rows"]] * len(nu))
    return sr.EquicorrelatedProblem(1.0, data["correlation"], *noises), members


def expected(point, aggregation="mean"):
    """subridge's answer at a point."""
    problem, members = described(point, aggregation)
    M = point["problem"]["nFeatures"]
    M = None if np.isinf(M) else int(M)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InfiniteRiskWarning)
        warnings.simplefilter("ignore", AccuracyWarning)  # the bound is what the comparison uses
        test = sr.DeadFeatures(point["problem"]["failing"])
        return sr.risk(problem, members, point["alpha"], n_features=M, test=test if test.probability else None)


def allowance(found, signal):
    """1e-10 of the value, or ten times what `risk` says of its own rounding; of a zero, rounding of the signal."""
    value = abs(float(found.total))
    return max(1e-10 * value, 10 * float(found.error_bound) * value if value > 0 else 1e-14 * signal)


def test_ten_thousand_random_points_equal_risk(visit, explorer_file):
    page = visit(explorer_file)
    points = list(draw_points(np.random.default_rng(5), N_POINTS))
    answers = evaluate(page, RISK, points)
    infinite = 0
    for point, (mean, _, pairs) in zip(points, answers, strict=True):
        found = expected(point)
        pairs = np.array([[float(error) for error in row] for row in pairs])
        np.testing.assert_array_equal(np.isinf(pairs), np.isinf(found.pairs), err_msg=str(point))
        infinite += bool(np.isinf(found.total))
        if np.isinf(found.total):
            assert float(mean) == np.inf, point
        else:
            assert abs(float(mean) - found.total) <= allowance(found, 1 + len(pairs)), (point, mean, found.total)
            scale = np.abs(found.pairs).max()
            assert np.abs(pairs - found.pairs).max() <= max(1e-10 * scale, 1e-13), point
    assert infinite > 100  # thresholds were among the points


def test_scaled_means_equal_risk(visit, explorer_file):
    page = visit(explorer_file)
    points = list(draw_points(np.random.default_rng(8), 3000))
    answers = evaluate(page, RISK, points)
    for point, (_, scaled, _) in zip(points, answers, strict=True):
        found = expected(point, "scaled")
        assert np.isinf(float(scaled)) == np.isinf(found.total), (point, scaled, found.total)
        if np.isfinite(found.total):
            # A difference of powers of the signal, which is large where a teacher along 1 meets many features.
            power = float(found.v) if np.isfinite(found.v) else 1 + len(found.pairs)
            far = abs(float(scaled) - found.total)
            assert far <= max(allowance(found, 1.0), 1e-13 * power), (point, scaled, found.total)


def test_best_ridges_equal_optimal_ridge(visit, explorer_file):
    page = visit(explorer_file)
    points = list(draw_points(np.random.default_rng(6), 2000))
    ask = (
        "points => points.map(p => p.ensemble.fractions.map(nu => subridge.bestRidge(nu, subridge.prepare(p.problem))))"
    )
    for point, ridges in zip(points, evaluate(page, ask, points), strict=True):
        best = sr.optimal_ridge(*described(point))
        np.testing.assert_allclose([float(ridge) for ridge in ridges], best, rtol=1e-10, atol=1e-13, err_msg=str(point))


@pytest.mark.parametrize(
    ("name", "ridge", "aggregation"),
    [
        ("bestRidgeless", 0, "mean"),
        ("bestAtOptimalRidge", "optimal", "mean"),
        ("bestScaledRidgeless", 0, "scaled"),
        ("bestScaledAtOptimalRidge", "optimal", "scaled"),
    ],
)
def test_best_sizes_are_exactly_those_of_optimal_n_members(visit, explorer_file, name, ridge, aggregation):
    page, rng = visit(explorer_file), np.random.default_rng(7)
    n = 5000
    alpha = np.where(rng.random(n) < 0.15, rng.choice([0, np.inf, 1, 0.5, 1 / 3, 0.1, 2], n), rng.uniform(0, 3, n))
    rho = np.where(rng.random(n) < 0.3, rng.choice([0.0, 1.0, 0.3], n), rng.random(n))
    H, W, Z = (np.where(rng.random(n) < 0.3, 0.0, rng.uniform(0, 2.1, n)) for _ in range(3))
    points = np.stack([alpha, rho**2, H, W, Z], axis=1).tolist()
    sizes = evaluate(page, f"points => points.map(p => subridge.{name}(...p))", points)
    best = sr.optimal_n_members(alpha, rho, H, W, Z, ridge=ridge, aggregation=aggregation)
    np.testing.assert_array_equal([float(k) for k in sizes], best)


def test_the_page_says_infinite_at_an_exact_threshold_and_zero_where_nothing_is_amplified(visit, explorer_file):
    page = visit(explorer_file)
    silent = {
        "scale": 1,
        "correlation": 0,
        "alignment": 0,
        "featureNoise": 0,
        "labelNoise": 0,
        "readoutNoise": 0,
        "nFeatures": np.inf,
        "failing": 0,
    }
    alone = {"shared": 0, "ridge": 0, "rows": 1}
    points = [
        {"problem": silent | {"labelNoise": 0.1}, "ensemble": alone | {"fractions": [0.3]}, "alpha": 0.1 + 0.2},
        {"problem": silent, "ensemble": alone | {"fractions": [1.0]}, "alpha": 1.0},
        {"problem": silent, "ensemble": alone | {"fractions": [1.0]}, "alpha": np.inf},
    ]
    assert [mean for mean, *_ in evaluate(page, RISK, points)] == ["Infinity", 0, 0]
