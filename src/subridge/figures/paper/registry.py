"""Which figures there are, in the order of the paper, and where each lives.

A new figure adds one line to the table; its module, beside this one, holds a dictionary ``RECIPES`` from id to
`FigureRecipe`. Modules load when a figure of theirs is asked for.
"""

from importlib import import_module

from subridge.figures.paper.recipe import FigureRecipe
from subridge.model.errors import ParameterError

_HOMES = {
    "fig1a": "fig1a",
    "fig1b": "fig1b",
    "fig2": "fig2",
    **dict.fromkeys(("fig3a", "fig3b"), "subset_fractions"),
    "fig3c": "fig3c",
    "fig3d": "feature_statistics",
    "fig3e": "classifiers",
    "fig4a": "reduced_curves",
    **dict.fromkeys(("fig4b", "fig4c", "fig4d"), "phase_diagrams"),
    **dict.fromkeys(("fig4e", "fig4f"), "noisy_classifiers"),
    "fig4-scaled": "scaled_phases",
    "figS1": "feature_statistics",
    "figS2": "classifiers",
    **dict.fromkeys(("figS3", "figS4", "figS5"), "noisy_classifiers"),
    **dict.fromkeys(("figS6", "figS7", "figS8"), "phase_diagrams"),
    **dict.fromkeys((f"figS{number}" for number in range(9, 15)), "reduced_curves"),
}


def figure_ids() -> tuple[str, ...]:
    """The ids of the figures that can be reproduced, in the order of the paper.

    Examples
    --------
    >>> figure_ids()[:3]
    ('fig1a', 'fig1b', 'fig2')
    """
    return tuple(_HOMES)


def recipe_of(figure: str) -> FigureRecipe:
    """The recipe of a figure; `ParameterError` where there is no such figure."""
    if figure not in _HOMES:
        raise ParameterError(f"there is no figure {figure!r}; choose from {', '.join(_HOMES)}")
    recipes: dict[str, FigureRecipe] = import_module(f"subridge.figures.paper.{_HOMES[figure]}").RECIPES
    return recipes[figure]
