"""Numbers as text for tables: separators between thousands, powers of ten only if needed, no minus before a zero."""

import math


def plain(value: float, digits: int = 3) -> str:
    """A number with the given number of significant digits.

    Examples
    --------
    >>> plain(3012.3), plain(0.31), plain(-0.0), plain(float("inf"))
    ('3,010', '0.310', '0', '∞')
    >>> plain(1.2e-7), plain(4.5e9), plain(4.5e15)
    ('1.20e-07', '4,500,000,000', '4.50e+15')
    """
    if math.isnan(value):
        return "-"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    rounded = float(f"{value:.{digits - 1}e}")
    size = abs(rounded)
    if size == 0:
        return "0"
    if not 1e-4 <= size < 1e15:
        return f"{rounded:.{digits - 1}e}"
    return f"{rounded:,.{max(digits - 1 - math.floor(math.log10(size)), 0)}f}"


def interval(value: float, lower: float, upper: float, *, to: str = " to ") -> str:
    """A number with its bounds; `to` stands between them.

    Examples
    --------
    >>> interval(3010, 2713, 3326), interval(0.264, 0.2215, 0.31)
    ('3,010 (2,710 to 3,330)', '0.264 (0.222 to 0.310)')
    """
    return f"{plain(value)} ({plain(lower)}{to}{plain(upper)})"


def unit_of(largest: float) -> tuple[float, str]:
    """A unit for numbers up to the largest: its size, and its name, which is empty if no unit is needed.

    Examples
    --------
    >>> unit_of(8.8e6), unit_of(3012.0)
    ((1000000.0, ', in millions'), (1.0, ''))
    """
    for size, name in ((1e12, "trillions"), (1e9, "billions"), (1e6, "millions"), (1e3, "thousands")):
        if math.isfinite(largest) and 1e5 <= largest < 1e16 and largest >= size:
            return size, f", in {name}"
    return 1.0, ""


def percent(share: float, error: float) -> str:
    """A share in percent with its standard error.

    Examples
    --------
    >>> percent(-0.0001, 0.002), percent(0.371, 0.05)
    ('0.0 ± 0.2 %', '37.1 ± 5.0 %')
    """
    return f"{round(100 * share, 1) + 0.0:.1f} ± {round(100 * error, 1) + 0.0:.1f} %"
