"""When each figure of `subridge reproduce` is computed and drawn, and how busy the card is meanwhile.

python benchmarks/figures.py --device cuda                      # all figures, full size
python benchmarks/figures.py fig1a fig3b --quick                # some, small
python benchmarks/figures.py --kernels fig4e --trials 8         # which operations of PyTorch an experiment spends on

Seconds count from the start of this process; those of the command line itself come on top of `reproduce`'s own.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

_BEGIN = time.time()


def timed(log, label, work, *arguments):
    """In a child: do the work, and write when it began and ended."""
    start = time.time()
    result = work(*arguments)
    with open(log, "a") as file:
        file.write(f"{start}\t{time.time()}\t{os.getpid()}\t{label}\n")
    return result


def timeline(arguments):
    from subridge.explorer.figures import write_figures
    from subridge.figures.paper import batch
    from subridge.figures.paper.registry import figure_ids
    from subridge.figures.paper.reproduction import FigureRequest
    from subridge.simulation.run import Run

    folder = Path(tempfile.mkdtemp(prefix="figures-"))
    log = folder / "log"
    log.touch()

    class TimedPool(batch.ChildPool):
        def submit(self, work, /, *given):
            first = given[0]
            if isinstance(first, str):
                return super().submit(timed, str(log), "load", work, *given)
            names = [first.figure] if hasattr(first, "figure") else [each.figure for each in first]
            kind = "draw" if hasattr(first, "status") else "compute"
            return super().submit(timed, str(log), f"{kind} {'+'.join(names)}", work, *given)

    batch.ChildPool = TimedPool
    stages = [("imports", time.time())]
    watch = None
    if arguments.device.startswith("cuda") and shutil.which("nvidia-smi"):
        query = [
            "nvidia-smi",
            "--query-gpu=utilization.gpu,memory.used",
            "--format=csv,noheader,nounits",
            "-lms",
            "500",
        ]
        watch = subprocess.Popen(query, stdout=(folder / "card").open("w"))
        watched = time.time()
    wanted = arguments.figures or figure_ids()
    requests = [FigureRequest(figure, arguments.quick) for figure in wanted]
    outcomes = []
    with batch.side_by_side(min(os.cpu_count() or 1, len(requests)), arguments.device) as pool:
        run = Run(device=arguments.device)
        stages.append(("device found", time.time()))
        for outcome in batch.run_batch(requests, folder / "out", run, force=True, pool=pool):
            outcomes.append(outcome)
            if outcome.error is not None:
                print(outcome.figure, outcome.error, file=sys.stderr)
        stages.append(("all figures", time.time()))
        if pool is not None:
            pool.shutdown(wait=False)
        datasets = [outcome.dataset for outcome in outcomes if outcome.dataset is not None]
        write_figures(datasets, folder / "out" / "report.html", folder / "out")
        stages.append(("report", time.time()))
    if watch is not None:
        watch.terminate()
    print("| start s | end s | seconds | process | what |\n|---|---|---|---|---|")
    rows = sorted(line.split("\t") for line in log.read_text().splitlines())
    pids = list(dict.fromkeys(pid for _, _, pid, _ in rows))
    for start, end, pid, label in rows:
        begin, stop = float(start) - _BEGIN, float(end) - _BEGIN
        print(f"| {begin:.1f} | {stop:.1f} | {stop - begin:.1f} | {pids.index(pid)} | {label} |")
    print("\n" + ", ".join(f"{name} {when - _BEGIN:.1f} s" for name, when in stages))
    if watch is not None:
        lines = [line.split(",") for line in (folder / "card").read_text().splitlines() if "," in line]
        busy = [int(each[0]) for each in lines if each[0].strip().isdigit()]
        marks = [f"{watched - _BEGIN + i / 2:.0f}s {sum(busy[i : i + 10]) / 10:.0f}%" for i in range(0, len(busy), 10)]
        print("card busy, mean of five seconds:", ", ".join(marks))
        print("memory of the card, largest, MiB:", max(int(each[1]) for each in lines))
    shutil.rmtree(folder)


def kernels(figure, arguments):
    import torch
    from torch.profiler import ProfilerActivity, profile

    from subridge.figures.paper.reproduction import FigureRequest
    from subridge.simulation.run import Run

    request = FigureRequest(figure, arguments.quick)
    settings = replace(request.settings, n_trials=arguments.trials)
    run, seconds = Run(device=arguments.device), []
    on_card = arguments.device.startswith("cuda")
    for seed in (1, 2):  # the first loads the libraries
        start = time.perf_counter()
        replace(settings, seed=seed).compute(run)
        seconds.append(time.perf_counter() - start)
    print(f"{figure}, {arguments.trials} trials: {seconds[0]:.2f} s, then {seconds[1]:.2f} s")
    with profile(activities=[ProfilerActivity.CPU] + [ProfilerActivity.CUDA] * on_card) as found:
        replace(settings, seed=3).compute(run)
        if on_card:
            torch.cuda.synchronize()
    name = "self_device_time_total" if on_card else "self_cpu_time_total"
    rows = sorted(found.key_averages(), key=lambda row: -getattr(row, name))
    print(f"all: {sum(getattr(row, name) for row in rows) / 1e6:.2f} s\n| seconds | calls | operation |\n|---|---|---|")
    for row in rows[:25]:
        print(f"| {getattr(row, name) / 1e6:.3f} | {row.count} | {row.key[:90]} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures", nargs="*", help="ids; all without any")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument(
        "--kernels", metavar="FIGURE", help="operations of one figure's experiment in place of a timeline"
    )
    parser.add_argument("--trials", type=int, default=8)
    arguments = parser.parse_args()
    if arguments.kernels:
        kernels(arguments.kernels, arguments)
    else:
        timeline(arguments)


if __name__ == "__main__":
    main()
