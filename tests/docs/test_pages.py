"""What the pages show is true: their code runs, and the commands, options and targets they name exist."""

import re
import shlex
from pathlib import Path

import click
import matplotlib.pyplot as plt
import numpy as np
import pytest

from subridge.cli import main

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Decisions record what was true when they were taken; adopted pages are checked where they come from.
PAGES = [page for page in PAGES if not {"decisions", "adopted", "gallery", "_build"} & set(page.parts)]
TARGETS = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def name(page):
    return str(page.relative_to(ROOT))


def reader_data():
    """Rows that stand for the reader's own, where a page speaks of X and y."""
    rng = np.random.default_rng(0)
    X, X_new = rng.standard_normal((120, 30)), rng.standard_normal((5, 30))
    return {"X": X, "X_new": X_new, "y": X[:, 0] + rng.standard_normal(120)}


# Real data deserve warnings; a page may speak of them.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::subridge.model.errors.SubridgeWarning")
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=name)
def test_the_python_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = "\n".join(blocks(page, "python"))
    exec(compile(code, str(page), "exec"), {"__name__": "page"} | reader_data())
    plt.close("all")


def commands(page):
    """Commands of the package in blocks of the shell and in words, comments and pipes taken off."""
    lines = [
        line
        for language in ("console", "bash", "sh")
        for block in blocks(page, language)
        for line in block.splitlines()
    ]
    lines += re.findall(r"`(subridge [^`\n]+)`", page.read_text(encoding="utf-8"))
    lines = [re.split(r" [#|>] ", line.strip().removeprefix("$ "))[0] for line in lines]
    return [line for line in lines if line.startswith("subridge ")]


def test_the_commands_of_the_pages_exist_with_their_options():
    context = click.Context(main)
    known = set(main.list_commands(context))
    lines = {line for page in PAGES for line in commands(page)}
    assert len(lines) > 20
    for line in lines:
        words = shlex.split(line.replace("...", "").replace("…", ""))[1:]
        if not words or not words[0].isidentifier():
            continue
        for command in words[0].split("|"):
            assert command in known, line
            options = {
                o for each in main.get_command(context, command).params for o in (*each.opts, *each.secondary_opts)
            }
            for word in words[1:]:
                if word.startswith("--"):
                    assert word.partition("=")[0] in options | {"--help"}, line


def test_the_make_targets_of_the_pages_exist():
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        named = re.findall(r"(?:`|^)make ([a-z-]+)", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert set(named) <= set(TARGETS), page


def test_the_links_of_the_pages_lead_somewhere():
    for page in [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]:
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
            if not re.match(r"[a-z]+:", target):
                assert (page.parent / target).exists(), (page, target)
