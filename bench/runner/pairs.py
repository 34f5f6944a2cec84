# SPDX-License-Identifier: BSD-3-Clause
"""Paired runs of two systems: A, B and A again in each round, so that drift falls on all; and what A differs from
itself."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

from .cells import Cell, Measurement, Record, Settings
from .servers import Pool
from .table import distance_lines
from .systems import Variant


@dataclass(frozen=True)
class Verdict:
    """Of B against A in one direction. Ratios are seconds over seconds."""

    median_ratio: float
    b_faster: int
    rounds: int
    sign_p: float
    self_low: float  # A against itself: the middle 80 % of the ratios
    self_high: float


def sign_test(successes: int, trials: int) -> float:
    """Two-sided: how likely a count at least this far from half is, when neither is faster."""
    far = max(successes, trials - successes)
    tail = sum(math.comb(trials, k) for k in range(far, trials + 1)) / 2**trials
    return min(1.0, 2 * tail)


def _judge(a: list[float], b: list[float], again: list[float]) -> Verdict:
    # B is held against the mean of the A before and after it: a linear drift falls out.
    ratios = [y / ((x + z) / 2) for x, y, z in zip(a, b, again)]
    own = sorted(z / x for x, z in zip(a, again))
    cut = len(own) // 10
    faster = sum(ratio < 1 for ratio in ratios)
    return Verdict(
        statistics.median(ratios),
        faster,
        len(ratios),
        sign_test(faster, len(ratios)),
        own[cut],
        own[len(own) - 1 - cut],
    )


class Pairs(Measurement):
    """Rounds of A, B, A."""

    def compare(self, a: Variant, b: Variant, rounds: int) -> dict[str, Verdict | str]:
        first, other, again = Record(a), Record(b), Record(a)
        for record in (first, other, again):  # not counted: warm-up and check
            self._one(record, record.scouted, check=True)
        for _ in range(rounds):
            self._note_distance()
            for record in (first, other, again):
                if not record.trouble and not record.absent:
                    self._one(record, record.samples)
        for record in (first, other, again):
            if record.trouble or record.absent:
                return {"trouble": f"{record.variant.name}: {record.trouble or record.absent}"}
        return {d: _judge(first.samples[d], other.samples[d], again.samples[d]) for d in ("write", "read")}


def run_pairs(
    pool: Pool, cell: Cell, settings: Settings, names: tuple[Variant, Variant], rounds: int
) -> tuple[str, dict[str, object]]:
    """One cell: a text for people, and the same for the results."""
    a, b = names
    verdicts = Pairs(pool, cell, settings).compare(a, b, rounds)
    result: dict[str, object] = {"scenario": cell.scenario, "ranks": cell.ranks, "a": a.name, "b": b.name}
    lines = [f"{cell.scenario}, {cell.ranks} ranks: B = {b.name} against A = {a.name}"]
    for direction, verdict in verdicts.items():
        if isinstance(verdict, str):
            lines.append("  " + verdict)
            result["trouble"] = verdict
            continue
        outside = not verdict.self_low <= verdict.median_ratio <= verdict.self_high
        told = "a difference" if outside and verdict.sign_p < 0.05 else "not told apart"
        lines.append(
            f"  {direction:<6} B/A {verdict.median_ratio:6.3f}   B faster in {verdict.b_faster:>2} of {verdict.rounds} "
            f"(p {verdict.sign_p:.3f})   A/A {verdict.self_low:.3f}-{verdict.self_high:.3f}: {told}"
        )
        result[direction] = vars(verdict)
    lines += [f"  {text}" for text in distance_lines(cell)]
    result["distances_ns"] = cell.distances_ns
    return "\n".join(lines), result
