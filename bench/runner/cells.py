# SPDX-License-Identifier: BSD-3-Clause
"""Measuring a cell: one scenario at one number of ranks, all systems taking turns."""

from __future__ import annotations

import random
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .servers import Pool, RunFailed, ServerKey
from .systems import FILES, FLOOR, LIMIT, URING, Variant

# The candidates of a cell run once; if that is not quick, up to three times, and the fastest run decides.
SCOUT_TURNS = 3
SCOUT_BUDGET_S = 4.0
# What is this many times slower than the best system in both directions is measured twice: its place is not in doubt.
FAR = 4.0
FAR_TURNS = 2
# Files of this size take seconds to fill and check: fewer repetitions, unless a number was asked for.
LARGE_BYTES = 400e6
LARGE_TURNS = 3
# Variants that were this many times slower than the best of their row at fewer ranks are not tried again.
HOPELESS = 3.0
DIRECTIONS = ("write", "read", "durable", "first", "again")
# The kinds of measurements, and the arguments for the program. A plain one writes and reads back.
PLAIN, DURABLE, REWRITE = "plain", "durable", "rewrite"
OPTIONS = {PLAIN: "", DURABLE: " --durable", REWRITE: " --rewrite 4"}


@dataclass(frozen=True)
class Settings:
    directory: Path
    repetitions: int
    modes: tuple[str, ...]  # beside the plain one
    shorten: bool  # large cells and slow systems run fewer times
    limit_s: float
    verbose: bool


@dataclass
class Record:
    """What is known of one variant in one cell."""

    variant: Variant
    samples: dict[str, list[float]] = field(default_factory=lambda: {d: [] for d in DIRECTIONS})
    scouted: dict[str, list[float]] = field(default_factory=lambda: {d: [] for d in DIRECTIONS})
    trouble: str = ""  # timeout, failed, wrong: it runs no more
    absent: str = ""  # not built, or not for this scenario
    format: str = ""
    report: Any = None


@dataclass
class Cell:
    scenario: str
    ranks: int
    inputs: str  # --mesh and --map
    file_bytes: int = 0
    seconds: float = 0.0
    records: list[Record] = field(default_factory=list)
    distances_ns: list[float] = field(default_factory=list)  # between two cores, before each repetition


def hopeless(cell: Cell) -> set[Variant]:
    """Variants that are not worth another try at more ranks: far slower than another of their row in both
    directions."""
    found = set()
    for record in cell.records:
        row = [
            r for r in cell.records if r.variant.row == record.variant.row and r.scouted["write"] and r.scouted["read"]
        ]
        if record in row and all(
            min(record.scouted[d]) > HOPELESS * min(min(r.scouted[d]) for r in row) for d in ("write", "read")
        ):
            found.add(record.variant)
    return found


class Measurement:
    """Runs the variants of one cell."""

    def __init__(self, pool: Pool, cell: Cell, settings: Settings) -> None:
        self._pool = pool
        self._cell = cell
        self._settings = settings
        self._turn = 0

    def run(self, variants: list[Variant]) -> None:
        begin = time.monotonic()
        self._cell.records = [Record(v) for v in variants]
        for record in self._cell.records:
            if not self._pool.has(record.variant.program):
                record.absent = f"bench-{record.variant.program} is not built"
        self._scout()
        repetitions = self._settings.repetitions
        if self._settings.shorten and self._cell.file_bytes >= LARGE_BYTES:
            repetitions = min(LARGE_TURNS, repetitions)
        self._take_turns(self._kept(("write", "read")), repetitions, PLAIN)
        for mode in self._settings.modes:
            self._take_turns(self._kept(("write",)), min(3, repetitions), mode)
        self._cell.seconds = time.monotonic() - begin

    def _scout(self) -> None:
        """The first turns are not counted: they warm up, check every byte of the file, and choose among variants."""
        begin = time.monotonic()
        for turn in range(SCOUT_TURNS):
            for record in self._cell.records:
                if not record.trouble and not record.absent:
                    self._one(record, record.scouted, check=turn == 0)
            if time.monotonic() - begin > SCOUT_BUDGET_S:
                break

    def _take_turns(self, records: list[Record], repetitions: int, mode: str) -> None:
        """Each repetition runs all in another order, so that drift and other programs affect all equally."""
        order = list(records)
        turns = {id(record): self._turns(record, records, repetitions) for record in records}
        for repetition in range(repetitions):
            self._note_distance()
            random.Random(repetition).shuffle(order)
            for record in order:
                if not record.trouble and repetition < turns[id(record)]:
                    self._one(record, record.samples, mode=mode)

    def _turns(self, record: Record, records: list[Record], repetitions: int) -> int:
        others = [r for r in records if r.variant.row not in (LIMIT, URING, FLOOR, FILES)]
        if not self._settings.shorten or record.variant.row == LIMIT or not others:
            return repetitions
        far = all(
            min(record.scouted[d]) > FAR * min(min(other.scouted[d]) for other in others) for d in ("write", "read")
        )
        return min(FAR_TURNS, repetitions) if far else repetitions

    def _note_distance(self) -> None:
        self._cell.distances_ns.append(self._pool.distance_ns())

    def _kept(self, directions: tuple[str, ...]) -> list[Record]:
        """Of each row the fastest variant in each direction, and those that scouting cannot tell from it (10 %)."""
        rows: dict[str, list[Record]] = defaultdict(list)
        for record in self._cell.records:
            if not record.trouble and not record.absent:
                rows[record.variant.row].append(record)
        kept: list[Record] = []
        for candidates in rows.values():
            for direction in directions:
                best = min(min(c.scouted[direction]) for c in candidates)
                near = [c for c in candidates if min(c.scouted[direction]) <= 1.1 * best]
                near.sort(key=lambda c: min(c.scouted[direction]))
                both = candidates[0].variant.row == LIMIT  # both limits are always measured
                kept += [c for c in (candidates if both else near[:2]) if c not in kept]
        return kept

    def _one(self, record: Record, into: dict[str, list[float]], *, check: bool = False, mode: str = PLAIN) -> None:
        variant, cell = record.variant, self._cell
        self._turn += 1
        arguments = (
            f"--scenario {cell.scenario} --system {variant.system} --repetition {self._turn} "
            f'--dir "{self._settings.directory}/run" {cell.inputs}'
        )
        arguments += OPTIONS[mode] + (" --check-file" if check else "")
        try:
            answer = self._pool.ask(
                ServerKey(variant.program, variant.ranks or cell.ranks, variant.io, variant.unchanged),
                arguments,
                self._settings.limit_s,
            )
        except RunFailed as failure:
            record.trouble = str(failure)
            if record.trouble == "timeout":
                record.trouble = f"timeout {self._settings.limit_s:g} s"
        else:
            self._keep(record, into, answer, mode)
        if self._settings.verbose:
            print(f"  {variant.name} {record.trouble or record.absent or answer}", file=sys.stderr)

    def _keep(self, record: Record, into: dict[str, list[float]], answer: dict[str, Any], mode: str) -> None:
        record.format = answer["format"]
        self._cell.file_bytes = answer["file_bytes"]
        if "not_applicable" in answer:
            record.absent = answer["not_applicable"]
            return
        if "wrong" in answer:
            record.trouble = "WRONG: " + answer["wrong"]
            return
        record.report = answer.get("report", record.report)
        if mode == REWRITE:
            into["first"].append(answer["first_s"])
            into["again"] += answer["rewrites_s"]
        else:
            into["durable" if mode == DURABLE else "write"].append(answer["write_s"])
        if mode == PLAIN:
            into["read"].append(answer["read_s"])
