# SPDX-License-Identifier: BSD-3-Clause
"""Domains by target on storage that records all writes: each client writes its own targets, no stripe has two writers,
and no lock passes."""

import os
import shlex
import subprocess
import sys

import h5py
import numpy as np

sys.path.insert(0, os.path.dirname(__file__))
from store import KIB, LIMIT_S, StoreTest, main

COMMAND = os.environ["WINDROW_COMMAND"]
LAUNCHER = shlex.split(os.environ["WINDROW_LAUNCHER"])
METADATA = 32 * KIB  # rank 0 writes at most this much of it, at any offset


class TargetsTest(StoreTest):
    def setUp(self) -> None:
        if subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("mount name spaces are not permitted here")
        super().setUp()

    def copy(self, ranks: int, domains: str) -> list[list[int]]:
        """Bytes of each client to each target; each rank has a mount of its own, as a host has."""
        values = np.random.default_rng(2).random((700, 3001))
        with h5py.File(self.folder / "in.h5", "w") as file:
            file["a group/values"] = values
        self.reset()
        place = self.folder / "store"
        place.mkdir(exist_ok=True)
        script = 'mount --bind "$1 ${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" "$2" && shift 2 && exec "$@"'
        enter = ["unshare", "--mount", "sh", "-c", script, "sh", str(self.folder / "client"), str(place)]
        options = {"WINDROW_RANKS_PER_HOST": "1", "WINDROW_DOMAINS": domains, "WINDROW_WRITERS": str(ranks)}
        done = subprocess.run(
            [*LAUNCHER, "-n", str(ranks), *enter, COMMAND, "copy", str(self.folder / "in.h5"), str(place / "out.h5")],
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            env=os.environ | options,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        written = self.matrix("bytes_written")
        with h5py.File(self.clients[0] / "out.h5") as file:
            np.testing.assert_array_equal(file["a group/values"][...], values)
        return written

    def targets_of(self, written: list[list[int]]) -> list[int]:
        return [sum(each > METADATA for each in client) for client in written]

    def test_as_many_writers_as_targets(self):
        self.up(4, "--targets", "4", "--stripe", "64KiB")
        written = self.copy(4, "target")
        self.assertEqual(self.targets_of(written), [1, 1, 1, 1])
        self.assertEqual(self.shared(), 0)
        # Rank 0 writes the metadata at any offset: it may take the lock of each target once, and the writer of the
        # target may take it back.
        self.assertLessEqual(sum(map(sum, self.matrix("lock_hand_overs"))), 2 * 4)

    def test_fewer_writers_than_targets(self):
        self.up(3, "--targets", "7", "--stripe", "64KiB")
        written = self.copy(3, "target")
        self.assertEqual(sorted(self.targets_of(written)), [2, 2, 3])
        self.assertEqual(self.shared(), 0)

    def test_more_writers_than_targets(self):
        self.up(5, "--targets", "2", "--stripe", "64KiB")
        written = self.copy(5, "target")
        self.assertEqual(sorted(self.targets_of(written)), [0, 1, 1, 1, 1])
        self.assertEqual(self.shared(), 0)

    def test_components(self):
        self.up(3, "--targets", "4", "--component", "1MiB:64KiB:1", "--component", "end:128KiB:3")
        self.copy(3, "target")
        self.assertEqual(self.shared(), 0)

    def test_even_domains_meet(self):
        self.up(3, "--targets", "4", "--stripe", "64KiB")
        written = self.copy(3, "even")
        self.assertEqual(self.targets_of(written), [4, 4, 4])
        self.assertGreaterEqual(self.shared(), 1)

    def shared(self) -> int:
        """Stripes that several clients wrote, but for those with metadata, which rank 0 writes: the file's first and
        last."""
        files = self.record()["files"]
        count = 0
        for file in files:
            several = [stripe for stripe in file["stripes"] if len(stripe["clients"]) > 1]
            last = max(stripe["end"] for stripe in file["stripes"])
            count += sum(not (stripe["begin"] == 0 or stripe["end"] == last) for stripe in several)
        return count


main()
