# SPDX-License-Identifier: BSD-3-Clause
"""``python -m windrow report TRACE --png PICTURE`` and ``python -m windrow copy FROM TO``. The command `windrow` is another program, and has more."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ._errors import WindrowError
from ._files import File
from ._files import open as open_file
from ._groups import Group
from ._variables import Variable

_PIECE = 64 << 20  # bytes that a copy holds at a time
_STAGES = ("describe", "plan", "descriptions", "exchange", "storage", "agree")


def main(arguments: list[str] | None = None) -> int:
    """Run a command; the result is an exit code."""
    parser = argparse.ArgumentParser(prog="python -m windrow", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    report = commands.add_parser("report", help="draw what a trace has: seconds by stage, bytes, requests")
    report.add_argument("trace", type=Path)
    report.add_argument("--png", type=Path, help="the picture; TRACE.png when not given")
    copy = commands.add_parser("copy", help="copy a file into another, of another format too, and show how far it is")
    copy.add_argument("source", type=Path)
    copy.add_argument("target", type=Path)
    copy.add_argument("--filters", help='for all variables of numbers, as "shuffle,deflate:1"')
    given = parser.parse_args(arguments)
    try:
        if given.command == "report":
            draw(given.trace, given.png or given.trace.with_suffix(".png"))
        else:
            copy_file(given.source, given.target, given.filters)
    except (WindrowError, OSError, ValueError, ImportError) as error:
        print(f"python -m windrow {given.command}: {error}", file=sys.stderr)
        return 1
    return 0


def read_trace(path: Path) -> list[dict[str, Any]]:
    """The flushes of a trace (docs/traces.md), in order."""
    lines = []
    for number, text in enumerate(path.read_text().splitlines(), 1):
        try:
            lines.append(json.loads(text))
        except ValueError:
            raise ValueError(f"{path}, line {number}: not a line of a trace") from None
    if not lines or lines[0].get("windrow trace") != 1:
        raise ValueError(f"{path} is not a trace of a version that is known here")
    return [line for line in lines if "flush" in line]


def draw(trace: Path, picture: Path) -> None:
    """Draw a trace: for each flush the seconds of its stages, and how fast its bytes went."""
    from matplotlib.figure import Figure

    reports = [flush["report"] for flush in read_trace(trace)]
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
    above.set_title(f"{trace.name}: {len(reports)} flushes")
    below.bar(numbers, [report["bytes"] / max(report["seconds"]["total"], 1e-9) / 1e6 for report in reports])
    below.set_ylabel("MB/s")
    below.set_xlabel("flush")
    figure.savefig(picture)
    print(f"{picture}: {len(reports)} flushes, {sum(report['bytes'] for report in reports) / 1e6:.1f} MB")


def copy_file(source: Path, target: Path, filters: str | None = None) -> None:
    """Copy all variables, groups, attributes, links and names of dimensions, in pieces of some rows."""
    with open_file(source) as old, open_file(target, "w") as new:
        if old.unsupported_objects:
            raise ValueError(f"{source} has what cannot be copied: {'; '.join(old.unsupported_objects)}")
        for path in old._core.groups():
            new.create_group(path)
            _copy_attributes(Group(old, path), Group(new, path))
        for path, length in old.dimensions.items():
            new.create_dimension(path, length)
        found = [Variable(old, number) for number in range(old._core.variable_count())]
        pairs = [(variable, _define(new, variable, filters)) for variable in found]
        for variable, copied in sorted(pairs, key=lambda pair: pair[0].dims != (pair[0].name.rsplit("/", 1)[-1],)):
            if any(variable.dims):
                new._core.name_dimensions(copied._number, list(variable.dims), "")
            _copy_attributes(variable, copied)
        for path, link in old._core.links().items():
            new.create_link(path, link)
        total = sum(variable.size * max(variable.dtype.itemsize, 1) for variable in found)
        with _progress(total) as advance:
            for variable, copied in pairs:
                _copy_elements(variable, copied, advance)


def _define(file: File, variable: Variable, filters: str | None) -> Variable:
    info = variable._info
    is_number = variable.dtype.kind in "biufc"
    chosen = filters if filters is not None and is_number and variable.ndim > 0 else info["filters"]
    return file.create_variable(
        variable.name, variable.shape, str if variable.dtype.kind == "O" else variable.dtype, extendible=variable.extendible,
        chunks=variable.chunks if variable.chunks and not variable.extendible else None, filters=chosen or None, fill_value=info["fill_value"] or None,
        enumeration=info["enumeration"] or None, null_space=info["is_null"] or None,
    )  # fmt: skip


def _copy_attributes(old: Group | Variable, new: Group | Variable) -> None:
    for name, value in old.attrs.items():
        new.attrs[name] = value


def _copy_elements(old: Variable, new: Variable, advance: Callable[[int], None]) -> None:
    if old._info["is_null"] or old.size == 0:
        return
    if not old.shape or old.dtype.kind == "O":
        new[...] = old[...]
        advance(old.size * old.dtype.itemsize)
        return
    row = old.size // old.shape[0] * old.dtype.itemsize
    step = max(1, _PIECE // row)
    for begin in range(0, old.shape[0], step):
        piece = old[begin : begin + step]
        new[begin : begin + step] = piece
        advance(piece.nbytes)


@contextmanager
def _progress(total: int) -> Iterator[Callable[[int], None]]:
    """Shows how far a copy is, with rich where that is installed."""
    try:
        from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn
    except ImportError:
        yield lambda _: None
        return
    with Progress(BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn()) as shown:
        task = shown.add_task("copy", total=total)
        yield lambda done: shown.advance(task, done)


if __name__ == "__main__":
    sys.exit(main())
