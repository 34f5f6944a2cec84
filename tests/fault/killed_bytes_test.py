# SPDX-License-Identifier: BSD-3-Clause
"""A rank is killed while all ranks write listed bytes of a file: each of them is old or new, and no other byte has
changed.

Run by CTest with WINDROW_BYTES and WINDROW_MPIRUN in the environment.
"""

import os
import shlex
import shutil
import subprocess
import tempfile
import unittest

BYTES = os.environ["WINDROW_BYTES"]
MPIRUN = shlex.split(os.environ["WINDROW_MPIRUN"])
LIMIT_S = 60  # a hang is a failure

CELLS, CELL = 600, 96
OLD_LENGTH = 60_000  # the file ends between listed bytes, so that a write makes it longer

STRATEGIES = {
    "automatic": [],
    "windows with holes": ["strategy=two-phase", "access=sieve", "writers=2", "buffer=4096"],
    "contiguous windows": ["strategy=two-phase", "access=contiguous", "writers=2", "buffer=4096"],
    "pieces": ["strategy=two-phase", "access=list", "writers=3", "buffer=4096"],
    "each rank its windows": ["gather=none", "domains=none", "access=sieve", "buffer=4096"],
    "each rank its pieces": ["strategy=list"],
}


def listed(ranks):
    """The offsets of all listed bytes, as bytes.cpp has them."""
    room = CELL // ranks
    for cell in range(CELLS):
        if cell % 8 == 5:
            continue
        for rank in range(ranks):
            begin = cell * CELL + (20_000 if cell >= CELLS // 2 else 0) + rank * room + cell % 3
            yield from range(begin, begin + 1 + (7 * cell + 3 * rank) % (room - 4))


def value(offset, number):
    return (7 * offset + offset // 256 + 101 * number) % 256


class KilledBytesTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="windrow kill ")
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = os.path.join(self.folder, "plain.dat")
        self.old = bytes(value(offset, 0) for offset in range(OLD_LENGTH))

    def write(self, number, fault, options, ranks):
        launch = [*MPIRUN, "-n", str(ranks), BYTES, self.path, str(number), fault, *options]
        return subprocess.run(launch, capture_output=True, text=True, timeout=LIMIT_S)

    def content(self):
        self.assertEqual(os.listdir(self.folder), ["plain.dat"])
        with open(self.path, "rb") as file:
            return file.read()

    def kill(self, options, ranks, fault):
        """Returns how many of the listed bytes are new, and of how many."""
        with open(self.path, "wb") as file:
            file.write(self.old)
        done = self.write(1, fault, options, ranks)
        self.assertNotEqual(done.returncode, 0, "nobody was killed: this test tests nothing")
        after = self.content()
        offsets = set(listed(ranks))
        self.assertGreaterEqual(len(after), OLD_LENGTH)
        self.assertLessEqual(len(after), 1 + max(offsets))
        before = self.old + bytes(len(after) - OLD_LENGTH)
        changed = [offset for offset in range(len(after)) if after[offset] != before[offset]]
        self.assertEqual([offset for offset in changed if offset not in offsets], [], "of no list")
        self.assertEqual([offset for offset in changed if after[offset] != value(offset, 1)], [], "neither old nor new")
        return sum(offset < len(after) and after[offset] == value(offset, 1) for offset in offsets), len(offsets)

    def finish(self, options, ranks):
        """Another job writes all, over what the killed one has left."""
        done = self.write(2, "", options, ranks)
        self.assertEqual(done.returncode, 0, done.stderr)
        after, offsets = self.content(), set(listed(ranks))
        self.assertEqual(len(after), 1 + max(offsets))
        before = self.old + bytes(len(after) - OLD_LENGTH)
        expected = bytes(value(at, 2) if at in offsets else before[at] for at in range(len(after)))
        self.assertTrue(after == expected)

    def try_all(self, ranks, strategies, victim):
        partly = 0
        for name in strategies:
            for place in (0, 3):
                with self.subTest(ranks=ranks, strategy=name, place=place):
                    fault = f"rank={victim},operation=write,after={place},error=kill"
                    new, of = self.kill(STRATEGIES[name], ranks, fault)
                    partly += 0 < new < of
            with self.subTest(ranks=ranks, strategy=name):
                self.finish(STRATEGIES[name], ranks)
        self.assertGreater(partly, 0, "nobody was killed in the middle")

    def test_three_ranks(self):
        self.try_all(3, [name for name in STRATEGIES if name != "automatic"], 1)

    def test_three_ranks_with_the_default_options(self):
        options = STRATEGIES["automatic"]
        new, of = self.kill(options, 3, "rank=0,operation=write,after=0,error=kill")
        self.assertLess(new, of)
        self.finish(options, 3)

    def test_one_rank(self):
        self.try_all(1, ["windows with holes", "pieces"], 0)

    # The lock of a window is held, and its old bytes have been read.
    def test_between_a_read_and_its_write(self):
        for ranks in (1, 3):
            options = STRATEGIES["windows with holes"]
            self.kill(options, ranks, "rank=0,operation=read,after=2,error=kill")
            self.finish(options, ranks)


if __name__ == "__main__":
    unittest.main(verbosity=2)
