"""Settings of the explorer for every figure of the paper, taken from the settings that reproduce it.

A state maps names of the explorer's settings to values, as the address of the page does. Figures that train classifiers
on images, or that need another covariance, get the nearest thing that Prop. 2 has, and their note says so.
"""

from collections.abc import Callable
from dataclasses import dataclass

from subridge.arrays.types import Json
from subridge.figures.paper.classifiers import Classifiers
from subridge.figures.paper.feature_statistics import FeatureStatistics, Redundancy
from subridge.figures.paper.fig1a import Fig1a
from subridge.figures.paper.fig1b import Fig1b
from subridge.figures.paper.fig2 import Fig2
from subridge.figures.paper.fig3c import Fig3c
from subridge.figures.paper.noisy_classifiers import NoisyClassifiers
from subridge.figures.paper.phase_diagrams import PhaseDiagrams
from subridge.figures.paper.recipe import FigureRecipe, FigureSettings
from subridge.figures.paper.reduced_curves import ReducedCurves
from subridge.figures.paper.registry import figure_ids, recipe_of
from subridge.figures.paper.scaled_phases import ScaledPhases
from subridge.figures.paper.subset_fractions import Fig3a, Fig3b

State = dict[str, str | float]

_NOISES = {"readout_nsr": "readout_noise", "feature_nsr": "feature_noise", "label_nsr": "label_noise"}
_LETTERS = {"readout_nsr": "H", "feature_nsr": "W", "label_nsr": "Z"}
_SILENT: State = {"readout_noise": 0.0, "feature_noise": 0.0, "label_noise": 0.0}
_IMAGES = "The paper trains classifiers on image features; this is the theory for regression with the same ensembles."
_MIDDLE = 0.5  # of reduced figures, where it only sets the unit of the error


@dataclass(frozen=True)
class Preset:
    """What a preset sets, and what the reader should know about it."""

    state: State
    note: str = ""


def presets() -> dict[str, Json]:
    """Presets by figure: ``title``, ``group``, ``note`` and ``state``.

    Examples
    --------
    >>> presets()["fig1b"]["state"]["correlation"]
    0.4
    """
    return {figure: _entry(figure, recipe_of(figure)) for figure in figure_ids()}


def _entry(figure: str, recipe: FigureRecipe) -> Json:
    made = preset_of(figure, recipe.settings)
    number = figure.removeprefix("fig")
    group = "supplement" if number.startswith("S") else "main text"
    return {"title": f"{number}: {recipe.title}", "group": group, "note": made.note, "state": dict(made.state)}


def preset_of(figure: str, settings: FigureSettings) -> Preset:
    """The preset of a figure with such settings.

    Raises
    ------
    KeyError
        The explorer has no preset for such settings yet.
    """
    return _MAKERS[type(settings)](figure, settings)


def _fig1a(figure: str, settings: Fig1a) -> Preset:
    core = 0.15
    parts = [(nu - core) / (1 - core) for nu in settings.subset_fractions]
    return Preset(
        _SILENT
        | {
            "correlation": 0.4,
            "feature_noise": settings.noise_variance**0.5,
            "label_noise": settings.label_noise,
            "readout_noise": settings.readout_noise,
            "ridge": settings.ridges[1],
            "shared": core,
            "fractions": _listed(parts),
            "curves": "bdm",
        },
        "The paper's data are autoregressive and its subsets random, which needs Prop. 1 (sr.risk with a Problem). "
        "Here features are equally correlated, and members of the same sizes share a core.",
    )


def _fig1b(figure: str, settings: Fig1b) -> Preset:
    return Preset(
        {
            "correlation": settings.correlation,
            "feature_noise": settings.feature_noise,
            "alignment": settings.alignment,
            "label_noise": settings.label_noise,
            "readout_noise": settings.readout_noise,
            "ridge": settings.ridges[1],
            "fractions": _listed(settings.subset_fractions),
            "curves": "bdm",
        },
        f"Ridges of the figure: {', '.join(f'{ridge:g}' for ridge in settings.ridges)}. Its solid lines are at "
        f"M = {settings.n_features}.",
    )


def _fig2(figure: str, settings: Fig2) -> Preset:
    fractions = ", ".join(f"{nu:g}" for nu in settings.subset_fractions)
    return Preset(
        _SILENT
        | {"n_members": 1, "coverage": settings.subset_fractions[1], "ridge": settings.ridges[2], "curves": "o"},
        f"One member; “features seen” runs over {fractions}, the ridge over "
        f"{', '.join(f'{ridge:g}' for ridge in settings.ridges)}.",
    )


def _fig3a(figure: str, settings: Fig3a) -> Preset:
    return Preset({"n_members": settings.n_members, "fraction_spread": settings.fraction_spread, "seed": settings.seed})


def _fig3b(figure: str, settings: Fig3b) -> Preset:
    spread = settings.n_members * settings.deviations[len(settings.deviations) // 2]
    return Preset(
        {"n_members": settings.n_members, "fraction_spread": round(spread, 6), "n_draws": 12},
        "Draw again to see other sizes from the same density.",
    )


def _fig3c(figure: str, settings: Fig3c) -> Preset:
    correlation, readout_noise = settings.panels[-1]
    return Preset(
        _SILENT
        | {
            "n_members": settings.n_members,
            "fraction_spread": settings.fraction_spreads[2],
            "correlation": correlation,
            "readout_noise": readout_noise,
            "label_noise": settings.label_noise,
            "alignment": settings.alignment,
            "ridge": settings.ridges[0],
            "sample_ratio": 1 / settings.n_members,
            "largest_ratio": "0.3",
            "log_y": "0",
            "n_draws": 20,
            "curves": "bedm",
        },
        "The lower right panel of the figure, with one value of its heterogeneity.",
    )


def _redundancy(figure: str, settings: FigureSettings) -> Preset:
    return Preset(
        _SILENT | {"n_members": 1, "coverage": 0.5, "ridge": 0.1, "label_noise": 0.3, "curves": "ob"}, _IMAGES
    )


def _classifiers(figure: str, settings: Classifiers) -> Preset:
    return Preset(
        _SILENT
        | {
            "n_members": settings.n_members[2],
            "fraction_spread": settings.fraction_spread,
            "ridge": settings.ridges[1] if figure == "figS2" else 1e-6,
            "label_noise": 0.3,
            "sample_ratio": 1 / settings.n_members[2],
        },
        _IMAGES,
    )


def _noisy_classifiers(figure: str, settings: NoisyClassifiers) -> Preset:
    state: State = _SILENT | {
        "readout_noise": settings.readout_noises[5],
        "label_noise": 0.3,
        "ridge": 0.1,
        "fraction_spread": 0.0,
        "curves": "s",
        "phase_y": "readout_noise",
        "phase_ridge": "0" if figure in ("fig4e", "figS3", "figS4") else "optimal",
    }
    return Preset(state, _IMAGES)


def _reduced(ratio: str, value: float, alignment: float) -> State:
    """Data of a reduced figure: one noise ratio, at a correlation that lets the alignment matter."""
    correlation = _MIDDLE if alignment > 0 else 0.0
    noise = (value * (1 - correlation)) ** 0.5
    return _SILENT | {_NOISES[ratio]: noise, "alignment": alignment, "correlation": correlation, "fraction_spread": 0.0}


def _reduced_curves(figure: str, settings: ReducedCurves) -> Preset:
    alignment = settings.alignments[min(1, len(settings.alignments) - 1)]
    value = settings.noise_values[-1]
    best = settings.ridges[-1] == "optimal" and len(settings.ridges) == 1
    state = _reduced(settings.noise, value, alignment) | {
        "ridge": 0.0,
        "best_ridge": "1" if best else "0",
        "curves": "s",
        "log_x": "1",
        "largest_ratio": "5",
        "phase_y": _LETTERS[settings.noise],
        "phase_ridge": "optimal" if best else "0",
    }
    unit = f" Errors here are {1 - _MIDDLE:g} times the reduced ones." if alignment > 0 else ""
    return Preset(state, f"One panel: ρ = {alignment:g}, {_LETTERS[settings.noise]} = {value:g}.{unit}")


def _phase_diagrams(figure: str, settings: PhaseDiagrams) -> Preset:
    supplement = figure.startswith("figS")
    state = _reduced(settings.noise, 0.5, settings.alignments[1]) | {
        "sample_ratio": 0.5,
        "ridge": 0.0,
        "best_ridge": "1" if supplement else "0",
        "curves": "s",
        "log_x": "1",
        "largest_ratio": "5",
        "phase_x": "sample_ratio",
        "phase_y": _LETTERS[settings.noise],
        "phase_ridge": "optimal" if supplement else "0",
    }
    ridge = "λ = λ*" if supplement else "λ = 0"
    return Preset(state, f"The panel {ridge}, ρ = {settings.alignments[1]:g}; the figure has ρ = 0, 0.3 and 0.6.")


def _scaled_phases(figure: str, settings: ScaledPhases) -> Preset:
    state = _reduced("readout_nsr", settings.curve_noise, 0.0) | {
        "sample_ratio": settings.curve_ratio,
        "ridge": 0.0,
        "curves": "s",
        "log_x": "1",
        "largest_ratio": "5",
        "phase_x": "sample_ratio",
        "phase_y": "H",
        "phase_ridge": "0",
    }
    return Preset(state, 'The plain mean at a point of the maps; sr.risk with aggregation="scaled" has the scaled one.')


def _listed(parts: tuple[float, ...] | list[float]) -> str:
    return ",".join(repr(part) for part in parts)


_MAKERS: dict[type[FigureSettings], Callable[..., Preset]] = {
    Fig1a: _fig1a,
    Fig1b: _fig1b,
    Fig2: _fig2,
    Fig3a: _fig3a,
    Fig3b: _fig3b,
    Fig3c: _fig3c,
    Redundancy: _redundancy,
    FeatureStatistics: _redundancy,
    Classifiers: _classifiers,
    NoisyClassifiers: _noisy_classifiers,
    ReducedCurves: _reduced_curves,
    PhaseDiagrams: _phase_diagrams,
    ScaledPhases: _scaled_phases,
}
