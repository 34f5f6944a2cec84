# SPDX-License-Identifier: BSD-3-Clause
"""The scenario tpc on paper: its tables as text of at most 120 columns, and as Markdown."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .table import duration
from .tpc import LOADS, MESHES, RANKS, mesh_name
from .tpc_results import STAGES, Figure, Results, Target, Where, targets

WIDTH = 118
# Messages and words of 4 bytes that the paper says are exchanged in st6: its Tables 2 and 3 (mesh 1, by load), 5 and
# 6 (load 200, by mesh).
PAPER_MESSAGES_BY_LOAD = {4: (12, 10, 9, 8), 8: (38, 33, 26, 22), 16: (114, 105, 80, 64), 32: (408, 271, 240, 181)}
PAPER_WORDS_BY_LOAD = {
    4: (3_599_800, 7_199_600, 17_999_000, 35_998_000),
    8: (4_456_100, 8_912_200, 22_280_500, 44_561_000),
    16: (4_586_600, 9_173_200, 22_933_000, 45_866_000),
    32: (4_637_200, 9_274_400, 23_186_000, 46_372_000),
}
PAPER_MESSAGES_BY_MESH = {4: (10, 10, 8, 7), 8: (33, 32, 22, 20), 16: (105, 112, 56, 49), 32: (271, 387, 159, 130)}
PAPER_WORDS_BY_MESH = {
    4: (7_199_600, 5_562_600, 12_894_400, 44_184_800),
    8: (8_912_200, 6_181_200, 14_447_400, 47_644_800),
    16: (9_173_200, 6_402_400, 14_425_600, 51_706_600),
    32: (9_274_400, 6_468_400, 14_578_400, 53_831_000),
}
LEGEND = (
    "Times are medians of the slowest rank's; ± is half of what lies between the extremes, over the median. st1 "
    "offsets and lengths, st2 what "
    "all ranks learn of each other's, st3 the file domains and the rest of the plan, st4 what goes to which domain, "
    "st5 descriptions, st6 the "
    "exchange with compression in it, st7 the storage. An improvement is the time saved in % of the time with off, "
    "the median of pairs that ran "
    "in turns; below 0 it took longer. first: the first flush of a file, later: those after it, which find the plan "
    "made and the codecs "
    "measured. sent: bytes of the messages over those before the codec. -: not told by this library, or not measured."
)
MESSAGES_NOTE = (
    "paper: as printed there. Its numbers fit messages of one buffer of 4 MiB of each process, summed over the "
    "processes (in all, a message "
    "at load 1000 would be longer than a buffer). its way here: so counted on this mesh. Windrow: its messages over "
    "its rounds, and in all; every rank "
    "a writer and alone on its host, even domains, buffers of at most 4 MiB, which it makes smaller where a domain "
    "would fill fewer than 8."
)
WORDS_NOTE = (
    "in millions of words of 4 bytes: so the paper's numbers must be read, which are 47 200 nodes x load less what "
    "stays. its way here and Windrow: bytes "
    "sent in all rounds / 4. The meshes are not the paper's: which nodes stay with their process is another matter "
    "here."
)


@dataclass
class Table:
    title: str
    columns: list[str]
    rows: list[list[str]]
    notes: list[str] = field(default_factory=list)
    words: int = 1  # columns that are words, on the left


def text_of(table: Table) -> str:
    widths = [max(len(row[c]) for row in [table.columns, *table.rows]) for c in range(len(table.columns))]

    def line(cells: list[str]) -> str:
        return "  ".join(
            f"{cell:<{w}}" if c < table.words else f"{cell:>{w}}" for c, (cell, w) in enumerate(zip(cells, widths))
        ).rstrip()

    lines = [
        *textwrap.wrap(table.title, WIDTH),
        line(table.columns),
        "-" * min(WIDTH, sum(widths) + 2 * len(widths) - 2),
    ]
    lines += [line(row) for row in table.rows]
    for note in table.notes:
        lines += textwrap.wrap(note, WIDTH)
    return "\n".join(lines)


def markdown_of(table: Table) -> str:
    def line(cells: list[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    rule = "|" + "|".join(" --- " if c < table.words else " ---: " for c in range(len(table.columns))) + "|"
    lines = ["### " + table.title, "", line(table.columns), rule, *[line(row) for row in table.rows]]
    for note in table.notes:
        lines += ["", note]
    return "\n".join(lines)


def tables(results: dict[str, Any]) -> list[Table]:
    """All that can be said of the results of bench/tpc."""
    found = Results(results["lines"])
    made = [_data(found), *_counts(found)]
    for network in dict.fromkeys(place.network for place in found.scenarios()):
        made += [_stages(found, network), *_grids(found, network), _codecs(found, network), _zeros(found, network)]
    made.append(_targets(found))
    return [table for table in made if table is not None and table.rows]


def troubles(results: dict[str, Any]) -> list[str]:
    """What went wrong or is not here; one line each."""
    found = Results(results["lines"])
    lines = [f"WRONG: {wrong}" for wrong in found.wrong]
    lines += [f"failed: {run['name']}: {run['trouble']}" for run in results.get("runs", []) if run["trouble"]]
    lines += [f"network {name} left out: {reason}" for name, reason in results.get("networks", {}).items() if reason]
    lines += [f"codec {codec} left out: {reason}" for codec, reason in found.absent.items()]
    lines.append(f"{found.checked} files read back and compared, every byte: {len(found.wrong)} wrong")
    return lines


def _seconds(value: Figure | None) -> str:
    if value is None:
        return "-"
    return duration(value.median) if value.median >= 1e-5 else "0 ms"


def _spread(value: Figure | None) -> str:
    return f"{duration(value.median)} ±{100 * value.spread:.0f}%" if value else "-"


def _percent(value: Figure | None) -> str:
    return f"{value.median:+.1f}" if value else "-"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}".replace(",", " ")


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _used(results: Results, place: Where, codec: str) -> str:
    """Which codecs the messages went by, the most bytes first."""
    rows = sorted(results.codec_rows(place, codec), key=lambda row: -row.get("bytes_in", 0))
    return ", ".join(str(row.get("codec", "?")) for row in rows if row.get("messages", 0) > 0)[:20] or "-"


def _data(results: Results) -> Table:
    """Entropy of what is written, for the first mesh and number of ranks that has it."""
    rows = {}
    for place, case in sorted(
        results.cases.items(),
        key=lambda item: (item[0].type, item[0].load, item[0].zeros, item[0].nodes, item[0].ranks),
    ):
        key = (place.type, place.load, place.zeros)
        entropies = [f"{case[name]:.1f}" for name in ("entropy_elements", "entropy_differences")]
        noise = case["noise_bits"] * (100 - place.zeros) / 100
        rows.setdefault(
            key,
            [
                mesh_name(place.nodes),
                place.type,
                str(place.load),
                f"{place.zeros} %",
                f"{case['bytes'] / 1e6:.3g}",
                str(case["element_bits"]),
                f"{noise:g}",
                *entropies,
            ],
        )
    return Table(
        "What is written: bits of information an element",
        ["mesh", "type", "load", "zeros", "MB", "bits", "of it noise", "entropy", "of differences"],
        list(rows.values()),
        ["Entropies are of order 0, byte by byte of the elements, and of their differences from the element before."],
        words=2,
    )


def _counts(results: Results) -> list[Table]:
    loads = [(str(load), MESHES[1], load) for load in LOADS]
    meshes = [(mesh_name(nodes), nodes, 200) for nodes in MESHES.values()]
    return [
        _messages(results, "Table 2 of the paper: messages of st6, mesh 1, by load", loads, PAPER_MESSAGES_BY_LOAD),
        _words(results, "Table 3 of the paper: data exchanged in st6, mesh 1, by load", loads, PAPER_WORDS_BY_LOAD),
        _messages(results, "Table 5 of the paper: messages of st6, load 200, by mesh", meshes, PAPER_MESSAGES_BY_MESH),
        _words(results, "Table 6 of the paper: data exchanged in st6, load 200, by mesh", meshes, PAPER_WORDS_BY_MESH),
    ]


Columns = list[tuple[str, int, int]]  # title, nodes, load
Paper = dict[int, tuple[int, ...]]


def _counted_rows(
    results: Results, columns: Columns, ranks: int, values: list[tuple[str, Callable[[Any, Any], str]]]
) -> list[list[str]]:
    """A row for each way of counting, where anything was counted at so many ranks."""
    found = [results.counted(nodes, load, ranks) for _, nodes, load in columns]
    if not any(found):
        return []
    return [["", name, *[value(*pair) if pair else "-" for pair in found]] for name, value in values]


def _messages(results: Results, title: str, columns: Columns, paper: Paper) -> Table:
    rows: list[list[str]] = []
    for ranks in RANKS:
        here = _counted_rows(
            results,
            columns,
            ranks,
            [
                ("its way here", lambda as_paper, _: _number(as_paper["messages_a_buffer"])),
                (
                    "Windrow, a round",
                    lambda _, report: _number(report["messages"] / report["rounds"]) if report.get("rounds") else "-",
                ),
                (
                    "Windrow, in all",
                    lambda _, report: f"{_number(report['messages'])} in {report['rounds']}"
                    if report.get("rounds")
                    else "-",
                ),
            ],
        )
        rows += [[str(ranks), "paper", *map(_number, paper[ranks])], *here] if here else []
    return Table(title, ["processes", "counted", *[name for name, _, _ in columns]], rows, [MESSAGES_NOTE], words=2)


def _words(results: Results, title: str, columns: Columns, paper: Paper) -> Table:
    rows: list[list[str]] = []
    for ranks in RANKS:
        here = _counted_rows(
            results,
            columns,
            ranks,
            [
                ("its way here", lambda as_paper, _: f"{as_paper['bytes'] / 4e6:.2f}"),
                ("Windrow", lambda _, report: f"{report['bytes_sent'] / 4e6:.2f}"),
            ],
        )
        rows += [[str(ranks), "paper", *[f"{words / 1e6:.2f}" for words in paper[ranks]]], *here] if here else []
    return Table(title, ["processes", "counted", *[name for name, _, _ in columns]], rows, [WORDS_NOTE], words=2)


def _stages(results: Results, network: str) -> Table | None:
    """As Figure 1 of the paper: the first mesh there is, at load 200 or the only load."""
    places = results.scenarios(lambda p: p.network == network and p.zeros == 0)
    if not places:
        return None
    nodes = MESHES[1] if any(p.nodes == MESHES[1] for p in places) else places[0].nodes
    load = (
        200
        if any((p.nodes, p.load) == (nodes, 200) for p in places)
        else next(p.load for p in places if p.nodes == nodes)
    )
    rows = []
    for place in places:
        if (place.nodes, place.load) != (nodes, load):
            continue
        for codec in results.codecs(place):
            if codec not in ("off", "auto"):
                continue
            for name, first in (("first", True), ("later", False)):
                stages = [_seconds(results.measure(place, codec, stage, first=first)) for stage in STAGES]
                sizes = [results.measure(place, codec, what, first=first) for what in ("messages", "bytes_sent")]
                rows.append(
                    [
                        place.type,
                        str(place.ranks),
                        codec,
                        name,
                        *stages,
                        _spread(results.measure(place, codec, "wall", first=first)),
                        _number(sizes[0].median if sizes[0] else None),
                        f"{sizes[1].median / 1e6:.1f}" if sizes[1] else "-",
                    ]
                )
    title = f"Network {network}: stages of a flush (Figure 1 of the paper), {mesh_name(nodes)}, load {load}"
    return Table(
        title, ["type", "ranks", "codec", "flush", *STAGES, "whole flush", "messages", "MB sent"], rows, words=1
    )


def _grids(results: Results, network: str) -> list[Table]:
    """Figures 3, 4, 6 and 7 of the paper in one: auto against off for every load and number of ranks."""
    made = []
    places = results.scenarios(lambda p: p.network == network and p.zeros == 0)
    for nodes, kind in dict.fromkeys((p.nodes, p.type) for p in places):
        rows = []
        for place in places:
            if (place.nodes, place.type) == (nodes, kind) and "auto" in results.codecs(place):
                rows.append(_grid_row(results, place))
        made.append(
            Table(
                f"Network {network}: auto against off, {mesh_name(nodes)}, {kind}; saved in %: of st6 (later, first), "
                "st5, the flush",
                [
                    "load",
                    "ranks",
                    "st6 off",
                    "st6 auto",
                    "later",
                    "first",
                    "st5",
                    "flush off",
                    "flush auto",
                    "flush",
                    "sent",
                    "by",
                ],
                rows,
            )
        )
    return made


def _grid_row(results: Results, place: Where) -> list[str]:
    st6 = [_spread(results.measure(place, codec, "st6", first=False)) for codec in ("off", "auto")]
    walls = [_seconds(results.measure(place, codec, "wall", first=False)) for codec in ("off", "auto")]
    better = [
        _percent(results.improvement(place, "auto", "st6", first=False)),
        _percent(results.improvement(place, "auto", "st6", first=True)),
        _percent(results.improvement(place, "auto", "st5", first=True)),
    ]
    flush = _percent(results.improvement(place, "auto", "wall", first=False))
    sent, used = _ratio(results.shrunk(place, "auto")), _used(results, place, "auto")
    return [str(place.load), str(place.ranks), *st6, *better, *walls, flush, sent, used]


def _codecs(results: Results, network: str) -> Table:
    """Each codec against off, where more than auto was tried."""
    rows = []
    for place in results.scenarios(lambda p: p.network == network and p.zeros == 0):
        codecs = results.codecs(place)
        if len(codecs) < 3:
            continue
        for codec in codecs:
            if codec == "off":
                continue
            rows.append(_codec_row(results, place, codec))
    return Table(
        f"Network {network}: each codec against off; improvements in %",
        [
            "mesh",
            "type",
            "load",
            "ranks",
            "codec",
            "st5",
            "st6 first",
            "st6 later",
            "flush later",
            "sent",
            "encode",
            "decode",
            "by",
        ],
        rows,
        ["encode, decode: seconds of all ranks together."],
        words=2,
    )


def _codec_row(results: Results, place: Where, codec: str) -> list[str]:
    better = [("st5", True), ("st6", True), ("st6", False), ("wall", False)]
    used = results.codec_rows(place, codec)
    times = [
        f"{sum(row.get(what, 0) for row in used):.3f}" if used else "-" for what in ("seconds_encode", "seconds_decode")
    ]
    return [
        mesh_name(place.nodes),
        place.type,
        str(place.load),
        str(place.ranks),
        codec,
        *[_percent(results.improvement(place, codec, what, first=first)) for what, first in better],
        _ratio(results.shrunk(place, codec)),
        *times,
        _used(results, place, codec),
    ]


def _zeros(results: Results, network: str) -> Table | None:
    """Figure 8 of the paper: what zeros do."""
    some = results.scenarios(lambda p: p.network == network and p.zeros > 0)
    alike = {(p.nodes, p.type, p.load, p.ranks) for p in some}
    places = results.scenarios(lambda p: p.network == network and (p.nodes, p.type, p.load, p.ranks) in alike)
    codecs = list(dict.fromkeys(codec for p in some for codec in results.codecs(p) if codec != "off"))
    if not codecs:
        return None
    rows = []
    for place in sorted(places, key=lambda p: (p.type, p.nodes, p.load, p.ranks, p.zeros)):
        better = [_percent(results.improvement(place, codec, "st6", first=False)) for codec in codecs]
        sent = [_ratio(results.shrunk(place, codec)) for codec in codecs]
        rows.append(
            [
                mesh_name(place.nodes),
                place.type,
                str(place.load),
                str(place.ranks),
                f"{place.zeros} %",
                _spread(results.measure(place, "off", "st6", first=False)),
                *better,
                *sent,
            ]
        )
    columns = ["mesh", "type", "load", "ranks", "zeros", "st6 off", *codecs, *[f"{codec} sent" for codec in codecs]]
    return Table(
        f"Network {network}: zeros (Figure 8 of the paper); improvement of st6, later flushes, in %",
        columns,
        rows,
        words=2,
    )


def _targets(results: Results) -> Table:
    def row(target: Target) -> list[list[str]]:
        verdict = "not measured" if target.met is None else "met" if target.met else "NOT MET"
        measured = textwrap.wrap(target.measured, WIDTH - 14) if target.met is not None else []
        return [[verdict, target.text], *[["", line] for line in measured]]

    judged = targets(results)
    rows = [cells for target in judged for cells in row(target)]
    return (
        Table("Targets, of the medians of later flushes", ["verdict", "target"], rows, words=2)
        if results.scenarios()
        else Table("", [], [])
    )


def text(results: dict[str, Any], head: str) -> str:
    wrapped = "\n".join(textwrap.fill(line, WIDTH) for line in head.splitlines())
    parts = [wrapped, textwrap.fill(LEGEND, WIDTH), *map(text_of, tables(results)), "\n".join(troubles(results))]
    return "\n\n".join(part for part in parts if part) + "\n"


def markdown(results: dict[str, Any], head: str) -> str:
    lines = "\n".join(f"- {line}" for line in troubles(results))
    return (
        "\n\n".join(["## tpc: compressed two-phase I/O", head, LEGEND, *map(markdown_of, tables(results)), lines])
        + "\n"
    )
