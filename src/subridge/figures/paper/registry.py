"""The figures of the paper, in its order, and the module that holds the recipe of each.

To add a figure, add its id to the table. Its module has a dictionary ``RECIPES`` from id to `FigureRecipe`, and is
imported when one of its figures is requested.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from subridge.model.errors import ParameterError

if TYPE_CHECKING:
    from subridge.figures.paper.recipe import FigureRecipe

_MODULES = {
    figure: module
    for module, figures in (
        ("learning_curves", "fig1a fig1b fig2"),
        ("heterogeneity", "fig3a fig3b fig3c"),
        ("classifiers", "fig3d fig3e"),
        ("phases", "fig4a fig4b fig4c fig4d"),
        ("classifiers", "fig4e fig4f"),
        ("phases", "fig4-scaled"),
        ("classifiers", "figS1 figS2 figS3 figS4 figS5"),
        ("phases", "figS6 figS7 figS8 figS9 figS10 figS11 figS12 figS13 figS14"),
    )
    for figure in figures.split()
}


def figure_ids() -> tuple[str, ...]:
    """The ids of the figures that can be reproduced, in the order of the paper.

    Examples
    --------
    >>> figure_ids()[:3]
    ('fig1a', 'fig1b', 'fig2')
    """
    return tuple(_MODULES)


def recipe_of(figure: str) -> "FigureRecipe":
    """The recipe of a figure; `ParameterError` if there is no such figure."""
    if not isinstance(figure, str) or figure not in _MODULES:
        raise ParameterError(f"there is no figure {figure!r}; choose from {', '.join(_MODULES)}")
    recipes: dict[str, FigureRecipe] = import_module(f"subridge.figures.paper.{_MODULES[figure]}").RECIPES
    return recipes[figure]
