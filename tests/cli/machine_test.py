# SPDX-License-Identifier: BSD-3-Clause
"""The commands windrow calibrate and windrow advise: leftover files, output, and exit codes.

Run by CTest with WINDROW_COMMAND, WINDROW_TRACED (a program that is traced), WINDROW_MPIRUN (a shell-split command
that takes -n) and WINDROW_RANKS.
"""

import json
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

COMMAND = os.environ["WINDROW_COMMAND"]
TRACED = os.environ["WINDROW_TRACED"]
MPIRUN = shlex.split(os.environ["WINDROW_MPIRUN"])
RANKS = int(os.environ["WINDROW_RANKS"])
LIMIT_S = 120  # a hang is a failure


class MachineTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="windrow machine ")
        self.addCleanup(shutil.rmtree, self.folder)
        self.storage = self.path("the storage")
        os.mkdir(self.storage)
        self.machine = self.path("a machine.json")

    def path(self, name):
        return os.path.join(self.folder, name)

    def command(self, *words, ranks=RANKS):
        return [*([] if ranks == 1 else [*MPIRUN, "-n", str(ranks)]), *map(str, words)]

    def run_it(self, *words, ranks=RANKS, env=None):
        return subprocess.run(
            self.command(*words, ranks=ranks),
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            env={**os.environ, **(env or {})},
        )

    def errors_of(self, done, code):
        self.assertEqual(done.returncode, code, done.stderr)
        return [line for line in done.stderr.splitlines() if line.startswith("windrow: ")]

    def test_calibrate_then_advise(self):
        done = self.run_it(COMMAND, "calibrate", self.storage, "--out", self.machine)
        self.assertEqual(self.errors_of(done, 0), [])
        self.assertIn(self.machine, done.stdout)
        self.assertEqual(os.listdir(self.storage), [])
        with open(self.machine, encoding="utf-8") as f:
            machine = json.load(f)
        self.assertEqual(machine["windrow machine"], 1)
        self.assertIn(f"with {RANKS} rank", machine["about"])
        trace = self.path("a trace.jsonl")
        done = self.run_it(
            TRACED, self.path("file.raw"), 3, 20, env={"WINDROW_TRACE": trace, "WINDROW_MACHINE": self.machine}
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.run_it(COMMAND, "advise", trace, "--machine", self.machine)
        self.assertEqual(self.errors_of(done, 0), [])
        self.assertIn("measured", done.stdout)
        self.assertIn("advised", done.stdout)
        done = self.run_it(COMMAND, "advise", trace, "--machine", self.machine, "--json", ranks=1)
        advice = json.loads(done.stdout)
        self.assertEqual(advice["machine"], machine["name"])
        # The flushes ran by that machine, so it advises what they did.
        for kind in advice["kinds"]:
            self.assertEqual(kind["advised"]["strategy"], kind["taken"])
        with open(trace, encoding="utf-8") as f:
            text = f.read()
        with open(trace, "w", encoding="utf-8") as f:
            f.write(text[:-20])
        done = self.run_it(COMMAND, "advise", trace)
        self.assertEqual(len(self.errors_of(done, 1)), 1)
        self.assertIn("advised", done.stdout)

    def test_mistakes(self):
        for words, part in (
            (("calibrate", self.path("none")), "none"),
            (("calibrate", self.storage, "--set", "colour=red"), "colour"),
            (("advise", self.path("none")), "none"),
            (("advise", self.storage), "folder"),
            (("calibrate",), "DIR"),
        ):
            lines = self.errors_of(self.run_it(COMMAND, *words), 2)
            self.assertEqual(len(lines), 1, lines)
            self.assertIn(part, lines[0])
        self.assertEqual(os.listdir(self.storage), [])

    # However it ends, and whether or not a launcher has left its ranks the time.
    def test_what_an_interrupted_one_left_is_removed(self):
        for number, clean in ((signal.SIGKILL, True), (signal.SIGTERM, False), (signal.SIGINT, True)):
            with subprocess.Popen(
                self.command(COMMAND, "calibrate", self.storage, "--out", self.machine),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            ) as process:
                end = time.monotonic() + LIMIT_S
                while len(os.listdir(self.storage)) < 2 and process.poll() is None and time.monotonic() < end:
                    time.sleep(0.01)
                self.assertTrue(
                    all(name.startswith(".windrow-calibration.windrow-0000") for name in os.listdir(self.storage)),
                    os.listdir(self.storage),
                )
                process.send_signal(number)
                process.wait(timeout=LIMIT_S)
            self.assertFalse(os.path.exists(self.machine) and process.returncode != 0)
            end = time.monotonic() + 20
            while True:  # mpirun may end before its ranks, whose lock then still exists
                if clean:
                    self.run_it(COMMAND, "check", "--clean", os.path.join(self.storage, "any.raw"), ranks=1)
                else:  # one that is wrong about something else ends soon, and has cleared away before
                    done = self.run_it(
                        COMMAND,
                        "calibrate",
                        self.storage,
                        "--out",
                        self.machine,
                        env={
                            "WINDROW_STORE": "faulty",
                            "WINDROW_FAULT": "rank=0,operation=write,after=0,error=no_space",
                        },
                    )
                    self.assertNotEqual(done.returncode, 0)
                if not os.listdir(self.storage) or time.monotonic() > end:
                    break
                time.sleep(0.05)
            self.assertEqual(os.listdir(self.storage), [])


if __name__ == "__main__":
    unittest.main()
