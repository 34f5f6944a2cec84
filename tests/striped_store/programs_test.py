# SPDX-License-Identifier: BSD-3-Clause
"""Programs that know nothing of the store: h5py, and windrow with several ranks, on one mount and on two."""

import os
import shlex
import subprocess
import sys

import h5py
import numpy as np

sys.path.insert(0, os.path.dirname(__file__))
from store import LIMIT_S, StoreTest, main

COMMAND = os.environ["WINDROW_COMMAND"]
LAUNCHER = shlex.split(os.environ["WINDROW_LAUNCHER"])


class ProgramsTest(StoreTest):
    def make(self, path) -> np.ndarray:
        values = np.random.default_rng(1).random((301, 1009))
        with h5py.File(path, "w") as file:
            file.create_dataset("a group/values", data=values)
            file.create_dataset("packed", data=values, chunks=(100, 100), compression="gzip")
            file.attrs["text"] = "of one client"
        return values

    def check(self, path, values: np.ndarray) -> None:
        with h5py.File(path, "r") as file:
            np.testing.assert_array_equal(file["a group/values"][...], values)
            np.testing.assert_array_equal(file["packed"][...], values)

    def test_h5py(self):
        first, second = self.up(2, "--targets", "3", "--stripe", "64KiB")
        values = self.make(first / "a.h5")
        self.check(second / "a.h5", values)
        with h5py.File(second / "a.h5", "r+") as file:
            file["a group/values"][:] = values * 2
            del file["packed"]
        with h5py.File(first / "a.h5", "r") as file:
            np.testing.assert_array_equal(file["a group/values"][...], values * 2)

    def test_windrow_copies_into_and_out_of_it(self):
        first, second = self.up(2, "--targets", "3", "--stripe", "64KiB")
        values = self.make(self.folder / "plain.h5")
        ways = [
            (self.folder / "plain.h5", first / "b c.h5"),
            (second / "b c.h5", second / "d.h5"),
            (first / "d.h5", self.folder / "out.h5"),
        ]
        for source, copy in ways:
            done = subprocess.run(
                [*LAUNCHER, "-n", "3", COMMAND, "copy", str(source), str(copy)],
                capture_output=True,
                text=True,
                timeout=LIMIT_S,
            )
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.check(copy, values)
        written = self.matrix("bytes_written")
        self.assertGreater(sum(written[0]), values.nbytes)
        self.assertGreater(sum(written[1]), values.nbytes)

    def test_ranks_with_a_mount_each(self):
        """Each rank runs in a mount name space where one path is a mount of its own: a client each, as on a cluster."""
        mounts = self.up(3, "--targets", "3", "--stripe", "64KiB")
        values = self.make(mounts[2] / "in.h5")
        self.reset()
        place = self.folder / "store"
        place.mkdir()
        script = 'mount --bind "$1 ${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" "$2" && shift 2 && exec "$@"'
        enter = ["unshare", "--mount", "sh", "-c", script, "sh", str(self.folder / "client"), str(place)]
        if subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode != 0:
            self.skipTest("mount name spaces are not permitted here")
        copy = [COMMAND, "copy", str(place / "in.h5"), str(place / "out.h5")]
        done = subprocess.run([*LAUNCHER, "-n", "3", *enter, *copy], capture_output=True, text=True, timeout=LIMIT_S)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.check(mounts[0] / "out.h5", values)
        record = self.record()
        self.assertGreater(sum(sum(row) > 0 for row in record["matrix"]["bytes_written"]), 1)
        self.assertIn("/out.h5", [file["path"] for file in record["files"]])


main()
