# SPDX-License-Identifier: BSD-3-Clause
"""windrow calibrate and windrow advise from outside: what they leave behind, what they say, and their exit codes.

Run by CTest with WINDROW_COMMAND, WINDROW_TRACED (a program that is traced), WINDROW_MPIRUN (a shell-split command that takes -n) and WINDROW_RANKS.
"""

import fcntl
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
        return subprocess.run(self.command(*words, ranks=ranks), capture_output=True, text=True, timeout=LIMIT_S, env={**os.environ, **(env or {})})

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
        done = self.run_it(TRACED, self.path("file.raw"), 3, 20, env={"WINDROW_TRACE": trace, "WINDROW_TRACE_DETAIL": "full", "WINDROW_MACHINE": self.machine, "WINDROW_LEARN": "off"})
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
        for words, part in ((("calibrate", self.path("none")), "none"), (("calibrate", self.storage, "--set", "colour=red"), "colour"), (("advise", self.path("none")), "none"),
                            (("advise", self.storage), "folder"), (("calibrate",), "DIR")):
            lines = self.errors_of(self.run_it(COMMAND, *words), 2)
            self.assertEqual(len(lines), 1, lines)
            self.assertIn(part, lines[0])
        self.assertEqual(os.listdir(self.storage), [])

    # A launcher ends its ranks for good a second after it has asked them to end, which on a crowded machine is before they could: so without one.
    @unittest.skipIf(RANKS > 1, "a launcher may not leave its ranks the time")
    def test_interrupted_leaves_nothing(self):
        for wait in (0.5, 1.5):
            with subprocess.Popen(self.command(COMMAND, "calibrate", self.storage, "--out", self.machine), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                end = time.monotonic() + LIMIT_S
                while not os.listdir(self.storage) and process.poll() is None and time.monotonic() < end:
                    time.sleep(0.01)
                time.sleep(wait)
                process.send_signal(signal.SIGTERM)
                process.wait(timeout=LIMIT_S)
            end = time.monotonic() + 20
            while os.listdir(self.storage) and time.monotonic() < end:  # mpirun may be gone before its ranks are
                time.sleep(0.05)
            self.assertEqual(os.listdir(self.storage), [])
            self.assertTrue(not os.path.exists(self.machine) or process.returncode == 0)

    # Nobody can catch the signal that a launcher ends its ranks with.
    def test_what_a_killed_one_left_is_removed_by_the_next(self):
        def left(name, hours):
            folder = os.path.join(self.storage, name)
            os.mkdir(folder)
            with open(os.path.join(folder, ".windrow-calibration"), "w", encoding="utf-8") as file:
                file.write("old")
            os.utime(folder, (time.time() - 3600 * hours,) * 2)
            return folder

        foreign = os.path.join(self.storage, ".windrow-calibrate-mine")
        os.mkdir(foreign)
        with open(os.path.join(foreign, "data"), "w", encoding="utf-8") as file:
            file.write("precious")
        os.utime(foreign, (time.time() - 7200,) * 2)
        old, held, new, other = left(".windrow-calibrate-abcdef", 2), left(".windrow-calibrate-held", 2), left(".windrow-calibrate-new", 0.5), left("windrow", 2)
        descriptor = os.open(held, os.O_RDONLY)
        self.addCleanup(os.close, descriptor)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        os.symlink(other, os.path.join(self.storage, ".windrow-calibrate-link"))
        # One that is wrong about something else ends soon, and has cleared away before.
        done = self.run_it(COMMAND, "calibrate", self.storage, "--out", self.machine, env={"WINDROW_STORE": "faulty", "WINDROW_FAULT": "nonsense"})
        self.assertNotEqual(done.returncode, 0)
        self.assertFalse(os.path.exists(old))
        self.assertEqual(sorted(os.listdir(self.storage)), sorted([".windrow-calibrate-held", ".windrow-calibrate-link", ".windrow-calibrate-mine", ".windrow-calibrate-new", "windrow"]))
        self.assertEqual(os.listdir(foreign), ["data"])
        self.assertEqual(os.listdir(other), [".windrow-calibration"])

    @unittest.skipIf(RANKS == 1, "that is the test above")
    def test_interrupted_under_a_launcher_ends_and_spoils_nothing(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with subprocess.Popen(self.command(COMMAND, "calibrate", self.storage, "--out", self.machine), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                end = time.monotonic() + LIMIT_S
                while not os.listdir(self.storage) and process.poll() is None and time.monotonic() < end:
                    time.sleep(0.01)
                time.sleep(0.5)
                process.send_signal(number)
                process.wait(timeout=LIMIT_S)
            self.assertTrue(not os.path.exists(self.machine) or process.returncode == 0)
            self.assertTrue(all(name.startswith(".windrow-calibrate-") for name in os.listdir(self.storage)), os.listdir(self.storage))


if __name__ == "__main__":
    unittest.main()
