"""Run tasks side by side until a time limit, keep every result as it comes, and go on from what is kept."""

import argparse
import json
import os
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path


def parser(**defaults):
    """Options that all scripts share: how long, on how many processes, and where results are kept."""
    found = argparse.ArgumentParser()
    found.add_argument("--jobs", type=int, default=os.cpu_count())
    found.add_argument("--minutes", type=float, default=float("inf"), help="no task begins after that")
    found.add_argument("--kept", type=Path, help="a file of results, one a line; what it holds is not run again")
    for name, value in defaults.items():
        found.add_argument(f"--{name}", type=int, default=value)
    return found


def results(function, tasks, options):
    """Yield (task, result) for tasks that JSON can hold; the kept ones first, then others as they end."""
    known = {}
    if options.kept and options.kept.exists():
        known = {json.dumps(task): found for task, found in map(json.loads, options.kept.read_text().splitlines())}
    waiting = [task for task in tasks if json.dumps(task) not in known]
    yield from ((task, known[json.dumps(task)]) for task in tasks if json.dumps(task) in known)
    end = time.monotonic() + 60 * options.minutes
    with ProcessPoolExecutor(options.jobs) as pool:
        running = {pool.submit(_until, end, function, task): task for task in waiting}
        for future in as_completed(running):
            if (found := future.result()) is None:
                continue
            if options.kept:
                with options.kept.open("a") as file:
                    file.write(json.dumps([running[future], found]) + "\n")
            yield running[future], found


def _until(end, function, task):
    """The result of a task, or None if it is too late to begin."""
    return function(task) if time.monotonic() < end else None
