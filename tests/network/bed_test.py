# SPDX-License-Identifier: BSD-3-Clause
"""The network of tools/network: what MPI sees of its hosts, how fast its links are, and that nothing of it is left."""

import json
import os
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from network import LAUNCHER, SKIP, STAYING, TOOL, WITH, main, run, spaces

HOSTS = os.environ["WINDROW_HOSTS_PROGRAM"]


class NetworkTest(unittest.TestCase):
    def expect(self, done: subprocess.CompletedProcess, code: int, text: str = "") -> None:
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertIn(text, done.stdout + done.stderr)

    def is_running(self, pid: int) -> bool:
        try:
            with open(f"/proc/{pid}/stat") as stat:
                return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
        except OSError:
            return False

    def test_hosts_share_nothing_but_shaped_links(self):
        for attempt in range(2):  # the machine may be busy with something else: once more then
            done = run(*WITH, "--rate", "1gbit", "--", *LAUNCHER, "-n", "8", HOSTS, "1", "2", "4", "6")
            self.expect(done, 0)
            seen = json.loads(done.stdout)
            self.assertEqual(seen["hosts"], 4)
            self.assertEqual(seen["ranks_of_a_host"], [2] * 8)
            self.assertEqual(seen["seen_in_shared_memory"], [2] * 8)
            within, *between = seen["rates"]
            if within > 130 and all(60 <= rate <= 130 for rate in between):
                return
        self.fail(f"1 Gbit/s is 125 MB/s; between hosts: {between}, within one: {within}")

    def test_up_run_down(self):
        self.addCleanup(run, TOOL, "down", env=STAYING)
        self.expect(run(TOOL, "run", "true", env=STAYING), 1, "no network is up")
        self.expect(run(TOOL, "up", "--hosts", "2", "--rate", "10mbit", env=STAYING), 0)
        self.assertEqual(len(spaces(STAYING["WINDROW_NETWORK"])), 3)
        self.expect(run(TOOL, "up", env=STAYING), 1, "up already")
        self.expect(run(TOOL, "status", env=STAYING), 0, f"{STAYING['WINDROW_NETWORK']}: 2 hosts, 10mbit")
        done = run(TOOL, "run", "--ranks-per-host", "3", "sh", "-c", "hostname; exit 3", env=STAYING)
        self.expect(done, 3)
        names = [STAYING["WINDROW_NETWORK"] + end for end in ("-1", "-2")]
        self.assertLessEqual(set(done.stdout.split()), set(names))
        for _ in range(2):
            self.expect(run(TOOL, "down", env=STAYING), 0)
            self.assertEqual(spaces(STAYING["WINDROW_NETWORK"]), [])

    def test_an_interrupted_up_is_cleared_away(self):
        self.addCleanup(run, TOOL, "down", env=STAYING)
        run("ip", "netns", "add", STAYING["WINDROW_NETWORK"] + "-1")
        self.expect(run(TOOL, "up", "--rate", "none", env=STAYING), 0)
        self.assertEqual(len(spaces(STAYING["WINDROW_NETWORK"])), 5)

    def test_what_cannot_be_made_leaves_nothing(self):
        self.expect(run(TOOL, "up", "--rate", "quick", env=STAYING), 1, "rate")
        self.assertEqual(spaces(STAYING["WINDROW_NETWORK"]), [])

    def test_two_at_a_time_and_one_that_is_killed(self):
        first = subprocess.Popen(
            [*WITH, "--", TOOL, "on", "4", "echo", "here;", "sleep", "300"], stdout=subprocess.PIPE, text=True
        )
        self.assertEqual(first.stdout.readline(), "here\n")
        second = run(*WITH, "--", *LAUNCHER, "-n", "8", "true")
        name = f"windrow-{first.pid}"
        before = spaces(name)
        pids = [int(pid) for pid in run("ip", "netns", "pids", f"{name}-4").stdout.split()]
        first.kill()
        first.wait()
        self.expect(second, 0)
        self.assertEqual(len(before), 5)
        self.assertTrue(pids)
        self.expect(run(TOOL, "down", env=STAYING), 0)
        self.assertEqual(spaces(name), [])
        self.assertEqual([pid for pid in pids if self.is_running(pid)], [])
        first.stdout.close()

    def test_a_signal_ends_the_command_and_the_network(self):
        process = subprocess.Popen(
            [*WITH, "--", "sh", "-c", "echo $WINDROW_NETWORK; exec sleep 300"], stdout=subprocess.PIPE, text=True
        )
        name = process.stdout.readline().strip()
        self.assertEqual(len(spaces(name)), 5)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(10), 128 + signal.SIGTERM)
        self.assertEqual(spaces(name), [])
        process.stdout.close()

    def test_codes(self):
        self.expect(run(*WITH, "--", "sh", "-c", "exit 5"), 5)
        self.expect(run(*WITH, "--", "/no/such/command"), 127, "/no/such/command")
        self.expect(run(*WITH, "--", LAUNCHER[0], "--mpi", "mpich", "-n", "1", "true"), SKIP, "only Open MPI")

    def test_without_root(self):
        try:
            without_root = run(TOOL, "status", preexec_fn=lambda: os.setresuid(65534, 65534, 65534))
        except PermissionError:
            self.skipTest("other users may not read this folder")
        if "Permission denied" not in without_root.stderr:
            self.expect(without_root, SKIP, "needs root")


if __name__ == "__main__":
    main()
