# SPDX-License-Identifier: BSD-3-Clause
"""The printed tables: at most 120 columns."""

from __future__ import annotations

import statistics
import textwrap
from typing import Any

from .cells import Cell
from .rows import Figure, Row, best_peer, find, overlap, rows_of
from .systems import AUTO, FILES, LIMIT, OWN_HDF5

NAME_WIDTH = 24
FORMAT_WIDTH = 8
GROUP_WIDTH = 30
TITLES = {
    "write": "write",
    "read": "read back",
    "durable": "durable write",
    "first": "open to end of first write",
    "again": "later write, in place",
}
OPEN_TO_CLOSE = ("write", "read", "durable")
IN_OPEN_FILE = ("first", "again")
LEGEND = (
    "MB/s: bytes of the file over the median of seconds from before open to after close. x L: how many times the "
    "seconds of the limit in this direction. min-max: fastest and slowest run over the median. by: which variant "
    "counts (o OMPIO, r ROMIO; i indexed, s subarray view; n no sieving; 1 or 2 processes for the limit; the "
    "floor's are in README.md). * the best peer that makes one file. Rows more than 4 times slower "
    "than the best are medians of 2, durable writes of 3."
)


def header(machine: dict[str, Any]) -> str:
    text = (
        f"{machine['date']}, {machine['cores']} cores, {machine['processor']}, {machine['memory_gib']} GiB, "
        f"Linux {machine['kernel']}, {machine['file_system']} at {machine['directory']}; {machine['mpi']}; "
        f"HDF5 {machine['hdf5']}, PnetCDF {machine['pnetcdf']}; Windrow {machine['commit']}; load before "
        f"{machine['load_before']:.1f}"
    )
    return textwrap.fill(text, 118) + "\n\n" + textwrap.fill(LEGEND, 118)


def size(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.3g} {unit}"
        count /= 1000
    raise AssertionError


def duration(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"


def _rate(file_bytes: int, seconds: float) -> str:
    rate = file_bytes / seconds / 1e6
    return f"{rate:.0f}" if rate >= 10 else f"{rate:.2g}"


def _ratio(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _group(cell: Cell, figure: Figure | None, limit: Figure | None, *, best: bool) -> str:
    """MB/s, x L, min-max, by."""
    if figure is None:
        return " " * GROUP_WIDTH
    spread = f"{figure.fastest_s / figure.median_s:.2f}-{_ratio(figure.slowest_s / figure.median_s)}"
    times = _ratio(figure.median_s / limit.median_s) if limit else "-"
    star = "*" if best else " "
    return f"{_rate(cell.file_bytes, figure.median_s):>7}{star}{times:>6}  {spread:>9} {figure.mark:<4}"


def _row(cell: Cell, rows: list[Row], row: Row, directions: tuple[str, ...]) -> str:
    start = f"{row.name:<{NAME_WIDTH}} {row.format:<{FORMAT_WIDTH}}"
    if row.trouble:
        return f"{start}  {row.trouble}"[:120]
    groups = []
    for direction in directions:
        peer = best_peer(rows, direction)
        best = peer is not None and peer[0] == row.name
        groups.append(_group(cell, row.figures.get(direction), find(rows, LIMIT, direction), best=best))
    if directions == IN_OPEN_FILE:
        groups.append(f"{row.figures['again'].median_s / row.figures['first'].median_s:>14.2f}")
    return (start + "".join(groups)).rstrip()


def _table(cell: Cell, rows: list[Row], directions: tuple[str, ...], sentence: str) -> list[str]:
    """One table of a cell, without what was left out."""
    limits = [
        f"{TITLES[direction]} {duration(limit.median_s)}"
        for direction in directions
        if (limit := find(rows, LIMIT, direction)) is not None
    ]
    sentence = f"{cell.scenario}, {cell.ranks} ranks: {sentence} The limit L: {', '.join(limits)}."
    titles = "".join(f"{'   ' + TITLES[d]:<{GROUP_WIDTH}}" for d in directions)
    group = f"{'MB/s':>7} {'x L':>6}  {'min-max':>9} {'by':<4}"
    ratio = f"{'later/first':>14}" if directions == IN_OPEN_FILE else ""
    return [
        *textwrap.wrap(sentence, 118),
        " " * (NAME_WIDTH + 1 + FORMAT_WIDTH) + titles.rstrip(),
        (f"{'system':<{NAME_WIDTH}} {'format':<{FORMAT_WIDTH}}" + group * len(directions) + ratio).rstrip(),
        "-" * 118,
        *[_row(cell, rows, row, directions) for row in rows if row.name not in (FILES, OWN_HDF5)],
        "- not one file " + "-" * 103,
        *[_row(cell, rows, row, directions) for row in rows if row.name in (FILES, OWN_HDF5)],
    ]


def _count(rows: list[Row], direction: str) -> int:
    return max((figure.count for row in rows for figure in [row.figures.get(direction)] if figure), default=0)


def cell_table(cell: Cell) -> str:
    rows = rows_of(cell)
    sentence = f"{size(cell.file_bytes)} in one file, median of {_count(rows, 'write')}."
    measured = tuple(d for d in OPEN_TO_CLOSE if any(d in row.figures for row in rows))
    lines = _table(cell, rows, measured, sentence)
    rewritten = [row for row in rows if "again" in row.figures]
    if rewritten:
        sentence = (
            f"the same written again into the open file, median of {_count(rows, 'again')} in "
            f"{_count(rows, 'first')} files."
        )
        lines += ["", *_table(cell, rewritten, IN_OPEN_FILE, sentence)]
    lines += distance_lines(cell)
    absent = _absent(cell)
    if absent:
        lines += textwrap.wrap("left out: " + "; ".join(absent), 118)
    lost = [f"{r.variant.name}: {r.trouble}" for r in cell.records if r.trouble]
    lines += [line for text in lost for line in textwrap.wrap("! " + text, 118)]
    return "\n".join(lines)


def distance_lines(cell: Cell) -> list[str]:
    """What ranks that share memory depend on, and a limit of one process does not."""
    known = sorted(ns for ns in cell.distances_ns if ns > 0)
    if not known:
        return []
    return [
        f"a word to another core and back: median {statistics.median(known):.0f} ns, {known[0]:.0f} to "
        f"{known[-1]:.0f} in {len(known)} looks"
    ]


def _absent(cell: Cell) -> list[str]:
    """Rows that are not here, by reason."""
    present = {r.variant.row for r in cell.records if not r.absent}
    reasons: dict[str, list[str]] = {}
    for record in cell.records:
        if record.absent and record.variant.row not in present:
            rows = reasons.setdefault(record.absent, [])
            if record.variant.row not in rows:
                rows.append(record.variant.row)
    return [f"{', '.join(rows)} ({reason})" for reason, rows in reasons.items()]


def summary(cells: list[Cell]) -> str:
    """Windrow auto against the best peer of each cell."""
    lines = []
    width = max([18, *(len(f"{cell.scenario} hdf5 {cell.ranks}") for cell in cells)])
    for direction in (*OPEN_TO_CLOSE, "again"):
        if not any(direction in row.figures for cell in cells for row in rows_of(cell)):
            continue
        title = f"{TITLES[direction]}: windrow auto against the best peer that makes one file"
        lines += ["", f"{title} (MB/s; x L: times the limit's seconds)"]
        lines.append(
            f"{'scenario':<{width - 5}}{'ranks':>5} {'auto':>8} {'x L':>6}   {'best peer':<21}{'MB/s':>8} {'x L':>6}   "
            f"{'auto is':<28} {'own files':>9}"
        )
        lines.append("-" * (100 + width))
        lines += [_summary_row(cell, direction, width) for cell in cells]
        alike = [line for cell in cells for line in _rows_of_one_format(cell, direction, width)]
        lines += ["", f"{TITLES[direction]}: the same, of files of the same format", *alike] if alike else []
    lines += [
        "",
        "own files: a file per process, which is not the same product. spread: medians within each other's extremes.",
    ]
    return "\n".join(lines)


def _rows_of_one_format(cell: Cell, direction: str, width: int) -> list[str]:
    """Where Windrow wrote several formats, and peers too: each against the best peer of its own."""
    rows = rows_of(cell)
    autos = [row for row in rows if row.name.startswith(AUTO) and direction in row.figures]
    if len({row.format for row in autos}) < 2:
        return []
    return [
        _comparison(
            cell, direction, f"{cell.scenario} {row.format}", row.name, best_peer(rows, direction, row.format), width
        )
        for row in autos
    ]


def _summary_row(cell: Cell, direction: str, width: int) -> str:
    return _comparison(cell, direction, cell.scenario, AUTO, best_peer(rows_of(cell), direction), width)


def _comparison(
    cell: Cell, direction: str, label: str, name_of_auto: str, peer: tuple[str, Figure] | None, width: int
) -> str:
    rows = rows_of(cell)
    limit, auto, files = find(rows, LIMIT, direction), find(rows, name_of_auto, direction), find(rows, FILES, direction)

    def pair(figure: Figure | None) -> str:
        if figure is None:
            return f"{'-':>8} {'-':>6}"
        return (
            f"{_rate(cell.file_bytes, figure.median_s):>8} "
            f"{_ratio(figure.median_s / limit.median_s) if limit else '-':>6}"
        )

    trouble = next((row.trouble for row in rows if row.name == name_of_auto and row.trouble), "")
    verdict = trouble[:28] or "not measured"
    if auto and peer:
        ratio = peer[1].median_s / auto.median_s
        verdict = f"{_ratio(ratio)}x faster" if ratio >= 1 else f"{_ratio(1 / ratio)}x slower"
        verdict += " (within spread)" if overlap(auto, peer[1]) else ""
    own = _rate(cell.file_bytes, files.median_s) if files else "-"
    name = peer[0] if peer else "-"
    return (
        f"{label:<{width - len(str(cell.ranks))}}{cell.ranks} {pair(auto)}   "
        f"{name:<21}{pair(peer[1] if peer else None)}   {verdict:<28} {own:>9}"
    ).rstrip()
