"""BandedRidge beside himalaya and refits: seconds, R² on new rows, memory, agreement of devices.

    python benchmarks/banded.py                        two cores: n = 1,000 in 10 runs, 4 x 500 features, 2,000 targets
    python benchmarks/banded.py --device cuda --full     one card: n = 3,000, 4 x 2,000 features, 50,000 targets
    python benchmarks/banded.py --only laws              the laws on which the choice of shares was developed

Needs himalaya, and PyTorch for a card. Targets are sums over spaces of u⁴ X_s W_s with u uniform for each target and
space, scaled to unit variance, plus noise of standard deviation .3 + 1.5 u. All methods see the same rows, runs, shares
and ridges. Times are the least of some rounds in turns; processor time stands beside them if there is no card, because
other work on the machine does not change it. Prints one JSON line per measurement.
"""

import argparse
import json
import time
import tracemalloc

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.model_selection import PredefinedSplit

import subridge as sr

RIDGES = np.logspace(-3, 3, 20)
# Other laws than that of `draw`, 300 rows in 10 runs and 400 targets: features of each space, power of u, and options.
LAWS = {
    "four spaces, u squared": ((150,) * 4, 2, {}),
    "eight spaces, u to the sixth": ((75,) * 8, 6, {}),
    "unequal spaces": ((20, 50, 100, 200, 400), 3, {}),
    "correlated spaces": ((150,) * 4, 3, {"shared": 0.6}),
    "each space with chance .3": ((100,) * 6, 1, {"chance": 0.3}),
    "little noise": ((100,) * 3, 3, {"noise": 0.1}),
    "rows that drift": ((100,) * 4, 3, {"drift": 0.8}),
    "each of twelve with chance .15": ((50,) * 12, 1, {"chance": 0.15}),
}


def draw(n, p, S, C, n_new=1000, seed=0, device="cpu"):
    """Training rows, new rows, and targets of both, in single precision; drawn on the card if there is one."""
    if device == "cuda":
        import torch

        rng = torch.Generator(device).manual_seed(seed)
        place = {"generator": rng, "device": device}
        normal, uniform = (lambda *shape: torch.randn(shape, **place)), (lambda C: torch.rand(C, **place))
    else:
        rng = np.random.default_rng(seed)
        normal = lambda *shape: rng.standard_normal(shape, dtype=np.float32)  # noqa: E731
        uniform = lambda C: rng.uniform(size=C).astype(np.float32)  # noqa: E731
    X = normal(n + n_new, S * p)
    Y, signals = 0.0, [uniform(C) ** 4 for _ in range(S)]
    for s, u in enumerate(signals):
        Y = X[:, s * p : (s + 1) * p] @ (normal(p, C) * u) + Y
    Y /= Y.std(0)
    noise = 0.3 + 1.5 * uniform(C)
    for start in range(0, C, 5000):
        part = slice(start, start + 5000)
        Y[:, part] += normal(*Y[:, part].shape) * noise[part]
    return X[:n], Y[:n], X[n:], Y[n:]


def draw_law(sizes, power, seed, n=300, n_new=600, C=400, shared=0.0, chance=1.0, noise=1.0, drift=0.0):
    """X and Y of a law, training rows first: spaces may share features, drive few targets, or drift from row to row."""
    rng = np.random.default_rng(seed)

    def drifted(table):
        for i in range(1, len(table)):
            table[i] = drift * table[i - 1] + (1 - drift**2) ** 0.5 * table[i]
        return table

    common = rng.standard_normal((n + n_new, max(sizes)))
    X = [(1 - shared) ** 0.5 * rng.standard_normal((n + n_new, p)) + shared**0.5 * common[:, :p] for p in sizes]
    X = [drifted(each) for each in X]
    u = rng.uniform(size=(len(sizes), C)) ** power * (rng.uniform(size=(len(sizes), C)) < chance)
    Y = sum(
        each @ (rng.standard_normal((each.shape[1], C)) * a / each.shape[1] ** 0.5)
        for each, a in zip(X, u, strict=True)
    )
    Y /= np.maximum(Y.std(axis=0), 1e-9)
    Y += noise * drifted(rng.standard_normal(Y.shape)) * (0.3 + 1.5 * rng.uniform(size=C))
    return np.hstack(X), Y


def laws(seeds=3, n=300):
    """R² on new rows of 25 refined, 25 random and 100 random draws, means over seeds."""
    for name, (sizes, power, options) in LAWS.items():
        ends, found = np.cumsum(sizes), {}
        spaces = {str(s): slice(end - p, end) for s, (end, p) in enumerate(zip(ends, sizes, strict=True))}
        for seed in range(seeds):
            X, Y = draw_law(sizes, power, seed, n, **options)
            for count, refine in ((25, True), (25, False), (100, False)):
                model = sr.BandedRidge(spaces, ridges=RIDGES, n_draws=count, refine=refine, random_state=seed)
                new = model.fit(X[:n], Y[:n], groups=np.arange(n) // 30).predict(X[n:])
                r2 = 1 - ((Y[n:] - new) ** 2).sum(axis=0) / ((Y[n:] - Y[n:].mean(axis=0)) ** 2).sum(axis=0)
                found.setdefault(f"{count} {'refined' if refine else 'random'}", []).append(r2.mean())
        print(json.dumps({"what": name, **{key: float(np.mean(each)) for key, each in found.items()}}), flush=True)


class Bench:
    def __init__(self, options):
        self.options, self.device = options, options.device
        n, p, C = (3000, 2000, 50_000) if options.full else (options.rows, options.features, options.targets)
        self.n, self.p, self.S, self.C = n, p, 4, C
        self.spaces = {f"space {s}": slice(s * p, (s + 1) * p) for s in range(self.S)}
        self.runs = np.repeat(np.arange(10), n // 10)
        self.arrays = self.on_device(draw(n, p, self.S, C, device=self.device), options.dtype)
        self.shares = np.random.default_rng(1).dirichlet(np.ones(self.S), options.draws)
        squares = [float((self.arrays[0][:, c] ** 2).sum()) / n for c in self.spaces.values()]
        self.gammas = self.shares / np.array(squares)  # himalaya's kernels are not scaled

    def on_device(self, arrays, dtype):
        if self.device == "cpu":
            return [each.astype(dtype) for each in arrays]
        import torch

        place = "cpu" if self.device == "torch" else self.device
        return [torch.asarray(each, device=place, dtype=getattr(torch, dtype)) for each in arrays]

    def timed(self, call):
        """What a call gives, its seconds and processor seconds."""
        if self.device == "cuda":
            import torch

            torch.cuda.synchronize()
        start, used = time.perf_counter(), time.process_time()
        value = call()
        if self.device == "cuda":
            torch.cuda.synchronize()
        return value, time.perf_counter() - start, time.process_time() - used

    def r2(self, predicted):
        Y = self.arrays[3]
        errors, total = ((Y - predicted) ** 2).sum(axis=0), ((Y - Y.mean(axis=0)) ** 2).sum(axis=0)
        return float((1 - errors / total).mean())

    def measure(self, name, rounds=1, **methods):
        """Every method in turn: the least of its times to fit, and R² on new rows."""
        found = {}
        for _ in range(rounds):
            for method, call in methods.items():
                predict, seconds, used = self.timed(call)
                predicted = predict()
                if self.device == "cuda":
                    predicted = predicted.cuda()
                best = min(found.get(method, {"seconds": np.inf})["seconds"], seconds)
                cpu = min(found.get(method, {"cpu": np.inf})["cpu"], used)
                found[method] = {"seconds": best, "cpu": cpu, "r2": self.r2(predicted)}
                del predict, predicted
        print(json.dumps({"what": name, **found}), flush=True)
        return found

    # -- methods ----------------------------------------------------------------------------------

    def ours(self, **options):
        X, Y, new, _ = self.arrays
        model = sr.BandedRidge(ridges=RIDGES, progress=False, random_state=0, **options).fit(X, Y, groups=self.runs)
        return lambda: model.predict(new)

    def kernels(self):
        from himalaya.backend import get_backend

        X, _, new, _ = self.arrays
        stack = get_backend().stack
        parts = [(X[:, c], new[:, c]) for c in self.spaces.values()]
        return stack([a @ a.T for a, _ in parts]), stack([b @ a.T for a, b in parts])

    def him_kernels(self):
        from himalaya.kernel_ridge import MultipleKernelRidgeCV

        train, new = self.kernels()
        params = {"n_iter": self.him(self.gammas), "alphas": self.him(RIDGES), "progress_bar": False,
                  "n_targets_batch": 5000, "n_targets_batch_refit": 5000, "n_alphas_batch": 5}  # fmt: skip
        model = MultipleKernelRidgeCV(kernels="precomputed", solver="random_search", solver_params=params,
                                      cv=PredefinedSplit(self.runs), fit_intercept=True, random_state=0)  # fmt: skip
        model.fit(train, self.arrays[1])
        return lambda: model.predict(new)

    def him_groups(self):
        from himalaya.ridge import GroupRidgeCV

        X, Y, new, _ = self.arrays
        params = {"n_iter": self.him(self.gammas), "alphas": self.him(RIDGES), "progress_bar": False, "warn": False,
                  "n_targets_batch": 5000, "n_targets_batch_refit": 1000, "n_alphas_batch": 5}  # fmt: skip
        groups = np.repeat(np.arange(self.S), self.p)
        model = GroupRidgeCV(groups=groups, solver_params=params, cv=PredefinedSplit(self.runs), fit_intercept=True)
        model.fit(X, Y)
        return lambda: model.predict(new)

    def him_single(self):
        from himalaya.kernel_ridge import KernelRidgeCV

        X, Y, new, _ = self.arrays
        total = float((X**2).sum()) / self.n
        params = {"n_targets_batch": 5000, "n_alphas_batch": 5}
        model = KernelRidgeCV(
            alphas=self.him(RIDGES * total), solver_params=params, cv=PredefinedSplit(self.runs), fit_intercept=True
        )
        model.fit(X, Y)
        return lambda: model.predict(new)

    def him(self, array):
        return self.on_device([np.asarray(array)], self.options.dtype)[0]

    # -- measurements -----------------------------------------------------------------------------

    def refits(self):
        """Refits per run with scikit-learn on part of the work: one draw, one ridge, one run of ten."""
        X, Y = (np.asarray(each, dtype=np.float64) for each in self.arrays[:2])
        scaled, out = X * np.repeat(self.gammas[0] ** 0.5, self.p), self.runs == 0
        _, seconds, used = self.timed(lambda: Ridge(1.0).fit(scaled[~out], Y[~out]).predict(scaled[out]))
        factor = 10 * len(RIDGES) * len(self.shares)
        print(json.dumps({"what": f"scikit-learn Ridge, 1 of {factor} refits", "seconds": seconds, "cpu": used,
                          "all, extrapolated": {"seconds": seconds * factor, "cpu": used * factor}}))  # fmt: skip

    def memory(self):
        """Peak beyond what was there before the fit and what the fitted model holds, at C and 4 C targets."""
        n, p, C = (3000, 2000, 50_000) if self.options.full else (400, 200, 10_000)
        for count in (C, 4 * C):
            X, Y, _, _ = self.on_device(draw(n, p, self.S, count, 1, 0, self.device), self.options.dtype)
            spaces = {f"space {s}": slice(s * p, (s + 1) * p) for s in range(self.S)}
            model, runs = (
                sr.BandedRidge(spaces, n_draws=6, ridges=RIDGES[::3], progress=False),
                np.arange(n) // (n // 10),
            )
            if self.device == "cuda":
                import torch

                torch.cuda.reset_peak_memory_stats()
                model.fit(X, Y, groups=runs)
                held, peak = torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated()
            else:
                tracemalloc.start()
                model.fit(X, Y, groups=runs)
                held, peak = tracemalloc.get_traced_memory()
                tracemalloc.stop()
            data = n * count * Y.dtype.itemsize
            found = {
                "what": f"memory, {count} targets",
                "targets MB": data / 1e6,
                "working MB": (peak - held) / 1e6,
                "planned MB": model.planned_memory_ / 1e6,
                "held MB": held / 1e6,
                "working / targets of the first": (peak - held) / (n * C * Y.dtype.itemsize),
            }
            print(json.dumps(found), flush=True)
            del model, X, Y

    def agreement(self):
        """Largest relative difference of predictions and R² between NumPy and the device, in double precision."""
        import torch

        X, Y, new, _ = (each.astype(np.float64) for each in draw(200, 60, self.S, 50, 50))
        spaces = {f"space {s}": slice(s * 60, (s + 1) * 60) for s in range(self.S)}
        place = "cuda" if self.device == "cuda" else "cpu"
        fits = []
        for rows in ([X, Y, new], [torch.asarray(each, device=place) for each in (X, Y, new)]):
            model = sr.BandedRidge(spaces, random_state=0).fit(rows[0], rows[1], groups=np.arange(200) // 20)
            predicted = model.predict(rows[2])
            fits.append((predicted if isinstance(predicted, np.ndarray) else predicted.cpu().numpy(), model.loo_r2_))
        off = [float(abs(a - b).max() / abs(a).max()) for a, b in zip(*fits, strict=True)]
        print(json.dumps({"what": f"NumPy and {place} in float64", "predictions": off[0], "loo_r2_": off[1]}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", choices=["cpu", "torch", "cuda"])
    parser.add_argument("--dtype", default="float64", choices=["float32", "float64"])
    parser.add_argument("--full", action="store_true", help="n = 3,000, 4 x 2,000 features, 50,000 targets")
    parser.add_argument("--tf32", action="store_true", help="let PyTorch round products of float32, for all methods")
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--features", type=int, default=500)
    parser.add_argument("--targets", type=int, default=2000)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=["single", "shares", "refined", "memory", "agreement", "refits"])
    options = parser.parse_args()
    if options.device != "cpu":
        import torch

        torch.backends.cuda.matmul.allow_tf32 = options.tf32
    if {"single", "shares", "groups"} & set(options.only):
        from himalaya.backend import set_backend

        set_backend({"cpu": "numpy", "torch": "torch", "cuda": "torch_cuda"}[options.device])
    print(json.dumps({"what": "settings", **vars(options)}), flush=True)
    if "laws" in options.only:
        laws()
    bench = Bench(options)
    if "single" in options.only:
        bench.measure("a ridge per target", options.rounds, subridge=bench.ours, himalaya=bench.him_single)
    if "shares" in options.only:
        given = {"spaces": bench.spaces, "shares": bench.shares}
        bench.measure(
            f"{options.draws} given shares",
            options.rounds,
            subridge=lambda: bench.ours(**given),
            himalaya=bench.him_kernels,
        )
    if "groups" in options.only:
        bench.measure(f"{options.draws} given shares, GroupRidgeCV", himalaya=bench.him_groups)
    if "refined" in options.only:
        bench.measure("refined draws", **{
            f"{count} {'refined' if refine else 'random'}": lambda count=count, refine=refine: bench.ours(
                spaces=bench.spaces, n_draws=count, refine=refine
            )
            for count, refine in ((12, True), (25, True), (25, False), (100, False))
        })  # fmt: skip
    for name in ("memory", "agreement", "refits"):
        if name in options.only and not (name == "refits" and options.device == "cuda"):
            getattr(bench, name)()


if __name__ == "__main__":
    main()
