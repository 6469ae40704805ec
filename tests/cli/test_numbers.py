import click
import numpy as np
import pytest

from subridge.cli.options import numbers, sizes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.5", [0.5]),
        ("1, 2,3", [1, 2, 3]),
        ("0:1:5", [0, 0.25, 0.5, 0.75, 1]),
        ("log:1:100:3", [1, 10, 100]),
        ("0:1:2,inf", [0, 1, np.inf]),
        ("1:2048", 2.0 ** np.arange(12)),
    ],
)
def test_a_list_of_numbers(text, expected):
    np.testing.assert_allclose(numbers(text), expected)


def test_sizes_are_whole_and_spaced_ones_that_coincide_count_once():
    assert sizes("1:4:13") == (1, 2, 3, 4)
    assert sizes("10,10,inf") == (10, 10, np.inf)
    assert all(isinstance(size, int) for size in sizes("400:20000"))


@pytest.mark.parametrize("text", ["", "many", "1:2:3:4", "0:inf:3", "0:5", "1:2:x", "log:5", "1,,2"])
def test_anything_else_is_wrong_usage(text):
    with pytest.raises(click.BadParameter, match="is not a,b,c"):
        numbers(text)
