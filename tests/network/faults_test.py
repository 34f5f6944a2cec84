# SPDX-License-Identifier: BSD-3-Clause
"""A network that breaks while Windrow writes over it: a host that is cut off for a while, and ranks that die."""

import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from network import LAUNCHER, LIMIT_S, TOOL, WITH, main, run, spaces

STEPS = os.environ["WINDROW_STEPS_PROGRAM"]
CHECKPOINT = os.environ["WINDROW_CHECKPOINT"]
ONE_WRITER = {"WINDROW_STRATEGY": "two-phase", "WINDROW_WRITERS": "1", "WINDROW_CODEC": "off"}
OUTAGE_S = 1.0


class FaultsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="windrow network ")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def contents(self):
        found = {}
        for name in os.listdir(self.folder):
            with open(os.path.join(self.folder, name), "rb") as file:
                found[name] = file.read()
        return found

    def test_what_leaves_a_host_is_sent(self):
        """Of one writer's host two of eight ranks share its memory; the others' bytes cross the links."""
        path = os.path.join(self.folder, "steps.raw")
        job = 'shown=$1; shift; "$@" && "$shown" status'
        done = run(
            *WITH,
            "--",
            "sh",
            "-c",
            job,
            "sh",
            TOOL,
            *LAUNCHER,
            "-n",
            "8",
            STEPS,
            path,
            "2",
            env={**os.environ, **ONE_WRITER},
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        reports = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        self.assertEqual(len(reports), 2)
        for report in reports:
            self.assertEqual(report["bytes_written"], report["bytes"])
            self.assertEqual(report["bytes_sent"], report["bytes"] * 6 // 8)
        (own,) = [line.split() for line in done.stdout.splitlines() if line.startswith("  host 1 ")]
        received = int(own[own.index("received") + 1])
        written = sum(report["bytes_sent"] for report in reports)
        self.assertGreater(received, written)
        self.assertLess(received, 2 * written + (4 << 20))  # what it reads back, and MPI's own messages

    def test_a_host_is_cut_off_for_a_while(self):
        path = os.path.join(self.folder, "steps.raw")
        command = [*WITH, "--", *LAUNCHER, "-n", "8", STEPS, path, "8"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **ONE_WRITER})
        try:
            reports = [json.loads(process.stdout.readline()) for _ in range(2)]
            link = ["ip", "-n", f"windrow-{process.pid}-switch", "link", "set", "dev", "host3"]
            self.assertEqual(run(*link, "down").returncode, 0)
            time.sleep(OUTAGE_S)
            self.assertEqual(run(*link, "up").returncode, 0)
            rest, _ = process.communicate(timeout=LIMIT_S)
        finally:
            process.terminate()
            process.wait(LIMIT_S)
        self.assertEqual(process.returncode, 0)
        reports += [json.loads(line) for line in rest.splitlines()]
        self.assertEqual(len(reports), 8)
        slowest = max(report["seconds"] for report in reports)
        self.assertGreater(slowest, 0.8 * OUTAGE_S, "nothing was under way: this test tests nothing")

    def test_a_rank_dies(self):
        """The job ends in time, nothing of it is left, and the checkpoint before is whole."""
        path = os.path.join(self.folder, "a.raw")
        job = [*WITH, "--", *LAUNCHER, "-n", "8", CHECKPOINT, path]
        options = ["strategy=two-phase", "writers=8", "buffer=4096"]
        done = run(*job, "1", "", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        before = self.contents()
        for victim in (0, 7):
            process = subprocess.Popen(
                [*job, "2", f"rank={victim},operation=write,after=1,error=kill", *options],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
            _, told = process.communicate(timeout=LIMIT_S)
            self.assertNotEqual(process.returncode, 0, "nobody was killed: this test tests nothing")
            self.assertIn("signal 9", told)
            self.assertEqual(spaces(f"windrow-{process.pid}"), [])
            after = self.contents()
            self.assertEqual({name: after[name] for name in before}, before)


if __name__ == "__main__":
    main()
