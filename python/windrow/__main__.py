# SPDX-License-Identifier: BSD-3-Clause
"""``python -m windrow report TRACE --png PICTURE`` and ``python -m windrow copy FROM TO``. The command `windrow` is another program, and has more."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ._attributes import Attributes
from ._errors import Code, WindrowError, counted
from ._files import File
from ._files import open as open_file
from ._options import text_of
from ._types import OPAQUE, REFERENCE, TEXT
from ._variables import Variable

_PIECE = 64 << 20  # bytes that a copy holds at a time
_STAGES = ("describe", "plan", "routes", "descriptions", "exchange", "storage", "agree")


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
    except Refused as refused:
        print("".join(f"python -m windrow copy: cannot be copied: {line}\n" for line in str(refused).splitlines()), end="", file=sys.stderr)
        return 3  # as the command windrow has it
    except (WindrowError, OSError, ValueError, ImportError) as error:
        print(f"python -m windrow {given.command}: {error}", file=sys.stderr)
        return 1
    return 0


def read_trace(path: Path) -> list[dict[str, Any]]:
    """The reports of the flushes of a trace (docs/traces.md), in order; of brief ones their numbers. ValueError: which line is none of a trace."""
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
    raise ValueError(f"{path} is not a trace of a version that is known here")


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
        reports.append({**brief, "seconds": {name.removesuffix("_ns"): ns * 1e-9 for name, ns in brief.items() if name.endswith("_ns")}})
    for report in reports:
        for value in (report["bytes"], report["seconds"]["total"], *(report["seconds"].get(stage, 0) for stage in _STAGES)):
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
    print(f"{picture}: {counted(len(reports), 'flush', 'flushes')}, {sum(report['bytes'] for report in reports) / 1e6:.1f} MB")


class Refused(Exception):
    """What cannot be copied, one a line; nothing is."""


def copy_file(source: Path, target: Path, filters: str | None = None) -> None:
    """Copy all variables, groups, attributes, links and names of dimensions as they are stored, in pieces of some rows."""
    with open_file(source) as old, open_file(target, "w") as new:
        refused = [f"{source}: {what}" for what in old.unsupported_objects]

        def attempt(what: str, action: Callable[[], None]) -> None:
            try:
                action()
            except WindrowError as error:
                if error.code not in (Code.UNSUPPORTED, Code.BAD_ARGUMENT):
                    raise
                refused.append(f"{what}: {error}")

        def copy_attributes(path: str) -> None:
            from_attributes, to_attributes = Attributes(old._handle, path), Attributes(new._handle, path)
            for name in from_attributes._describe():
                attempt(f"{path}, attribute {name}", partial(to_attributes.copy, from_attributes, name))

        for path in old._handle.core.groups():
            attempt(path, partial(_define_group, new, path, copy_attributes))
        for path, length in old.dimensions.items():
            attempt(path, partial(new.create_dimension, path, length))
        pairs: list[tuple[Variable, Variable]] = []
        for number in range(old._handle.core.variable_count()):
            variable = Variable(old._handle, number)
            attempt(variable.name, lambda variable=variable: pairs.append((variable, _define(new, variable, filters))))  # type: ignore[misc]
        for variable, copied in sorted(pairs, key=lambda pair: pair[0].dims != (pair[0].name.rsplit("/", 1)[-1],)):
            if any(variable.dims):
                attempt(f"{variable.name}, dimensions", partial(new._handle.core.name_dimensions, copied._number, list(variable.dims), ""))
            copy_attributes(variable.name)
        for path, link in old._handle.core.links().items():
            attempt(path, partial(new.create_link, path, link))
        if refused:
            raise Refused("\n".join(refused))
        total = sum(variable.size * max(variable.dtype.itemsize, 1) for variable, _ in pairs)
        with _progress(total) as advance:
            for variable, copied in pairs:
                _copy_elements(variable, copied, advance)


def _define_group(file: File, path: str, copy_attributes: Callable[[str], None]) -> None:
    file.create_group(path)
    copy_attributes(path)


def _define(file: File, variable: Variable, filters: str | None) -> Variable:
    """The same variable; without chunks and filters where the format has none."""
    info = variable._info
    if info["type"] in (0, REFERENCE):
        raise WindrowError(info["unsupported"] or "object references", Code.UNSUPPORTED)
    settings = {key: info[key] for key in ("text_characters", "text_padding", "opaque_tag", "enumeration", "fill_value") if info[key]}
    settings["byte_order"] = "big" if info["big_endian"] else "little"
    settings["null_space"] = text_of(info["is_null"])
    if info["type"] in (TEXT, OPAQUE):
        settings["element_bytes"] = text_of(info["element_bytes"])
    chunked = {"chunks": text_of(info["chunks"]) if info["chunks"] else "auto", "extendible": text_of(info["extendible"]), "filters": info["filters"] or "none"}
    ways = [chunked] if info["chunks"] else []
    if info["extendible"]:
        ways.append({"chunks": "auto", "extendible": "true"})
    if filters is not None and variable.dtype.kind in "biufc" and variable.ndim > 0:
        ways = [{**chunked, "filters": filters}]
    else:
        ways.append({})

    def define(way: dict[str, str]) -> Variable:
        number = file._handle.core.define_variable("copy", variable.name, info["type"], variable.shape, {**settings, **way}, "")
        return Variable(file._handle, number)

    for way in ways[:-1]:
        try:
            return define(way)
        except WindrowError as error:
            if error.code != Code.UNSUPPORTED:
                raise
    return define(ways[-1])


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
