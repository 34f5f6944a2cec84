# SPDX-License-Identifier: BSD-3-Clause
"""The scenario tpc: from the lines of bench-tpc to figures, improvements and targets. Nothing here measures or
prints."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from .tpc import COUNTED, PRETENDED, SHARED, Line, mesh_name

# The stages as the paper numbers them, and what Windrow's report calls them.
STAGES = {
    "st1": "describe",
    "st2": "agree",
    "st3": "plan",
    "st4": "routes",
    "st5": "descriptions",
    "st6": "exchange",
    "st7": "storage",
}
FIXED = ("off", "lzo", "lz4", "zstd")


@dataclass(frozen=True)
class Where:
    """One scenario: all that codecs have in common."""

    network: str
    type: str
    nodes: int
    load: int
    zeros: int
    ranks: int

    @property
    def name(self) -> str:
        zeros = f", {self.zeros} % zeros" if self.zeros else ""
        return f"{mesh_name(self.nodes)}, {self.type}, load {self.load}{zeros}, {self.ranks} ranks"


@dataclass(frozen=True)
class Figure:
    median: float
    low: float
    high: float
    count: int

    @property
    def spread(self) -> float:
        """Half of the difference between the extremes, over the median."""
        return (self.high - self.low) / 2 / self.median if self.median else 0.0


def figure(values: Iterable[float]) -> Figure | None:
    found = list(values)
    return Figure(statistics.median(found), min(found), max(found), len(found)) if found else None


def where(line: Line) -> Where:
    return Where(line["network"], line["type"], line["nodes"], line["load"], line["zeros"], line["ranks"])


class Results:
    """All lines, found by scenario and codec."""

    def __init__(self, lines: list[Line]) -> None:
        self.cases: dict[Where, Line] = {}
        self.absent: dict[str, str] = {}
        self.wrong: list[str] = []
        self.checked = 0
        self._flushes: dict[Where, dict[str, list[Line]]] = {}
        spoilt = []
        for line in lines:
            place = where(line)
            if line["kind"] == "case":
                self.cases[place] = line
            elif line["kind"] == "flush":
                self._flushes.setdefault(place, {}).setdefault(line["codec"], []).append(line)
            elif line["kind"] == "absent":
                self.absent[line["codec"]] = line["reason"]
            elif line["kind"] == "check":
                self.checked += 1
                if not line["right"]:
                    spoilt.append((place, line["codec"]))
                    self.wrong.append(
                        f"{place.network}, {place.name}, {line['codec']}: node {line['wrong_node']} is wrong in the "
                        "file"
                    )
        for place, codec in spoilt:  # no time of it counts
            self._flushes[place].pop(codec, None)

    def scenarios(self, wanted: Callable[[Where], bool] = lambda _: True) -> list[Where]:
        found = [place for place in self._flushes if wanted(place) and place.network != COUNTED]
        return sorted(found, key=lambda p: (p.network, p.type, p.nodes, p.zeros, p.load, p.ranks))

    def codecs(self, place: Where) -> list[str]:
        return list(self._flushes.get(place, {}))

    def flushes(self, place: Where, codec: str, *, first: bool) -> list[Line]:
        """The first flush of each file, or the later ones, which find their plan made and the codecs measured."""
        return [line for line in self._flushes.get(place, {}).get(codec, []) if (line["flush"] == 0) == first]

    def measure(self, place: Where, codec: str, what: str, *, first: bool) -> Figure | None:
        """Of a stage in seconds ("st6"), of the whole flush ("wall"), or of a number of the report ("bytes_sent")."""
        values = (value_of(line, what) for line in self.flushes(place, codec, first=first))
        return figure(value for value in values if value is not None)

    def improvement(self, place: Where, codec: str, what: str, *, first: bool) -> Figure | None:
        """In % of the time without compression, as in the paper; of pairs that ran one after the other."""
        before = {
            (line["file"], line["flush"]): value_of(line, what) for line in self.flushes(place, "off", first=first)
        }
        found = []
        for line in self.flushes(place, codec, first=first):
            old, new = before.get((line["file"], line["flush"])), value_of(line, what)
            if old and new is not None:
                found.append(100 * (old - new) / old)
        return figure(found)

    def codec_rows(self, place: Where, codec: str) -> list[dict[str, Any]]:
        """What became of the messages in the last flush, by the codec that was used for them; [] where the library
        does not tell."""
        lines = self.flushes(place, codec, first=False) or self.flushes(place, codec, first=True)
        rows: list[dict[str, Any]] = lines[-1]["report"].get("codecs", []) if lines else []
        return rows

    def shrunk(self, place: Where, codec: str) -> float | None:
        """Bytes on their way over bytes before the codec."""
        sent = self.measure(place, codec, "bytes_sent", first=False)
        before = self.measure(place, codec, "bytes_before_codec", first=False)
        return sent.median / before.median if sent and before and before.median else None

    def counted(self, nodes: int, load: int, ranks: int) -> tuple[Line, Line] | None:
        """Of a run for the paper's tables: what its algorithm would send, and the report of what Windrow sent."""
        place = Where(COUNTED, "int32", nodes, load, 0, ranks)
        found = self.flushes(place, "off", first=True)
        return (self.cases[place]["as_paper"], found[0]["report"]) if found and place in self.cases else None


def value_of(line: Line, what: str) -> float | None:
    if what == "wall":
        return float(line["wall_s"])
    report = line["report"]
    value = report.get("seconds", {}).get(STAGES[what]) if what in STAGES else report.get(what)
    return None if value is None else float(value)


@dataclass(frozen=True)
class Target:
    """What the library is asked to reach, and what was measured. `met`: None when it was not measured."""

    text: str
    measured: str
    met: bool | None


def targets(results: Results) -> list[Target]:
    return [
        _integers_fall(results),
        _never_rises(results),
        _zeros_fall(results),
        _near_the_best(results),
        _faster_floats(results),
        _costs_nothing(results),
    ]


def _improvements(results: Results, wanted: Callable[[Where], bool], what: str) -> list[tuple[float, Where]]:
    found = [(results.improvement(place, "auto", what, first=False), place) for place in results.scenarios(wanted)]
    return sorted(((f.median, place) for f, place in found if f), key=lambda pair: pair[0])


def _integers_fall(results: Results) -> Target:
    text = "100mbit: st6 of integers at load 1000 falls by at least 74 % with auto on at least one mesh"
    found = _improvements(
        results, lambda p: (p.network, p.type, p.load, p.zeros) == ("100mbit", "int32", 1000, 0), "st6"
    )
    if not found:
        return Target(text, "not measured", None)
    best, place = found[-1]
    return Target(text, f"{best:.1f} % ({place.name}); the least of {len(found)}: {found[0][0]:.1f} %", best >= 74)


def _never_rises(results: Results) -> Target:
    text = "100mbit: st6 never rises with auto"
    found = _improvements(results, lambda p: p.network == "100mbit", "st6")
    if not found:
        return Target(text, "not measured", None)
    worst, place = found[0]
    risen = sum(improvement < 0 for improvement, _ in found)
    own = results.measure(place, "off", "st6", first=False)
    spread = f"; off itself varies by ±{100 * own.spread:.0f} % there" if own else ""
    return Target(
        text, f"rises in {risen} of {len(found)}; the worst: {worst:+.1f} % ({place.name}){spread}", risen == 0
    )


def _zeros_fall(results: Results) -> Target:
    text = "100mbit: st6 falls by at least 99 % at 100 % zeros with auto"
    found = _improvements(results, lambda p: (p.network, p.zeros) == ("100mbit", 100), "st6")
    if not found:
        return Target(text, "not measured", None)
    worst, place = found[0]
    met = sum(improvement >= 99 for improvement, _ in found)
    measured = f"in {met} of {len(found)}; the least: {worst:.1f} % ({place.name})"
    return Target(text, measured + _room_for_zeros(results, [p for _, p in found]), worst >= 99)


def _room_for_zeros(results: Results, places: list[Where]) -> str:
    """How many of them could fall so far: st6 where links are not shaped is looking at the data and making it again
    alone, as the messages are 20 bytes."""
    rooms = []
    for place in places:
        off, free = results.measure(place, "off", "st6", first=False), results.measure(
            replace(place, network="none"), "auto", "st6", first=False
        )
        if off and free:
            rooms.append(100 - 100 * free.median / off.median)
    if len(rooms) < len(places):
        return ""
    return (
        f"; where the same messages wait for no wire st6 is at least 99 % less in {sum(r >= 99 for r in rooms)} of "
        f"{len(rooms)}"
    )


def _near_the_best(results: Results) -> Target:
    text = "1gbit: a flush with auto takes at most 3 % longer than with the best of off, lzo, lz4, zstd"
    found = []
    for place in results.scenarios(lambda p: p.network == "1gbit"):
        walls = {codec: results.measure(place, codec, "wall", first=False) for codec in (*FIXED, "auto")}
        times = {codec: wall.median for codec, wall in walls.items() if wall}
        if len(times) == len(FIXED) + 1:
            best = min(FIXED, key=lambda codec: times[codec])
            found.append((times["auto"] / times[best], best, place))
    if not found:
        return Target(text, "not measured", None)
    ratio, best, place = max(found, key=lambda item: item[0])
    within = sum(item[0] <= 1.03 for item in found)
    return Target(
        text, f"in {within} of {len(found)}; the worst: {ratio:.2f} times {best} ({place.name})", ratio <= 1.03
    )


def _faster_floats(results: Results) -> Target:
    text = "1gbit: a flush of floats with auto is at least 1.5 times faster than with off"
    found = []
    for place in results.scenarios(lambda p: p.network == "1gbit" and p.type.startswith("float") and p.zeros == 0):
        off, auto = (results.measure(place, codec, "wall", first=False) for codec in ("off", "auto"))
        if off and auto:
            found.append((off.median / auto.median, place))
    if not found:
        return Target(text, "not measured", None)
    ratio, place = min(found, key=lambda pair: pair[0])
    met = sum(r >= 1.5 for r, _ in found)
    measured = (
        f"in {met} of {len(found)}; the least: {ratio:.2f} times ({place.name}); the most: "
        f"{max(r for r, _ in found):.2f}"
    )
    return Target(text, measured + _room_for_floats(results, [p for _, p in found]), ratio >= 1.5)


def _room_for_floats(results: Results, places: list[Where]) -> str:
    """How many of them could be so much faster: what the fastest compressor's flush takes where links are not shaped
    is copies and compression alone."""
    rooms = []
    for place in places:
        off, free = results.measure(place, "off", "wall", first=False), replace(place, network="none")
        walls = [
            results.measure(free, codec, "wall", first=False)
            for codec in results.codecs(free)
            if codec not in ("off", "auto")
        ]
        times = [wall.median for wall in walls if wall]
        if off and times:
            rooms.append(off.median / min(times))
    if len(rooms) < len(places):
        return ""
    return (
        "; where compressed messages wait for no wire a flush is at least 1.5 times as fast in "
        f"{sum(r >= 1.5 for r in rooms)} of {len(rooms)}"
    )


def _costs_nothing(results: Results) -> Target:
    text = "no shaped link: a flush with auto takes at most 2 % longer than with off"
    found = _improvements(results, lambda p: p.network in (SHARED, PRETENDED, "none"), "wall")
    if not found:
        return Target(text, "not measured", None)
    worst, place = found[0]
    within = sum(improvement >= -2 for improvement, _ in found)
    own = results.measure(place, "off", "wall", first=False)
    spread = f"; off itself varies by ±{100 * own.spread:.0f} % there" if own else ""
    measured = f"in {within} of {len(found)}; the worst: {-worst:+.1f} % ({place.network}, {place.name}){spread}"
    return Target(text, measured, worst >= -2)
