# SPDX-License-Identifier: BSD-3-Clause
"""A rank is killed while it appends to compressed chunks that hold records already: what a sync has published of them
stays readable.

Run by CTest with WINDROW_APPENDING and WINDROW_MPIRUN in the environment.
"""

import os
import shlex
import shutil
import subprocess
import tempfile
import unittest

import h5py

APPENDING = os.environ["WINDROW_APPENDING"]
MPIRUN = shlex.split(os.environ["WINDROW_MPIRUN"])
LIMIT_S = 60  # a hang is a failure


def run(ranks, *arguments):
    return subprocess.run(
        [*MPIRUN, "-n", str(ranks), APPENDING, *map(str, arguments)], capture_output=True, text=True, timeout=LIMIT_S
    )


class KilledAppendTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="windrow kill ")
        self.addCleanup(shutil.rmtree, self.folder)

    def read(self, path, records, ranks=1):
        done = run(ranks, "read", path, records)
        self.assertEqual(done.returncode, 0, done.stderr)
        with h5py.File(path, "r") as file:
            self.assertEqual(file["grid"][:records].shape[0], records)  # every chunk of them is decoded
        return int(done.stdout.split()[0])

    def kill_each(self, what, ranks, lengths, options=(), prepare=None):
        """The rank that is killed writes 4 chunks a flush with one rank, fewer with more."""
        killed = 0
        for victim in {0, ranks - 1}:
            for after in range(12):
                path = os.path.join(self.folder, f"{what} {victim} {after}.h5")
                before = prepare(path) if prepare else 0
                done = run(
                    ranks, what, path, f"rank={victim},operation=write,after={after},error=kill", lengths, *options
                )
                # MPICH's launcher prints there too
                published = [before, *(int(line) for line in done.stdout.splitlines() if line.isdigit())][-1]
                if done.returncode == 0:
                    break  # there were not so many writes
                killed += 1
                if not os.path.exists(path):
                    self.assertEqual(published, 0)
                    continue
                with self.subTest(what=what, victim=victim, after=after, published=published):
                    self.read(path, published)
        self.assertGreater(killed, 3, "nobody was killed: this test tests nothing")

    def test_file(self):
        for ranks in (1, 3):
            self.kill_each("write", ranks, "1,2,1", ("buffer=400000",))

    def test_set(self):
        self.kill_each("write", 3, "1,2,1", ("files=subfiles(2)", "buffer=400000"))

    def test_update(self):
        def prepare(path):
            done = run(2, "write", path, "", "3")
            self.assertEqual(done.returncode, 0, done.stderr)
            return 3

        self.kill_each("continue", 2, "1,2,1", ("buffer=400000",), prepare)

    def test_rest_of_the_file_is_as_ever(self):
        """Nothing is kept for longer than until the next sync: a file that grows record by record is not much longer
        than one written at once."""
        slow, fast = os.path.join(self.folder, "slow.h5"), os.path.join(self.folder, "fast.h5")
        for path, lengths in ((slow, ",".join(["1"] * 24)), (fast, "24")):
            done = run(2, "write", path, "", lengths)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.read(path, 24, ranks=3), 24)
        self.assertLess(os.path.getsize(slow), 2 * os.path.getsize(fast))
        dump = subprocess.run(["h5dump", "-H", slow], capture_output=True, text=True, check=True).stdout
        self.assertEqual(dump.count("DATASET"), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
