"""Settings of the explorer for every figure of the paper, taken from the settings that reproduce it.

A state maps names of the explorer's settings to values, as the address of the page does. Figures that train classifiers
on images, or that need another covariance, get the nearest setting that Prop. 2 has, and their note says so.
"""

from subridge.arrays.types import Json
from subridge.figures.paper.classifiers import Classifiers, NoisyClassifiers, Redundancy
from subridge.figures.paper.heterogeneity import Fig3a, Fig3b, Fig3c
from subridge.figures.paper.learning_curves import Fig1a, Fig1b, Fig2
from subridge.figures.paper.phases import PhaseDiagrams, ReducedCurves, ScaledPhases
from subridge.figures.paper.recipe import FigureSettings
from subridge.figures.paper.registry import figure_ids, recipe_of

State = dict[str, str | float]

# Names in the explorer and letters of the noise ratios.
_NOISES = {
    "readout_nsr": ("readout_noise", "H"),
    "feature_nsr": ("feature_noise", "W"),
    "label_nsr": ("label_noise", "Z"),
}
_MAPS_OF_CLASSIFIERS = ("fig4f", "figS4", "figS5")
_PLAIN: State = {"correlation": 0.0, "readout_noise": 0.0, "feature_noise": 0.0, "label_noise": 0.0}
_DRAWN: State = _PLAIN | {"readout_noise": 0.2, "label_noise": 0.1, "sample_ratio": 0.15}  # where subsets are the point
_SCALED: State = {"aggregation": "scaled", "phase_aggregation": "scaled"}
_IMAGES = "The paper trains classifiers on image features; this is the theory for regression with the same ensembles."


def presets() -> dict[str, Json]:
    """Presets by figure in the order of the paper: ``title``, ``group``, ``note``, ``state`` and ``view``, shown first.

    Examples
    --------
    >>> presets()["fig1b"]["state"]["correlation"]
    0.4
    """
    entries: dict[str, Json] = {}
    states: dict[str, State] = {}
    for figure in figure_ids():
        recipe, number = recipe_of(figure), figure.removeprefix("fig")
        state, note = preset_of(figure, recipe.settings)
        title, group = f"{number}: {recipe.title}", "supplement" if number.startswith("S") else "main text"
        twin = next((other for other in states if states[other] == state), None)
        states.setdefault(number, state)
        if twin is not None:
            title, note = f"{number} (as {twin}): {recipe.title}", f"The same settings as {twin}. {note}"
        maps = isinstance(recipe.settings, PhaseDiagrams | ScaledPhases) or figure in _MAPS_OF_CLASSIFIERS
        view = "phase" if maps else "curves"
        entries[figure] = {"title": title, "group": group, "note": note, "state": state, "view": view}
    return entries


def preset_of(figure: str, settings: FigureSettings) -> tuple[State, str]:
    """The state of the explorer for a figure with such settings, and what the reader should know about it.

    Raises
    ------
    KeyError
        The explorer has no preset for such settings yet.
    """
    state: State
    supplement = figure.startswith("figS")
    match settings:
        case Fig1a():
            core = 0.15
            return _PLAIN | {
                "correlation": 0.4,
                "feature_noise": settings.noise_variance**0.5,
                "label_noise": settings.label_noise,
                "readout_noise": settings.readout_noise,
                "ridge": settings.ridges[1],
                "shared": core,
                "fractions": ",".join(str((nu - core) / (1 - core)) for nu in settings.subset_fractions),
                "curves": "bdm",
            }, (
                "The paper's data are autoregressive and its subsets random, which needs Prop. 1 (sr.risk with a "
                "Problem). Here features are equally correlated, and members of the same sizes share a core."
            )
        case Fig1b():
            return {
                "correlation": settings.correlation,
                "feature_noise": settings.feature_noise,
                "alignment": settings.alignment,
                "label_noise": settings.label_noise,
                "readout_noise": settings.readout_noise,
                "ridge": settings.ridges[1],
                "fractions": ",".join(map(str, settings.subset_fractions)),
                "curves": "bdm",
            }, (
                f"Ridges of the figure: {', '.join(map(str, settings.ridges))}. Its solid lines are at M = "
                f"{settings.n_features}."
            )
        case Fig2():
            return _PLAIN | {
                "n_members": 1,
                "coverage": settings.subset_fractions[1],
                "ridge": settings.ridges[2],
                "curves": "o",
            }, (
                f"One member; “features seen” runs over {', '.join(map(str, settings.subset_fractions))}, the ridge "
                f"over {', '.join(map(str, settings.ridges))}."
            )
        case Fig3a():
            k = settings.n_members
            state = {"n_members": k, "fraction_spread": settings.fraction_spread, "seed": settings.seed}
            return _DRAWN | state, ""
        case Fig3b():
            spread = settings.n_members * settings.deviations[len(settings.deviations) // 2]
            return (
                _DRAWN | {"n_members": settings.n_members, "fraction_spread": round(spread, 6), "n_draws": 12},
                "Draw again to see other sizes from the same density.",
            )
        case Fig3c():
            return _PLAIN | {
                "n_members": settings.n_members,
                "fraction_spread": settings.fraction_spreads[2],
                "correlation": settings.panels[-1][0],
                "readout_noise": settings.panels[-1][1],
                "label_noise": settings.label_noise,
                "alignment": settings.alignment,
                "ridge": settings.ridges[0],
                "sample_ratio": 1 / settings.n_members,
                "largest_ratio": "0.3",
                "log_y": "0",
                "n_draws": 20,
                "curves": "bedm",
            }, "The lower right panel of the figure, with one value of its heterogeneity."
        case Redundancy():
            state = {"n_members": 1, "coverage": 0.5, "ridge": 0.1, "label_noise": 0.3, "curves": "ob"}
            return _PLAIN | state, _IMAGES
        case Classifiers():
            return _PLAIN | {
                "n_members": settings.n_members[2],
                "fraction_spread": settings.fraction_spread,
                "ridge": settings.ridges[1] if supplement else 1e-6,
                "label_noise": 0.3,
                "sample_ratio": 1 / settings.n_members[2],
            }, _IMAGES
        case NoisyClassifiers():
            return _PLAIN | {
                "readout_noise": settings.readout_noises[5],
                "label_noise": 0.3,
                "ridge": 0.1,
                "fraction_spread": 0.0,
                "curves": "s",
                "phase_y": "readout_noise",
                "phase_ridge": "0" if figure in ("fig4e", "figS3", "figS4") else "optimal",
            }, _IMAGES
        case ReducedCurves():
            rho, value = settings.alignments[min(1, len(settings.alignments) - 1)], settings.noise_values[-1]
            unit = " Errors here are 0.5 times the reduced ones." if rho > 0 else ""
            return (
                _reduced(settings.noise, value, rho, best_ridge=settings.ridges == ("optimal",)),
                f"One panel: ρ = {rho:g}, {_NOISES[settings.noise][1]} = {value:g}.{unit}",
            )
        case PhaseDiagrams():
            rho = settings.alignments[1]
            state = _reduced(settings.noise, 0.5, rho, best_ridge=supplement)
            return (
                state | {"sample_ratio": 0.5, "phase_x": "sample_ratio"},
                f"The panel {'λ = λ*' if supplement else 'λ = 0'}, ρ = {rho:g}; the figure has ρ = 0, 0.3 and 0.6.",
            )
        case ScaledPhases():
            state = _reduced("readout_nsr", settings.curve_noise, 0.0, best_ridge=False)
            return (
                state | _SCALED | {"sample_ratio": settings.curve_ratio, "phase_x": "sample_ratio"},
                "Curves and map of the scaled mean, without a ridge; choose “mean” to compare.",
            )
        case _:
            raise KeyError(f"{figure} has settings of the type {type(settings).__name__}, which has no preset")


def _reduced(ratio: str, value: float, alignment: float, *, best_ridge: bool) -> State:
    """State of a reduced figure: one noise ratio, at a correlation that lets the alignment matter."""
    correlation = 0.5 if alignment > 0 else 0.0
    name, letter = _NOISES[ratio]
    return _PLAIN | {
        name: (value * (1 - correlation)) ** 0.5,
        "alignment": alignment,
        "correlation": correlation,
        "fraction_spread": 0.0,
        "ridge": 0.0,
        "best_ridge": "1" if best_ridge else "0",
        "curves": "s",
        "log_x": "1",
        "largest_ratio": "5",
        "phase_y": letter,
        "phase_ridge": "optimal" if best_ridge else "0",
    }
