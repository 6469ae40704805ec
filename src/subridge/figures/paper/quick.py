"""What a quick figure says of itself, so that it is not taken for the full one."""

from dataclasses import asdict

from subridge.figures.paper.recipe import FigureSettings
from subridge.model.checks import counted

_TOLD = {"n_features": "feature", "n_train": "training image", "n_trials": "trial", "n_draws": "draw"}


def quick_note(quick: FigureSettings, full: FigureSettings) -> str:
    """How much smaller a quick figure is: features, images, trials and draws, with the numbers of the full one.

    A figure whose quick settings are the full ones has nothing to say.

    >>> from subridge.figures.paper.fig1a import Fig1a
    >>> quick_note(Fig1a().quick(), Fig1a())
    'quick variant: 400 features (full: 2,000), 20 trials (100)'
    """
    if quick == full:
        return ""
    less, all_of = asdict(quick), asdict(full)
    changed = [name for name in _TOLD if name in less and less[name] != all_of[name]]
    parts = [
        f"{counted(less[name], _TOLD[name])} ({'full: ' * (place == 0)}{_number(all_of[name])})"
        for place, name in enumerate(changed)
    ]
    return f"quick variant: {', '.join(parts) or 'a coarser grid'}"


def _number(count: int | None) -> str:
    return "all" if count is None else f"{count:,}"
