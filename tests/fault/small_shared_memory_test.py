# SPDX-License-Identifier: BSD-3-Clause
"""/dev/shm that is small, or full, as in a container: messages instead, the report says so, and the file is the same.

Run by CTest with WINDROW_CHECKPOINT and WINDROW_MPIRUN in the environment. Each job has a /dev/shm of its own, in a
name space for mounts.
"""

import os
import shlex
import shutil
import subprocess
import tempfile
import unittest

CHECKPOINT = os.environ["WINDROW_CHECKPOINT"]
HALVES = os.environ["WINDROW_HALVES"]
NEARLY_FULL = os.environ["WINDROW_NEARLY_FULL"]
MPIRUN = shlex.split(os.environ["WINDROW_MPIRUN"])
LIMIT_S = 60  # a hang is a failure
RANKS = 4
ELSEWHERE = "/var/tmp"  # for files that the container must see: TMPDIR may be in /dev/shm
INSIDE = (
    'mount -t tmpfs -o size="$0" windrow /dev/shm && { [ "$1" = empty ] || dd if=/dev/zero of=/dev/shm/full '
    'bs=4k status=none 2> /dev/null; shift; "$@"; }'
)


def can_mount():
    try:
        tried = subprocess.run(
            ["unshare", "--mount", "mount", "-t", "tmpfs", "windrow", "/dev/shm"], capture_output=True, timeout=LIMIT_S
        )
    except OSError:
        return False
    return tried.returncode == 0


@unittest.skipUnless(can_mount(), "a /dev/shm of its own needs root and unshare")
class SmallSharedMemoryTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="windrow small shared memory ", dir=ELSEWHERE)
        self.addCleanup(shutil.rmtree, self.folder)

    def launch(self, size, state, *words, ranks=RANKS):
        run = subprocess.run(
            ["unshare", "--mount", "bash", "-c", INSIDE, size, state, *MPIRUN, "-n", str(ranks), *words],
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            env={**os.environ, "WINDROW_REPORT": "1", "TMPDIR": ELSEWHERE},
        )
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return run.stdout

    def write(self, size, state):
        path = os.path.join(self.folder, f"{size} {state}.raw")
        report = self.launch(size, state, CHECKPOINT, path, "3.5", "", "strategy=two-phase", "writers=2")
        with open(path, "rb") as file:
            return report, file.read()

    def test_memory_that_is_there_is_shared(self):
        report, _ = self.write("64m", "empty")
        self.assertNotIn("too small", report)
        self.assertNotIn("including 0 bytes through shared memory", report)

    def test_messages_take_its_place(self):
        _, expected = self.write("64m", "empty")
        for size, state in (("256k", "empty"), ("1m", "full")):
            with self.subTest(size=size, state=state):
                report, written = self.write(size, state)
                self.assertIn(f"too small for {RANKS} ranks, which used messages instead", report)
                self.assertIn("including 0 bytes through shared memory", report)
                self.assertEqual(written, expected)

    def test_two_communicators_do_not_take_the_same_memory(self):
        # Each half of the ranks finds 48 MiB that may be used and takes 40, and only one of them can.
        self.assertRegex(self.launch("64m", "empty", HALVES, "20"), "refused [12]\n")
        self.assertIn("refused 0\n", self.launch("64m", "empty", HALVES, "5"))

    def test_nearly_full_memory_is_refused(self):
        for ranks in (1, 4, 8, 13):
            with self.subTest(ranks=ranks):
                report = self.launch("64m", "empty", NEARLY_FULL, "120", ranks=ranks)
                self.assertRegex(report, "given [1-9][0-9]* refused [1-9][0-9]* failed 0\n")

    def test_no_more_is_asked_for_than_a_file_may_be_long(self):
        for ranks in (1, 4, 8):
            with self.subTest(ranks=ranks):
                report = self.launch("64m", "empty", NEARLY_FULL, "60", "limit", ranks=ranks)
                self.assertRegex(report, "given [1-9][0-9]* refused [1-9][0-9]* failed 0\n")


if __name__ == "__main__":
    unittest.main()
