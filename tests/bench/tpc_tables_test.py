# SPDX-License-Identifier: BSD-3-Clause
"""The tables of the scenario tpc, from a small result whose figures can be worked out by hand (tpc_result.json)."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

sys.dont_write_bytecode = True
BENCH = Path(__file__).resolve().parents[2] / "bench"
STORED = Path(__file__).resolve().parent / "tpc_result.json"
sys.path.insert(0, str(BENCH))

from runner import tpc, tpc_tables  # noqa: E402
from runner.tpc_results import Results, Where, targets  # noqa: E402

LOADED = Where("100mbit", "int32", 47219, 1000, 0, 8)
FLOATS = Where("1gbit", "float32", 47219, 200, 0, 16)


def stored() -> dict[str, Any]:
    results: dict[str, Any] = json.loads(STORED.read_text())
    return results


def cells(text: str, *begin: str) -> list[str]:
    """The cells of the line that begins with these."""
    found = [line.split() for line in text.splitlines() if line.split()[: len(begin)] == list(begin)]
    assert len(found) == 1, f"{len(found)} lines begin with {begin}"
    return found[0]


class Figures(unittest.TestCase):
    def setUp(self) -> None:
        self.results = Results(stored()["lines"])

    def test_an_improvement_is_the_median_of_pairs_in_per_cent_of_off(self) -> None:
        # (5.0 - 1.0) / 5.0 and (5.2 - 1.3) / 5.2
        later = self.results.improvement(LOADED, "auto", "st6", first=False)
        assert later is not None
        self.assertAlmostEqual(later.median, (80 + 75) / 2)
        # (6.0 - 2.0) / 6.0 and (6.2 - 2.2) / 6.2
        first = self.results.improvement(LOADED, "auto", "st6", first=True)
        assert first is not None
        self.assertAlmostEqual(first.median, (400 / 6 + 400 / 6.2) / 2)

    def test_first_and_later_flushes_are_apart(self) -> None:
        self.assertEqual([line["flush"] for line in self.results.flushes(LOADED, "off", first=True)], [0, 0])
        self.assertEqual([line["flush"] for line in self.results.flushes(LOADED, "off", first=False)], [1, 1])

    def test_what_a_library_does_not_tell_is_nothing(self) -> None:
        place = Where("none", "int32", 47219, 200, 0, 4)
        self.assertIsNone(self.results.measure(place, "auto", "st5", first=True))
        self.assertIsNone(self.results.improvement(place, "auto", "st5", first=True))
        self.assertIsNone(self.results.shrunk(place, "auto"))
        self.assertEqual(self.results.codec_rows(place, "auto"), [])

    def test_no_time_of_a_codec_counts_whose_file_was_wrong(self) -> None:
        self.assertNotIn("lz4+shuffle", self.results.codecs(FLOATS))
        self.assertEqual(self.results.checked, 3)
        self.assertEqual(len(self.results.wrong), 1)


class Targets(unittest.TestCase):
    def verdicts(self, results: dict[str, Any]) -> list[bool | None]:
        return [target.met for target in targets(Results(results["lines"]))]

    def test_of_the_stored_result(self) -> None:
        self.assertEqual(self.verdicts(stored()), [True, True, True, True, False, True])

    def test_nothing_measured_is_no_verdict(self) -> None:
        self.assertEqual(self.verdicts({"lines": []}), [None] * 6)

    def test_floats_say_what_links_that_take_no_time_would_make_of_them(self) -> None:
        results = stored()
        found = Results(results["lines"])
        self.assertNotIn("wire", targets(found)[4].measured)
        off = found.measure(FLOATS, "off", "wall", first=False)
        assert off is not None
        for times_as_fast, count in ((1.4, 0), (1.6, 1)):
            more = [
                dict(
                    line,
                    network="none",
                    codec="lz4" if line["codec"] == "off" else "off",
                    wall_s=off.median / times_as_fast if line["codec"] == "off" else 1e-9,
                )
                for line in results["lines"]
                if line["kind"] == "flush" and Results([line]).scenarios() == [FLOATS]
            ]
            self.assertIn(
                f"wait for no wire a flush is at least 1.5 times as fast in {count} of 1",
                targets(Results(results["lines"] + more))[4].measured,
            )

    def test_tells_how_many_could_fall_so_far_at_all(self) -> None:
        results, zeros = stored(), Where("100mbit", "int32", 47219, 1000, 100, 8)
        off = Results(results["lines"]).measure(zeros, "off", "st6", first=False)
        assert off is not None
        self.assertNotIn("wait for no wire", targets(Results(results["lines"]))[2].measured)
        for share, count in ((0.02, 0), (0.005, 1)):
            more = [
                copy.deepcopy(line) | {"network": "none"}
                for line in results["lines"]
                if line["kind"] == "flush" and line["codec"] == "auto" and Results([line]).scenarios() == [zeros]
            ]
            for line in more:
                line["report"]["seconds"]["exchange"] = off.median * share
            self.assertIn(
                f"st6 is at least 99 % less in {count} of 1", targets(Results(results["lines"] + more))[2].measured
            )

    def change(self, place: Where, codec: str, factor: float) -> list[bool | None]:
        """All verdicts when later flushes of a codec take so many times as long."""
        results = copy.deepcopy(stored())
        for line in results["lines"]:
            if (
                line["kind"] == "flush"
                and line["flush"]
                and line["codec"] == codec
                and Results([line]).scenarios() == [place]
            ):
                line["wall_s"] *= factor
                line["report"]["seconds"]["exchange"] *= factor
        return self.verdicts(results)

    def test_each_turns_where_its_figure_does(self) -> None:
        zeros = Where("100mbit", "int32", 47219, 1000, 100, 8)
        unshaped = Where("none", "int32", 47219, 200, 0, 4)
        self.assertEqual(self.change(LOADED, "auto", 1.2)[:2], [False, True])
        self.assertEqual(self.change(LOADED, "auto", 6)[:2], [False, False])
        self.assertEqual(self.change(zeros, "auto", 2.5)[2], False)
        self.assertEqual(self.change(FLOATS, "auto", 1.01)[3], False)
        self.assertEqual(self.change(FLOATS, "lz4", 0.5)[3], False)
        self.assertEqual(self.change(FLOATS, "off", 1.1)[4], True)
        self.assertEqual(self.change(unshaped, "auto", 1.02)[5], False)


class Printed(unittest.TestCase):
    def setUp(self) -> None:
        run = subprocess.run(
            [sys.executable, str(BENCH / "tpc"), "nowhere", "--report", str(STORED)],
            capture_output=True,
            text=True,
            check=True,
        )
        self.text = run.stdout

    def test_rows(self) -> None:
        row = cells(self.text, "1000", "8")
        self.assertEqual(row[2:9], ["5.10", "s", "±2%", "1.15", "s", "±13%", "+77.5"])
        self.assertEqual(row[9:11], ["+65.6", "+75.0"])
        self.assertEqual(row[-3:], ["0.200", "zstd+shuffle,", "off"])
        self.assertEqual(
            cells(self.text, "mesh", "1", "float32", "200", "16", "zstd")[6:10], ["+0.0", "+33.3", "+40.0", "+33.3"]
        )
        self.assertEqual(cells(self.text, "mesh", "1", "int32", "1000", "8", "100", "%")[-2:], ["+99.5", "0.010"])

    def test_the_papers_numbers_stand_beside_ours(self) -> None:
        table = self.text[self.text.index("Table 2 of the paper") : self.text.index("Table 3 of the paper")]
        self.assertEqual(cells(table, "8", "paper"), ["8", "paper", "38", "33", "26", "22"])
        self.assertEqual(cells(table, "its", "way", "here"), ["its", "way", "here", "-", "36", "-", "-"])
        self.assertEqual(cells(table, "Windrow,", "a", "round"), ["Windrow,", "a", "round", "-", "32", "-", "-"])
        table = self.text[self.text.index("Table 6 of the paper") : self.text.index("Network 100mbit")]
        self.assertEqual(cells(table, "8", "paper"), ["8", "paper", "8.91", "6.18", "14.45", "47.64"])
        self.assertEqual(cells(table, "Windrow"), ["Windrow", "8.97", "-", "-", "-"])

    def test_troubles_are_told(self) -> None:
        for told in (
            "WRONG: 1gbit, mesh 1, float32, load 200, 16 ranks, lz4+shuffle: node 17",
            "failed: 1gbit, 32 ranks, mesh 2, int32: said nothing",
            "network 10mbit left out: needs root",
            "codec zstd+shuffle left out: codec=zstd+shuffle is not built yet",
        ):
            self.assertIn(told, self.text)

    def test_lines_fit_a_terminal(self) -> None:
        self.assertLessEqual(max(map(len, tpc_tables.text(stored(), "").splitlines())), 120)

    def test_markdown_has_the_same_tables(self) -> None:
        made = tpc_tables.tables(stored())
        markdown = tpc_tables.markdown(stored(), "")
        self.assertEqual(markdown.count("\n### "), len(made))
        for table in made:
            widths = {line.count("|") for line in tpc_tables.markdown_of(table).splitlines() if line.startswith("|")}
            self.assertEqual(widths, {len(table.columns) + 1})
        self.assertIn("| 1000 | 8 | 5.10 s ±2% | 1.15 s ±13% | +77.5 | +65.6 | +75.0 |", markdown)


class Tours(unittest.TestCase):
    def test_the_default_one_has_the_axes_of_the_issue(self) -> None:
        tour = tpc.default_tour(("100mbit",), 0, 2)
        timed = [run for run in tour.runs.values() if run.network == "100mbit"]
        self.assertEqual({run.nodes for run in timed}, {47219, 32888, 73260})
        self.assertEqual({run.ranks for run in timed}, {4, 8, 16, 32})
        for run in timed:
            self.assertTrue({tpc.Job(load, 0) for load in (100, 200, 500, 1000)} <= set(run.jobs))
            self.assertTrue(all(codecs[:2] == ["off", "auto"] for codecs in run.jobs.values()))
            if run.nodes == 47219:
                self.assertTrue({"lzo", "lz4", "zstd"} <= set(run.jobs[tpc.Job(200, 0)]))
        self.assertTrue(any(tpc.Job(200, 100) in run.jobs for run in timed))
        self.assertEqual(
            {run.nodes for run in tour.runs.values() if run.network == tpc.COUNTED}, set(tpc.MESHES.values())
        )

    def test_the_full_one_has_everything(self) -> None:
        tour = tpc.full_tour(("100mbit", "1gbit"), 0, 2)
        timed = [run for run in tour.runs.values() if run.network != tpc.COUNTED]
        self.assertEqual(len(timed), 2 * 4 * 4 * 2)
        self.assertTrue(all(len(run.jobs) == 4 * 5 for run in timed))


if __name__ == "__main__":
    unittest.main()
