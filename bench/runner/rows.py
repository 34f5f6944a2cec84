# SPDX-License-Identifier: BSD-3-Clause
"""From samples to the rows of the table, and to what one row says of another."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import Any

from .cells import DIRECTIONS, Cell, Record
from .systems import AUTO, FILES, LIMIT, is_peer


@dataclass(frozen=True)
class Figure:
    """Median and extremes of one row in one direction."""

    median_s: float
    fastest_s: float
    slowest_s: float
    count: int
    mark: str
    format: str
    variant: str


@dataclass
class Row:
    name: str
    figures: dict[str, Figure]  # by direction
    trouble: str = ""  # of all its variants
    format: str = ""


def _figure(record: Record, direction: str) -> Figure | None:
    samples = record.samples[direction]
    if not samples:
        return None
    variant = record.variant
    extremes = (statistics.median(samples), min(samples), max(samples))
    return Figure(*extremes, len(samples), variant.mark, record.format, variant.name)


def rows_of(cell: Cell) -> list[Row]:
    """A row a system; of its variants the one with the better median counts, in each direction. Absent ones have no
    row."""
    rows: list[Row] = []
    for name in dict.fromkeys(record.variant.row for record in cell.records):
        records = [r for r in cell.records if r.variant.row == name and not r.absent]
        if not records:
            continue
        figures: dict[str, Figure] = {}
        for direction in DIRECTIONS:
            found = [f for f in (_figure(r, direction) for r in records if not r.trouble) if f is not None]
            if found:
                figures[direction] = min(found, key=lambda figure: figure.median_s)
        trouble = next((r.trouble for r in records if r.trouble), "") if "write" not in figures else ""
        rows.append(Row(name, figures, trouble, next((r.format for r in records if r.format), "")))
    return rows


def find(rows: list[Row], name: str, direction: str) -> Figure | None:
    return next((row.figures.get(direction) for row in rows if row.name == name), None)


def best_peer(rows: list[Row], direction: str, file_format: str = "") -> tuple[str, Figure] | None:
    """Of those whose files are of that format, where one is given."""
    peers = [
        (row.name, row.figures[direction])
        for row in rows
        if is_peer(row.name) and direction in row.figures and file_format in ("", row.format)
    ]
    return min(peers, key=lambda peer: peer[1].median_s, default=None)


def overlap(a: Figure, b: Figure) -> bool:
    """Whether each median is within the other's extremes: then the two cannot be distinguished."""
    return b.fastest_s <= a.median_s <= b.slowest_s and a.fastest_s <= b.median_s <= a.slowest_s


def _figure_json(figure: Figure, cell: Cell, limit: Figure | None) -> dict[str, Any]:
    return {
        "median_s": figure.median_s,
        "min_s": figure.fastest_s,
        "max_s": figure.slowest_s,
        "count": figure.count,
        "mb_s": cell.file_bytes / figure.median_s / 1e6,
        "times_limit": figure.median_s / limit.median_s if limit else None,
        "variant": figure.variant,
        "format": figure.format,
    }


def cell_json(cell: Cell) -> dict[str, Any]:
    rows = rows_of(cell)
    result: dict[str, Any] = {
        name: getattr(cell, name) for name in ("scenario", "ranks", "file_bytes", "seconds", "distances_ns")
    }
    limits = {direction: find(rows, LIMIT, direction) for direction in DIRECTIONS}
    result["rows"] = [
        {"system": row.name, "trouble": row.trouble, "format": row.format}
        | {direction: _figure_json(figure, cell, limits[direction]) for direction, figure in row.figures.items()}
        for row in rows
    ]
    result["variants"] = [
        {
            "system": r.variant.row,
            "variant": r.variant.name,
            "format": r.format,
            "absent": r.absent,
            "trouble": r.trouble,
            "samples_s": r.samples,
            "scouted_s": r.scouted,
            "report": r.report,
        }
        for r in cell.records
    ]
    result["summary"] = {direction: _summary(rows, direction) for direction in DIRECTIONS}
    return result


def _summary(rows: list[Row], direction: str) -> dict[str, Any] | None:
    auto, peer, files = find(rows, AUTO, direction), best_peer(rows, direction), find(rows, FILES, direction)
    if auto is None or peer is None:
        return None
    return {
        "windrow_auto_s": auto.median_s,
        "best_peer": peer[0],
        "best_peer_s": peer[1].median_s,
        "peer_over_auto": peer[1].median_s / auto.median_s,
        "within_spread": overlap(auto, peer[1]),
        "file_per_process_s": files.median_s if files else None,
    }
