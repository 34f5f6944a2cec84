# SPDX-License-Identifier: BSD-3-Clause
"""windrow simulate from outside: what it prints, what it draws, and what it says of mistakes.

Run by CTest with WINDROW_COMMAND, WINDROW_TRACED and WINDROW_TRACED_BYTES (programs), WINDROW_MPIRUN (a shell-split
command that takes -n) and WINDROW_SAMPLE (a trace).
"""

import json
import math
import os
import shlex
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

COMMAND = os.environ["WINDROW_COMMAND"]
TRACED = os.environ["WINDROW_TRACED"]
TRACED_BYTES = os.environ["WINDROW_TRACED_BYTES"]
MPIRUN = shlex.split(os.environ["WINDROW_MPIRUN"])
SAMPLE = os.environ["WINDROW_SAMPLE"]


def run(*words, ranks=1, env=None):
    launch = [] if ranks == 1 else [*MPIRUN, "-n", str(ranks)]
    return subprocess.run(
        [*launch, *map(str, words)], capture_output=True, text=True, timeout=60, env={**os.environ, **(env or {})}
    )


class SimulateTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="windrow simulate ")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def simulated(self, *words, **more):
        done = run(COMMAND, "simulate", *words, "--json", **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def mistake(self, *words, part):
        done = run(COMMAND, "simulate", *words)
        self.assertEqual(done.returncode, 2, done.stderr + done.stdout)
        self.assertIn(part, done.stderr)
        self.assertEqual(
            len([line for line in done.stderr.splitlines() if line.startswith("windrow: ")]), 1, done.stderr
        )

    def test_says_that_it_is_a_simulation(self):
        done = run(COMMAND, "simulate", "--machine", "jaguar", "--ranks", 1000, "--shape", "100000")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("simulated; nothing was measured", done.stdout)
        self.assertIs(self.simulated("--machine", "jaguar", "--ranks", 1000, "--shape", "100000")["simulation"], True)

    def test_all_bytes_lie_on_targets(self):
        for pattern in ("rows", "grid", "cyclic"):
            found = self.simulated(
                "--machine", "ranger", "--ranks", 100, "--shape", "300x400x50", "--pattern", pattern, "--variables", 3
            )
            self.assertEqual(found["bytes"], 300 * 400 * 50 * 8 * 3)
            self.assertAlmostEqual(sum(sum(row["bytes"]) for row in found["targets"]), found["bytes"], places=3)

    def test_many_ranks_of_the_command_say_it_once(self):
        one = self.simulated("--machine", "ranger", "--ranks", 100, "--shape", "1000")
        self.assertEqual(self.simulated("--machine", "ranger", "--ranks", 100, "--shape", "1000", ranks=3), one)

    def test_more_ranks_than_elements(self):
        found = self.simulated(
            "--machine", "jaguar", "--ranks", 5000, "--shape", "7x3", "--pattern", "grid", "--strategy", "two-phase"
        )
        self.assertEqual(found["bytes"], 7 * 3 * 8)
        self.assertGreater(found["seconds"]["total"], 0)

    def test_a_file_for_each_of_many_ranks(self):
        self.simulated("--machine", "jaguar", "--ranks", 20000, "--shape", "20000x10", "--set", "files=per-rank")

    def test_page_is_whole_and_needs_nothing(self):
        page = self.path("a page.html")
        done = run(
            COMMAND,
            "simulate",
            "--machine",
            "ranger",
            "--ranks",
            300,
            "--shape",
            "300000x1000",
            "--set",
            "domains=target",
            "--set",
            "writers=300",
            "--html",
            page,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        tree = ElementTree.parse(page)
        self.assertEqual(sum(1 for each in tree.iter() if each.tag.endswith("}svg") and each.get("role") == "img"), 2)
        text = "".join(tree.getroot().itertext())
        self.assertIn("Nothing was measured", text)
        for each in tree.iter():
            self.assertNotIn("src", each.keys())
            self.assertFalse(each.tag.endswith("script"))

    def test_a_machine_of_ones_own(self):
        shown = run(COMMAND, "simulate", "--print-machine", "mercury")
        self.assertEqual(shown.returncode, 0)
        machine = json.loads(shown.stdout)
        machine["metadata"]["opens_per_s"] = 1
        with open(self.path("my machine.json"), "w", encoding="utf-8") as file:
            json.dump(machine, file)
        built_in = self.simulated("--machine", "mercury", "--ranks", 64, "--shape", "64000", "--all-open")
        slow = self.simulated(
            "--machine", self.path("my machine.json"), "--ranks", 64, "--shape", "64000", "--all-open"
        )
        self.assertGreater(slow["seconds"]["open"], 60)
        self.assertLess(built_in["seconds"]["open"], 1)
        self.assertEqual(slow["messages"], built_in["messages"])

    def test_auto_chooses_by_a_machine_file(self):
        machine = json.loads(run(COMMAND, "simulate", "--print-machine", "mercury").stdout)
        machine["metadata"]["opens_per_s"] = 1
        with open(self.path("slow opens.json"), "w", encoding="utf-8") as file:
            json.dump(machine, file)
        words = ("--ranks", 64, "--shape", "64x1000000")
        chosen = self.simulated("--machine", self.path("slow opens.json"), *words)
        ruled = self.simulated("--machine", self.path("slow opens.json"), *words, "--by-rule")
        self.assertTrue(any("is predicted to take" in reason for reason in chosen["reasons"]), chosen["reasons"])
        self.assertFalse(any("is predicted" in reason for reason in ruled["reasons"]), ruled["reasons"])
        self.assertLess(chosen["writers"], ruled["writers"])
        self.assertLess(chosen["seconds"]["total"], ruled["seconds"]["total"])
        self.assertEqual(ruled["writers"], self.simulated("--machine", "mercury", *words)["writers"])

    def test_a_trace_is_simulated(self):
        trace = self.path("a trace.jsonl")
        env = {"WINDROW_TRACE": trace, "WINDROW_CODEC": "off", "WINDROW_LAYOUT": "none", "WINDROW_BUFFERS": "4"}
        done = run(TRACED, self.path("file.raw"), 1, 20, ranks=4, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(trace, encoding="utf-8") as lines:
            flush = json.loads(list(lines)[1])
        found = self.simulated(trace, "--machine", "mercury", "--flush", 1)
        self.assertEqual(found["ranks"], 4)
        # The variables that go through one decomposition; the others are left out.
        groups = {}
        for each in flush["queue"]:
            key = (each["decomposition"], each["direction"], each["element_bytes"], str(each["shape"]))
            groups[key] = groups.get(key, 0) + math.prod(each["shape"]) * each["element_bytes"]
        self.assertEqual(found["bytes"], max(groups.values()))

    def test_a_trace_of_plain_bytes_is_simulated(self):
        """What each rank moved: bytes that two ranks list are written once, and those beyond the end are not read."""
        ranks, trace = 3, self.path("bytes.jsonl")
        env = {"WINDROW_TRACE": trace, "WINDROW_CODEC": "off", "WINDROW_LAYOUT": "none", "WINDROW_BUFFERS": "4"}
        done = run(TRACED_BYTES, self.path("bytes"), 100, ranks=ranks, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        reports = [json.loads(line) for line in done.stdout.splitlines()]
        written, again, read = (
            self.simulated(trace, "--machine", "mercury", "--flush", flush, "--set", "strategy=list")
            for flush in (1, 2, 3)
        )
        self.assertEqual(written["ranks"], ranks)
        self.assertEqual(written["bytes"], 50 * 100 * ranks)
        self.assertEqual(written["write_requests"], 50 * ranks)
        self.assertEqual(written, again)
        # 40 bytes of each rank but the last are also read by the one before it
        self.assertEqual(read["bytes"], 50 * 100 * ranks + 40 * (ranks - 1) + 30 * (ranks - 1))
        self.assertEqual([report["bytes"] for report in reports], [each["bytes"] for each in (written, again, read)])
        self.assertEqual(read["write_requests"], 0)
        self.mistake(trace, "--machine", "mercury", part="flush 4 cannot be simulated: rank 0 holds more runs than a")
        self.mistake(trace, "--machine", "mercury", "--flush", 5, part="has no flush 5 that moved data")
        with open(trace, encoding="utf-8") as lines:
            opening, details, flush = list(lines)[:3]
        for damage, part in (
            (lambda listed: listed.update(end=10), "impossible runs of elements"),
            (lambda listed: listed.update(end=-1), "line 2"),
            (lambda listed: listed.pop("ranks"), "line 2"),
            (lambda listed: listed["ranks"].pop(), "it records the data of 2 of 3 ranks only"),
        ):
            changed = json.loads(details)
            damage(changed["list"])
            with open(self.path("hostile.jsonl"), "w", encoding="utf-8") as file:
                file.write(opening + json.dumps(changed) + "\n" + flush)
            self.mistake(self.path("hostile.jsonl"), "--machine", "jaguar", part=part)

    def test_a_trace_of_two_programs_is_simulated(self):
        """Their lines come between each other, and each counts its decompositions from 1."""
        sizes = []
        traces = [self.path("small.jsonl"), self.path("large.jsonl")]
        for trace, rows in zip(traces, (10, 50), strict=True):
            done = run(TRACED, self.path("file.raw"), 2, rows, ranks=2, env={"WINDROW_TRACE": trace})
            self.assertEqual(done.returncode, 0, done.stderr)
            sizes.append([self.simulated(trace, "--machine", "mercury", "--flush", flush)["bytes"] for flush in (1, 2)])
        self.assertNotEqual(sizes[0], sizes[1])
        small, large = (open(trace, encoding="utf-8").readlines() for trace in traces)
        with open(self.path("both.jsonl"), "w", encoding="utf-8") as both:
            both.writelines([*small[:3], *large[:3], small[3], large[3]])
        found = [
            self.simulated(self.path("both.jsonl"), "--machine", "mercury", "--flush", flush)["bytes"]
            for flush in (1, 2, 3, 4)
        ]
        self.assertEqual(found, [sizes[0][0], sizes[1][0], sizes[0][1], sizes[1][1]])

    def test_what_several_ranks_hold_is_written_once(self):
        with open(SAMPLE, encoding="utf-8") as lines:
            opening, details, flush = list(lines)[:3]
        changed = json.loads(details)
        for each in changed["decompositions"]:
            for rank in each["ranks"]:
                rank.pop("start", None), rank.pop("count", None)
                rank.update(elements=40, runs=[[10 * rank["rank"], 40]])  # each shares 30 with the next
            each.update(kind="points", replicas=True)
        with open(self.path("shared.jsonl"), "w", encoding="utf-8") as file:
            file.write(opening + json.dumps(changed) + "\n" + flush)
        found = self.simulated(self.path("shared.jsonl"), "--machine", "jaguar", "--set", "strategy=list")
        one = self.simulated(self.path("shared.jsonl"), "--machine", "jaguar")
        self.assertEqual(found["bytes"], one["bytes"])
        ranks = json.loads(opening)["ranks"]
        elements = math.prod(changed["decompositions"][0]["shape"])
        whole = self.simulated(SAMPLE, "--machine", "jaguar", "--flush", 1)["bytes"]
        self.assertEqual(found["bytes"] * elements, whole * (40 + 10 * (ranks - 1)))
        tree = self.simulated(self.path("shared.jsonl"), "--machine", "jaguar", "--strategy", "bips3d-tree")
        self.assertTrue(any(reason.startswith("tree:") for reason in tree["reasons"]), tree["reasons"])

    def test_a_trace_that_is_cut_short_says_so(self):
        with open(SAMPLE, encoding="utf-8") as lines:
            opening, details, flush = list(lines)[:3]
        with open(self.path("cut.jsonl"), "w", encoding="utf-8") as file:
            file.write(opening + details + flush + flush[: len(flush) // 2])
        done = run(COMMAND, "simulate", self.path("cut.jsonl"), "--machine", "jaguar")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("line 4: the line is truncated", done.stderr)
        self.mistake(self.path("cut.jsonl"), "--machine", "jaguar", "--flush", 2, part="line 4: the line is truncated")

    def test_a_map_is_simulated(self):
        """Rows of 3 ranks, one of them with nothing; an element that two ranks hold, and one that no rank holds."""

        def made(ranks, head="version 2001 npes 3 ndims 2 \n4 6 \n"):
            with open(self.path("a map.dat"), "w", encoding="utf-8") as file:
                file.write(
                    head
                    + "".join(f"{rank} {len(held)}\n{' '.join(map(str, held))} \n" for rank, held in enumerate(ranks))
                    + "/lib/x.so.6(+0x3) [0x7f]\n"
                )
            return self.path("a map.dat"), "--machine", "mercury"

        rows = made([range(1, 13), [], range(13, 25)])
        for more in ((), ("--read",)):
            found = self.simulated(*rows, *more, "--element-bytes", 4, "--variables", 2)
            self.assertEqual((found["ranks"], found["bytes"]), (3, 4 * 6 * 4 * 2))
        turns = [[9, 1, 5, 0], [1, 2, 6, 10], [3, 4, 7, 8]]
        self.assertEqual(self.simulated(*made(turns), "--strategy", "list")["bytes"], 10 * 8)
        # Pieces that follow each other are one
        self.assertEqual(self.simulated(*made(turns), "--strategy", "list")["write_requests"], 8)
        self.assertEqual(self.simulated(*made(turns), "--strategy", "list", "--read")["bytes"], 11 * 8)
        self.mistake(*rows, "--ranks", 3, part="a trace or a map defines")
        for ranks, head, part in (
            ([[1]], "version 2001 npes 3 ndims 2 \n4 6 \n", "the number of rank 1 is missing"),
            ([[25], [], []], "version 2001 npes 3 ndims 2 \n4 6 \n", "cannot be 25"),
            ([], "version 2000 npes 3 ndims 2 \n4 6 \n", "version 2000"),
            ([], "version 2001 ndims 2", "npes"),
            ([], "version 2001 npes 0 ndims 1 1", "cannot be 0"),
            ([], "version 2001 npes 1 ndims 2 99999999999 9", "length cannot be"),
            ([], "version 2001 npes 1 ndims 3 2000000000 2000000000 9", "too many elements"),
        ):
            self.mistake(*made(ranks, head), part=part)

    def test_sample(self):
        self.assertEqual(self.simulated(SAMPLE, "--machine", "franklin")["ranks"], 3)

    def test_mistakes_are_named(self):
        usual = ("--machine", "jaguar", "--ranks", 10, "--shape", "100")
        self.mistake(part="nothing to simulate")
        self.mistake("--ranks", 10, "--shape", "100", part="--machine is missing")
        self.mistake("--machine", "nowhere.json", "--ranks", 10, "--shape", "100", part="nowhere.json")
        self.mistake("--machine", "jaguar", "--ranks", 10, "--shape", "10xx", part="--shape cannot be")
        self.mistake("--machine", "jaguar", "--ranks", 10, "--shape", "10x", part="--shape cannot be")
        self.mistake("--machine", "jaguar", "--ranks", 10, "--shape", "0", part="no elements")
        self.mistake(
            "--machine", "jaguar", "--ranks", 10, "--shape", "99999999999x99999999999", part="the maximum of a file"
        )
        self.mistake(
            "--machine",
            "mercury",
            "--ranks",
            2000,
            "--shape",
            "100",
            part="887 hosts with 2 ranks each, fewer than 2000 ranks",
        )
        self.mistake(*usual, "--pattern", "grid", "--grid", "3x3", part="a grid of 3x3 ranks")
        self.mistake(*usual, "--pattern", "cyclic", "--block", 0, part="blocks of 0")
        self.mistake(*usual, "--pattern", "same", part="is for reading")
        self.mistake(*usual, "--times", 0, part="at least 1")
        self.mistake(*usual, "--set", "stripe=count=700", part='machine "Jaguar" has 672')
        self.mistake(*usual, "--set", "strateggy=auto", part="strateggy")
        self.mistake(*usual, "--set", "layout=mock:stripe=1MiB,count=4", part="the machine file defines the layout")
        self.mistake(*usual, "--set", "machine=other.json", part="use --machine instead")
        self.mistake(*usual, "--strategy", "best", part="best")
        self.mistake(*usual, "--set", "buffers=1", part="buffers is 1")
        self.mistake(
            "--machine",
            "ranger",
            "--ranks",
            9,
            "--shape",
            "99999999999",
            "--pattern",
            "cyclic",
            "--set",
            "buffer=4096",
            "--set",
            "stripe=size=64KiB,count=300",
            "--set",
            "domains=target",
            "--variables",
            1000,
            part="too many to simulate",
        )
        self.mistake("--print-machine", "titan", part="titan")
        self.mistake(SAMPLE, "--machine", "jaguar", "--ranks", 3, part="a trace or a map defines")
        self.mistake(SAMPLE, "--machine", "jaguar", "--flush", 99, part="no flush 99")
        self.mistake(SAMPLE, "--machine", "jaguar", "--flush", 0, part="--flush")
        self.mistake(self.path("none.jsonl"), "--machine", "jaguar", part="o such file")
        self.mistake(*usual, "--html", self.path("no/such/page.html"), part="page.html")

    def test_hostile_files_are_refused(self):
        for text, part in (
            ("{", "is not JSON"),
            ("[]", "not a machine file"),
            ('{"windrow machine": 2}', "version 2"),
            ('{"windrow machine": 1, "hosts": -1}', "hosts cannot be -1"),
            ('{"windrow machine": 1, "storage": {"lock_seconds": 1}}', "storage.lock_seconds is an unknown name"),
            ("x" * (1 << 21), "longer than 1 MiB"),
        ):
            with open(self.path("hostile.json"), "w", encoding="utf-8") as file:
                file.write(text)
            self.mistake("--machine", self.path("hostile.json"), "--ranks", 1, "--shape", "1", part=part)
        with open(SAMPLE, encoding="utf-8") as lines:
            opening, details, flush = list(lines)[:3]
        of = json.loads(details)
        damages = (
            (
                lambda details: details["decompositions"][0]["ranks"][1].update(start=[0, 90]),
                "flush 1 cannot be simulated: block of dimension 1 ends at",
            ),
            (lambda details: details["decompositions"][0]["ranks"].pop(), "it records the data of 2 of 3 ranks only"),
            (lambda details: details["decompositions"][0].update(shape=[1 << 40, 1 << 40]), "too many elements"),
            (
                lambda details: details["decompositions"][0]["ranks"][0].update(rank=7),
                "flush 1 cannot be simulated: there is no rank 7",
            ),
            (lambda details: details.pop("queue"), "line 2"),
        )
        with open(self.path("empty.jsonl"), "w", encoding="utf-8") as file:
            none = json.loads(details)
            none["details"] = 2
            for each in none["decompositions"]:
                each["shape"][0] = 0
            more = json.dumps({**json.loads(flush), "flush": 2, "details": 2})
            file.write(opening + details + flush + json.dumps(none) + "\n" + more + "\n")
        # Of the first: nothing has no elements
        self.assertGreater(self.simulated(self.path("empty.jsonl"), "--machine", "jaguar")["bytes"], 0)
        for damage, part in damages:
            changed = json.loads(json.dumps(of))
            damage(changed)
            with open(self.path("hostile.jsonl"), "w", encoding="utf-8") as file:
                file.write(opening + json.dumps(changed) + "\n" + flush)
            self.mistake(self.path("hostile.jsonl"), "--machine", "jaguar", part=part)
        for runs in ([[0, 5, [1 << 40, 1 << 40]]], [[-1, 5]], [[1198, 5]], [[0, 5, [2, 3]]], [[0, 5, [0, 9]]], [[0]]):
            changed = json.loads(json.dumps(of))
            rank = changed["decompositions"][0]["ranks"][0]
            del rank["start"], rank["count"]
            rank["runs"] = runs
            with open(self.path("hostile.jsonl"), "w", encoding="utf-8") as file:
                file.write(opening + json.dumps(changed) + "\n" + flush)
            self.mistake(self.path("hostile.jsonl"), "--machine", "jaguar", part="flush 1 cannot be simulated")


if __name__ == "__main__":
    unittest.main()
