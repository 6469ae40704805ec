import functools

import pytest

import subridge as sr


@functools.cache
def _made(figure, variant):
    return sr.figures.reproduce(figure, quick=True, settings=variant)


@pytest.fixture
def quick_figure():
    """Make a figure at quick settings, once for all tests."""
    return lambda figure, variant="published": _made(figure, variant)
