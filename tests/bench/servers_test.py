# SPDX-License-Identifier: BSD-3-Clause
"""Programs that wait for their next measurement: one for each key, and where memory gets short the one that waited
longest leaves."""

from __future__ import annotations

import json
import os
import stat
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from runner.servers import Pool, RunFailed, ServerKey, what_failed  # noqa: E402

# Answers each command with its own process number; "die" ends it.
PROGRAM = """#!/usr/bin/python3
import json, os, sys
pipe = open(sys.argv[sys.argv.index("--serve") + 1] + ".0")
for line in pipe:
    if line == "quit\\n":
        break
    if line == "die\\n":
        sys.exit("error: asked to")
    print("BENCH " + json.dumps({"process": os.getpid(), "asked": line.strip()}), flush=True)
"""
LAUNCHER = """#!/bin/sh
shift 2
exec "$@"
"""


class Servers(unittest.TestCase):
    def setUp(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="windrow servers ")
        self.addCleanup(self._folder.cleanup)
        folder = Path(self._folder.name)
        for name, text in (("bench-one", PROGRAM), ("bench-two", PROGRAM), ("launch", LAUNCHER)):
            (folder / name).write_text(text)
            (folder / name).chmod(stat.S_IRWXU)
        self.free = 1.0
        self.pool = Pool(folder, folder / "launch", lambda: self.free)
        self.addCleanup(self.pool.end)

    def ask(self, program: str, words: str = "go") -> int:
        answer = self.pool.ask(ServerKey(program, 1, ""), words, 20)
        self.assertEqual(answer["asked"], words)
        process = answer["process"]
        assert isinstance(process, int)
        return process

    def test_stay_alive_between_measurements(self) -> None:
        one, two = self.ask("one"), self.ask("two")
        self.assertNotEqual(one, two)
        self.assertEqual((self.ask("one"), self.ask("two")), (one, two))

    def test_make_room_where_memory_gets_short(self) -> None:
        one, two = self.ask("one"), self.ask("two")
        self.free = 0.1
        self.assertEqual(self.ask("two"), two, "the one that is asked stays")
        with self.assertRaises(ProcessLookupError):
            os.kill(one, 0)
        self.free = 1.0
        self.assertNotEqual(self.ask("one"), one)
        self.assertEqual(self.ask("two"), two)

    def test_are_started_anew_after_a_failure(self) -> None:
        one = self.ask("one")
        with self.assertRaisesRegex(RunFailed, "asked to"):
            self.pool.ask(ServerKey("one", 1, ""), "die", 20)
        self.assertNotEqual(self.ask("one"), one)


class WhatFailed(unittest.TestCase):
    def test_is_what_a_rank_said_wherever_it_stands(self) -> None:
        aborted, rank = (
            "MPI_ABORT was invoked on rank 2\nwith errorcode 1.".split("\n"),
            'rank 2: option "writers" cannot be "none"',
        )
        self.assertEqual(what_failed([*aborted, rank]), rank)
        self.assertEqual(what_failed([rank, *aborted]), rank)
        self.assertEqual(what_failed(["", "words", "an Error"]), "an Error")
        self.assertEqual(what_failed(["", "words"]), "words")
        self.assertEqual(what_failed([]), "")


if __name__ == "__main__":
    unittest.main()
