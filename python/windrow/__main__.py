# SPDX-License-Identifier: BSD-3-Clause
"""``python -m windrow report TRACE --png PICTURE`` and ``python -m windrow copy FROM TO``. The command `windrow` is
another program, and has more."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ._copies import copy
from ._errors import Code, WindrowError, counted

_STAGES = ("describe", "plan", "routes", "descriptions", "exchange", "storage", "agree")


def main(arguments: list[str] | None = None) -> int:
    """Run a command; the result is an exit code."""
    parser = argparse.ArgumentParser(prog="python -m windrow", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    report = commands.add_parser("report", help="draw what a trace has: seconds by stage, bytes, requests")
    report.add_argument("trace", type=Path)
    report.add_argument("--png", type=Path, help="the picture; TRACE.png when not given")
    copies = commands.add_parser("copy", help="copy a file into another, of another format too, and show how far it is")
    copies.add_argument("source", type=Path)
    copies.add_argument("target", type=Path)
    copies.add_argument("--filters", help='for all variables of numbers, as "shuffle,deflate:1"')
    given = parser.parse_args(arguments)
    try:
        if given.command == "report":
            draw(given.trace, given.png or given.trace.with_suffix(".png"))
        else:
            with _progress() as show:
                copy(
                    given.source,
                    given.target,
                    progress=show,
                    **({} if given.filters is None else {"filters": given.filters}),
                )
    except (WindrowError, OSError, ValueError, ImportError) as error:
        _, *refused = (
            str(error).splitlines() if isinstance(error, WindrowError) and error.code == Code.UNSUPPORTED else [""]
        )
        if refused:
            print(
                "".join(f"python -m windrow copy: cannot be copied: {line}\n" for line in refused),
                end="",
                file=sys.stderr,
            )
            return 3  # as the command windrow has it
        print(f"python -m windrow {given.command}: {error}", file=sys.stderr)
        return 1
    return 0


def read_trace(path: Path) -> list[dict[str, Any]]:
    """The reports of the flushes of a trace (docs/traces.md), in order; of brief ones their numbers. ValueError:
    which line is none of a trace."""
    reports: list[dict[str, Any]] = []
    number = 0
    with path.open(encoding="utf-8", newline="\n") as lines:
        for number, text in enumerate(lines, 1):
            try:
                line = json.loads(text)
                if number == 1 and line.get("windrow trace") not in (1, 2):
                    break
                reports += _reports_of(line)
            except (ValueError, TypeError, AttributeError, KeyError, OverflowError, RecursionError):
                raise ValueError(f"{path}, line {number}: not a line of a trace") from None
        else:
            if number > 0:
                return reports
    raise ValueError(f"{path} is not a trace of a supported version")


def _reports_of(line: dict[str, Any]) -> list[dict[str, Any]]:
    """Of a line of a trace; what is drawn of them is there, and numbers."""
    if "windrow trace" in line and line["windrow trace"] not in (1, 2):
        raise ValueError
    reports = [line["report"]] if "flush" in line else []
    columns = line.get("brief_flushes", {})
    if columns:
        flushes = len(columns["flush"])
        columns = {name: values if isinstance(values, list) else [values] * flushes for name, values in columns.items()}
    for values in zip(*columns.values(), strict=True):
        brief = dict(zip(columns, values, strict=True))
        reports.append(
            {
                **brief,
                "seconds": {name.removesuffix("_ns"): ns * 1e-9 for name, ns in brief.items() if name.endswith("_ns")},
            }
        )
    for report in reports:
        for value in (
            report["bytes"],
            report["seconds"]["total"],
            *(report["seconds"].get(stage, 0) for stage in _STAGES),
        ):
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**63:
                raise ValueError
    return reports


def draw(trace: Path, picture: Path) -> None:
    """Draw a trace: for each flush the seconds of its stages, and how fast its bytes went."""
    from matplotlib.figure import Figure

    reports = read_trace(trace)
    if not reports:
        raise ValueError(f"{trace} has no flush")
    figure = Figure(figsize=(10, 6), layout="constrained")
    above, below = figure.subplots(2, sharex=True)
    numbers, bottom = np.arange(1, len(reports) + 1), np.zeros(len(reports))
    for stage in _STAGES:
        seconds = np.array([report["seconds"].get(stage, 0) for report in reports])
        above.bar(numbers, seconds, bottom=bottom, label=stage)
        bottom += seconds
    above.set_ylabel("seconds, the slowest rank's")
    above.legend(ncols=len(_STAGES))
    above.set_title(f"{trace.name}: {counted(len(reports), 'flush', 'flushes')}")
    below.bar(numbers, [report["bytes"] / max(report["seconds"]["total"], 1e-9) / 1e6 for report in reports])
    below.set_ylabel("MB/s")
    below.set_xlabel("flush")
    figure.savefig(picture)
    print(
        f"{picture}: {counted(len(reports), 'flush', 'flushes')}, "
        f"{sum(report['bytes'] for report in reports) / 1e6:.1f} MB"
    )


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None] | None]:
    """Shows how far a copy is, with rich where that is installed."""
    try:
        from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn
    except ImportError:
        yield None
        return
    with Progress(BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn()) as shown:
        task = shown.add_task("copy", total=None)
        yield lambda done, total: shown.update(task, completed=done, total=total)


if __name__ == "__main__":
    sys.exit(main())
