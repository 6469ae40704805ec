"""The page of the site, made from what was measured."""

from pathlib import Path


def words(seconds: float) -> str:
    for unit, size in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s" if seconds >= 0.1 else f"{1e3 * seconds:.3g} ms"


def ratio_words(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}"


def page(found: dict) -> str:
    machine, versions = found["machine"], found["versions"]
    others = ", ".join(f"{name} {number}" for name, number in versions.items() if name != "subridge")
    lines = [
        "# Measured beside others",
        "",
        f"Made by `make bench` on {found['date']}: {machine['cores']} cores, Python {machine['python']}, subridge "
        f"{versions['subridge']}, {others}. It took {words(found['seconds'])}. Methods run in turns in one process, "
        f"with {machine['threads']} threads, after a round that does not count; methods of many seconds run once. "
        "Times are medians over rounds, with the minimum and maximum in brackets. Compare ratios: seconds depend on "
        "the machine." + (f" {found['note']}" if found.get("note") else ""),
        "",
        "## Side by side",
        "",
        "| task | method | time | times as long as the first |",
        "|---|---|---|---|",
    ]
    for row in found["side_by_side"]:
        lines.append(f"| **{row['case']}** | subridge | {words(row['ours'])} | 1 |")
        for name, peer in row["peers"].items():
            times, least, largest = (ratio_words(peer[key]) for key in ("ratio", "least", "largest"))
            spread = "" if least == largest else f" [{least}, {largest}]"
            lines.append(f"| | {name} | {words(peer['seconds'])} | {times}{spread} |")
        lines.append(f"| | *{row['note']}* | | |")
    lines += ["", "Where a ratio is below 1 the other is faster.", "", "## How cost grows on one machine", ""]
    for title, part in found["growth"].items():
        base = ", ".join(f"{name} {value}" for name, value in part["base"].items())
        lines += [
            f"Seconds of {title}, one quantity varied, the others at {base}:",
            "",
            "| quantity | from → to | seconds | exponent at the end |",
            "|---|---|---|---|",
        ]
        for name, grid in part["grids"].items():
            (a, s), (b, t) = grid["points"][0], grid["points"][-1]
            lines.append(f"| {name} | {a} → {b} | {words(s)} → {words(t)} | {grid['exponent']:.1f} |")
        lines += ["", f"![{title}](../benchmarks/results/growth-{title.split()[1]}.png)", ""]
    lines += cluster_lines(found["cluster"])
    lines += [
        "",
        "## On a GPU",
        "",
        "Needs a card, so it is not part of `make bench`: `python benchmarks/engine_gpu.py` and",
        "`python benchmarks/classification_gpu.py`, with results for one H200 in",
        "[engine_gpu](../benchmarks/results/engine_gpu.md) and",
        "[classification_gpu](../benchmarks/results/classification_gpu.md). The paper says that all of its",
        "computations took about three GPU days.",
    ]
    return "\n".join(lines) + "\n"


def cluster_lines(cluster: dict) -> list[str]:
    lines = [
        "## A million tasks",
        "",
        f"A task is one trial of Fig. 1a at a quarter of its size ({words(cluster['task_s'])} here, one process). A "
        f"Dask scheduler with two workers hands out empty tasks at {words(cluster['overhead_s'])} each, measured with "
        "a real scheduler and real workers on this machine. From these two numbers, not measured:",
        "",
        "| workers | work | scheduling | whole sweep | runs out first |",
        "|---|---|---|---|---|",
    ]
    for row in cluster["table"]:
        cells = [words(row[key]) for key in ("work_s", "scheduler_s", "total_s")]
        lines.append(f"| {row['workers']} | {' | '.join(cells)} | {row['first_to_run_out']} |")
    lines += [
        "",
        f"The scheduler runs out at about {cluster['most_workers']:.0f} workers of such tasks; beyond, several trials "
        "in one task (`Run(block=...)`) move the limit in proportion.",
    ]
    return lines


def write_page(found: dict, path: Path) -> None:
    path.write_text(page(found), encoding="utf-8")
