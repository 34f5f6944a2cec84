# SPDX-License-Identifier: BSD-3-Clause
"""The scenario tpc runs: a small mesh, 4 ranks, one host that is taken for four.   tpc_test.py BUILD"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

BENCH = Path(__file__).resolve().parents[2] / "bench"
BUILD = Path(sys.argv.pop(1))


def measure(folder: str, *words: str) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    out = Path(folder) / "out.json"
    command = [
        sys.executable,
        str(BENCH / "run"),
        str(BUILD),
        "--scenario",
        "tpc",
        "--mesh",
        "400",
        "--ranks",
        "4",
        "--load",
        "15",
    ]
    command += ["--out", str(out), "--dir", folder, "--time-limit", "60", *words]
    run = subprocess.run(command, capture_output=True, text=True, timeout=110, check=False)
    return run, json.loads(out.read_text()) if out.exists() else {}


class Scenario(unittest.TestCase):
    def test_writes_checks_and_prints(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            run, results = measure(
                folder,
                "--network",
                "pretended",
                "--zeros",
                "0",
                "100",
                "--codec",
                "auto",
                "no-such-codec",
                "--files",
                "2",
            )
            markdown = (Path(folder) / "out.md").read_text()
            self.assertEqual([path.name for path in Path(folder).iterdir() if path.is_dir()], [])
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        lines = results["lines"]
        kinds = [line["kind"] for line in lines]
        timed = [line for line in lines if line["network"] == "pretended" and line["kind"] == "flush"]
        places = {(line["type"], line["zeros"], line["codec"], line["file"], line["flush"]) for line in timed}
        wanted = {
            (t, z, c, f, n)
            for t in ("int32", "float32")
            for z in (0, 100)
            for c in ("off", "auto")
            for f in (0, 1)
            for n in (0, 1)
        }
        self.assertEqual(places, wanted)
        self.assertEqual(kinds.count("check"), 1 + 2 * 2 * 2)  # once counted; types, zeros and codecs
        self.assertTrue(all(line["right"] for line in lines if line["kind"] == "check"))
        self.assertEqual({line["codec"] for line in lines if line["kind"] == "absent"}, {"no-such-codec"})
        for line in timed:
            self.assertGreater(line["report"]["messages"], 0)
            self.assertEqual(line["report"]["bytes"], 400 * 15 * 4)
        for line in (line for line in lines if line["kind"] == "case" and line["zeros"] == 100):
            self.assertEqual(line["entropy_elements"], 0)
        self.assertIn("auto against off, 400 nodes, int32", run.stdout)
        self.assertIn("| int32 |", markdown)

    def test_counts_what_the_paper_counts(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            run, results = measure(folder, "--network", "shared", "--type", "int32")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        case = next(line for line in results["lines"] if line["network"] == "counted" and line["kind"] == "case")
        flush = next(line for line in results["lines"] if line["network"] == "counted" and line["kind"] == "flush")
        # Every rank is a writer alone on its host: what leaves a rank is what the paper's algorithm would send.
        self.assertEqual(flush["report"]["bytes_sent"], case["as_paper"]["bytes"])
        self.assertGreater(case["as_paper"]["messages"], 3)
        self.assertLessEqual(case["as_paper"]["messages_a_buffer"], 4 * 3)

    def test_refuses_what_cannot_be(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            run, _ = measure(folder, "--network", "shared", "--noise", "int32=many")
            self.assertNotEqual(run.returncode, 0)
            self.assertIn("--noise is TYPE=BITS", run.stderr)
            run, results = measure(folder, "--network", "shared", "--option", "writers=none", "--no-counts")
            self.assertEqual(run.returncode, 1)
            self.assertIn("writers", results["runs"][0]["trouble"])


if __name__ == "__main__":
    unittest.main()
