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
_VERSION = 3  # of traces


def main(arguments: list[str] | None = None) -> int:
    """Run a command and return its exit code."""
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
            return 3  # as in the command windrow
        print(f"python -m windrow {given.command}: {error}", file=sys.stderr)
        return 1
    return 0


def read_trace(path: Path) -> list[dict[str, Any]]:
    """The numbers of the flushes of a trace (docs/traces.md), in order. ValueError names an invalid line."""
    flushes: list[dict[str, Any]] = []
    number = 0
    with path.open(encoding="utf-8", newline="\n") as lines:
        for number, text in enumerate(lines, 1):
            try:
                line = json.loads(text)
                if number == 1 and line.get("windrow trace") != _VERSION:
                    break
                if line.get("windrow trace", _VERSION) != _VERSION or not line.keys() & {
                    "windrow trace",
                    "flush",
                    "details",
                }:
                    raise ValueError
                if "flush" in line:
                    flushes.append(_numbers_of(line))
            except (ValueError, TypeError, AttributeError, KeyError, OverflowError, RecursionError):
                raise ValueError(f"{path}, line {number}: not a line of a trace") from None
        else:
            if number > 0:
                return flushes
    raise ValueError(f"{path} is not a trace of version {_VERSION}")


def _numbers_of(line: dict[str, Any]) -> dict[str, Any]:
    for name in ("bytes", "total_ns", *(f"{stage}_ns" for stage in _STAGES)):
        if type(line[name]) is not int or not 0 <= line[name] < 2**63:
            raise ValueError
    return line


def draw(trace: Path, picture: Path) -> None:
    """Draw a trace: the seconds of the stages of each flush, and its rate."""
    from matplotlib.figure import Figure

    flushes = read_trace(trace)
    if not flushes:
        raise ValueError(f"{trace} has no flush")
    figure = Figure(figsize=(10, 6), layout="constrained")
    above, below = figure.subplots(2, sharex=True)
    numbers, bottom = np.arange(1, len(flushes) + 1), np.zeros(len(flushes))
    for stage in _STAGES:
        seconds = np.array([flush[f"{stage}_ns"] * 1e-9 for flush in flushes])
        above.bar(numbers, seconds, bottom=bottom, label=stage)
        bottom += seconds
    above.set_ylabel("seconds, the slowest rank's")
    above.legend(ncols=len(_STAGES))
    above.set_title(f"{trace.name}: {counted(len(flushes), 'flush', 'flushes')}")
    below.bar(numbers, [flush["bytes"] / max(flush["total_ns"], 1) * 1e3 for flush in flushes])
    below.set_ylabel("MB/s")
    below.set_xlabel("flush")
    figure.savefig(picture)
    print(
        f"{picture}: {counted(len(flushes), 'flush', 'flushes')}, "
        f"{sum(flush['bytes'] for flush in flushes) / 1e6:.1f} MB"
    )


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None] | None]:
    """Show the progress of a copy, with rich if that is installed."""
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
