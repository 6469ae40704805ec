"""The list of equations: it is complete, and every function in it exists."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
LINES = (ROOT / "docs" / "theory" / "equations.md").read_text(encoding="utf-8").split("## Every numbered equation")[1]
ROWS = [line.split(" | ") for line in LINES.splitlines() if line.startswith("| eq")]


def test_every_numbered_equation_of_the_paper_is_listed_once():
    listed = []
    for equations, *_ in ROWS:
        for first, last in re.findall(r"(\d+)(?: to (\d+))?", re.sub(r"\(.*?\)|Prop\. \d", "", equations)):
            listed += range(int(first), int(last or first) + 1)
    assert sorted(listed) == list(range(1, 219))


def test_every_function_of_the_list_is_in_its_file():
    for _, _, where, *_ in ROWS:
        for path, names in re.findall(r"`([\w/]+\.py)`: (.*?)(?=;|$)", where):
            source = (ROOT / "src" / "subridge" / path).read_text(encoding="utf-8")
            for name in re.findall(r"`([\w.]+)", names):
                last = name.split(".")[-1]
                assert re.search(rf"(def|class) {last}\b|^    {last}:", source, re.MULTILINE), (path, name)
