"""The committed page is the one the package derives."""

from pathlib import Path

import pytest

from subridge.derivations.walkthrough import page

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "derivations" / "proposition-2.md"


def test_the_committed_page_is_what_the_derivations_print():
    assert PAGE.read_text(encoding="utf-8") == page()


def test_every_formula_of_the_page_is_closed():
    text = page()
    assert text.count("$$") % 2 == 0
    assert text.count(r"\begin{bmatrix}") == text.count(r"\end{bmatrix}") > 0
