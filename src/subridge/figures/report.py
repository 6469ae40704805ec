"""One self-contained page about a run: figures, settings, agreement, what captions get wrong, versions, timing."""

import base64
import json
import platform
from collections.abc import Sequence
from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import Any

import xarray as xr

_STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#222}
h1{font-size:1.6rem}h2{font-size:1.2rem;margin-top:2.5rem;border-top:1px solid #ddd;padding-top:1rem}
table{border-collapse:collapse;font-size:.88rem;margin:.6rem 0}th,td{padding:.25rem .7rem;text-align:right}
th{border-bottom:1px solid #999;font-weight:600}td:first-child,th:first-child{text-align:left}
tr:nth-child(even) td{background:#f6f6f6}img{max-width:100%}figure{margin:1rem 0}
.agree{color:#00664b}.disagree{color:#b34700;font-weight:600}.undecided{color:#666}
details{margin:.4rem 0}summary{cursor:pointer;color:#0072B2}code{font-size:.86rem}.errata li{margin:.3rem 0}
"""
_RULE = """
A point agrees when |Δ| ≤ 4 SE + 1.5 E / min<sub>r</sub>|P − N<sub>r</sub>|: four standard errors, and the finite-size
bias of an asymptotic theory near a threshold. Points with |P − N<sub>r</sub>| ≤ 2 are listed apart and not judged.
“Undecided”: nothing disagrees, but most standard errors exceed 2 % of the risk. Points of one curve share samples.
"""
_SYMBOL = {"ridge": "λ", "n_samples": "P"}


def write_report(datasets: Sequence[xr.Dataset], folder: Path, failures: Sequence[tuple[str, str]] = ()) -> Path:
    """Write ``report.html``.

    Parameters
    ----------
    datasets : sequence of xarray.Dataset
        Figures as `reproduce` returns them; their drawings are read from the folder.
    folder : Path
    failures : sequence of (figure, message)
        Figures that could not be made.

    Returns
    -------
    Path
    """
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>subridge: the paper’s figures</title>",
        f"<style>{_STYLE}</style></head><body>",
        "<h1>Learning curves of feature-subsampled ridge ensembles: the paper’s figures, remade</h1>",
        "<p>After Ruben &amp; Pehlevan (2023). Circles are trained ensembles with standard errors, lines are "
        "theory.</p>",
        _agreement_table(datasets),
        _timing_table(datasets, failures),
        *(_section(data, folder) for data in datasets),
        _versions(),
        "</body></html>",
    ]
    place = folder / "report.html"
    place.write_text("\n".join(parts), encoding="utf-8")
    return place


def agreement_rows(datasets: Sequence[xr.Dataset]) -> list[dict[str, Any]]:
    """Lines of the agreement table of several figures."""
    return [row for data in datasets for row in json.loads(data.attrs["agreement"])]


def _agreement_table(datasets: Sequence[xr.Dataset]) -> str:
    rows = agreement_rows(datasets)
    if not rows:
        return ""
    head = (
        "theory",
        "points judged",
        "outside",
        "largest |Δ| / allowance",
        "where",
        "median SE",
        "at a threshold",
        "verdict",
    )
    body = [
        (
            escape(row["name"]),
            row["judged"],
            row["outside"],
            f"{row['largest_deviation']:.2f}",
            escape(", ".join(f"{_SYMBOL.get(k, k)} = {v:g}" for k, v in row["largest_deviation_at"].items())),
            f"{100 * row['median_relative_standard_error']:.1f} %",
            row["at_threshold"],
            f"<span class='{row['verdict']}'>{row['verdict']}</span>",
        )
        for row in rows
    ]
    return f"<h2>Agreement of theory and experiment</h2><p>{_RULE}</p>" + _table(head, body)


def _timing_table(datasets: Sequence[xr.Dataset], failures: Sequence[tuple[str, str]]) -> str:
    body = [
        (
            f"<a href='#{data.attrs['figure']}'>{data.attrs['figure']}</a>",
            escape(str(data.attrs["title"])),
            f"{float(data.attrs['seconds']):.1f}",
            escape(str(data.attrs["device"])),
        )
        for data in datasets
    ]
    body += [
        (figure, f"<span class='disagree'>failed: {escape(message)}</span>", "", "") for figure, message in failures
    ]
    total = sum(float(data.attrs["seconds"]) for data in datasets)
    body.append(("all", "", f"{total:.1f}", ""))
    return "<h2>Figures and timing</h2>" + _table(("figure", "what it shows", "seconds", "device"), body)


def _section(data: xr.Dataset, folder: Path) -> str:
    attributes = data.attrs
    figure = str(attributes["figure"])
    # As an image, not inline: drawings would share the names of their clip paths.
    drawing = base64.b64encode((folder / f"{figure}.svg").read_bytes()).decode("ascii")
    settings = {k: v for k, v in json.loads(attributes["settings"]).items() if k != "type"}
    lists = [
        ("Numbers", json.loads(attributes["notes"])),
        ("What the paper says that is not so", json.loads(attributes["errata"])),
    ]
    return "\n".join(
        [
            f"<h2 id='{figure}'>{figure}: {escape(str(attributes['title']))}</h2>",
            f"<figure><img alt='{figure}' src='data:image/svg+xml;base64,{drawing}'></figure>",
            *(
                f"<p>{name}:</p><ul class='errata'>{''.join(f'<li>{escape(item)}</li>' for item in items)}</ul>"
                for name, items in lists
                if items
            ),
            f"<details><summary>settings ({attributes['variant']}{', quick' * int(attributes['quick'])})</summary>",
            _table(("setting", "value"), [(name, escape(json.dumps(value))) for name, value in settings.items()]),
            "</details>",
            f"<p><code>{escape(str(attributes['command']))}</code>, version {escape(str(attributes['version']))}, "
            f"data in <code>{figure}.nc</code></p>",
        ]
    )


def _versions() -> str:
    libraries = ("subridge", "numpy", "scipy", "xarray", "matplotlib")
    body = [("python", platform.python_version()), *((name, _version(name)) for name in libraries)]
    return "<h2>Versions</h2>" + _table(("library", "version"), body)


def _version(name: str) -> str:
    from subridge import __version__

    return __version__ if name == "subridge" else version(name)


def _table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    top = "".join(f"<th>{name}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{top}</tr>{body}</table>"
