"""Names in the first line of a table of text."""

import csv
import io
from collections import Counter

from subridge.model.checks import counted, listed


def names_that_differ(header: str, separator: str) -> tuple[str, tuple[str, ...]]:
    """The first line with names that differ, and a note where some had to be changed: libraries disagree on how.

    Examples
    --------
    >>> names_that_differ("age,y,age", ",")
    ('age,y,age (2)', ('named 1 column whose name is repeated: age (2)',))
    >>> names_that_differ("a,b", ",")
    ('a,b', ())
    """
    if header.count('"') % 2 or len(separator) != 1:  # a name goes on in the next line, or nothing parts the names
        return header, ()
    try:
        names = next(csv.reader([header], delimiter=separator), [])
    except csv.Error:  # a binary file, of which the reader tells more
        return header, ()
    taken, seen, changed = set(names), Counter[str](), []
    for place, name in enumerate(names):
        seen[name] += 1
        if name and seen[name] > 1:
            numbered = (f"{name} ({number})" for number in range(seen[name], 2 * len(names) + 2))
            new = next(each for each in numbered if each not in taken)
            names[place] = new
            taken.add(new)
            changed.append(new)
    if not changed:
        return header, ()
    line = io.StringIO()
    csv.writer(line, delimiter=separator, lineterminator="").writerow(names)
    told = f"named {counted(len(changed), 'column')} whose name is repeated: {listed(changed)}"
    return line.getvalue(), (told,)
