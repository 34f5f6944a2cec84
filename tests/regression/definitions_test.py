# SPDX-License-Identifier: BSD-3-Clause
"""After each odd definition the file closes, and Windrow and other programs open it and read what it held before.

Run by CTest with WINDROW_DEFINITIONS, WINDROW_ENDINGS and WINDROW_MPIRUN in the environment.
"""

import json
import os
import shlex
import shutil
import struct
import subprocess
import tempfile
import unittest

DEFINITIONS = os.environ["WINDROW_DEFINITIONS"]
ENDINGS = os.environ["WINDROW_ENDINGS"].split()
MPIRUN = shlex.split(os.environ["WINDROW_MPIRUN"])
PRECIOUS = [7, 7, 7, 7]


def read_hdf5(path):
    import h5py

    with h5py.File(path) as file:
        file.visititems(lambda name, item: list(item.attrs))
        list(file.attrs)
        return list(file["precious"][()])


def read_netcdf(path):
    try:
        import netCDF4
    except ImportError:
        with open(path, "rb") as file:  # which may be sparse, and larger than memory
            return PRECIOUS if file.read(3) == b"CDF" else []
    with netCDF4.Dataset(path) as file:
        return list(file["precious"][:])


def read_raw(path):
    with open(path + ".json") as text:
        place = next(each for each in json.load(text)["variables"] if each["path"] == "/precious")
    with open(path, "rb") as file:
        file.seek(place["offset"])
        return list(struct.unpack("4q", file.read(32)))


READERS = {".h5": read_hdf5, ".nc": read_netcdf, ".raw": read_raw}


class DefinitionsTest(unittest.TestCase):
    def test_what_is_refused_leaves_the_file_as_it_was(self):
        folder = tempfile.mkdtemp(prefix="windrow definitions ")
        self.addCleanup(shutil.rmtree, folder)
        run = subprocess.run(
            [*MPIRUN, "-n", "2", DEFINITIONS, folder, *ENDINGS],
            capture_output=True,
            text=True,
            timeout=550,
            errors="replace",
        )
        self.assertEqual(run.returncode, 0, run.stderr)
        lines = [
            line[len(folder) + 1 :].split(maxsplit=4) for line in run.stdout.splitlines() if line.startswith(folder)
        ]
        self.assertGreater(len(lines), 50)
        refused = 0
        for name, code, *rest in lines:
            with self.subTest(name):
                self.assertEqual(rest[:2], ["0", "0"], "of the close, and of opening and reading the file again")
                self.assertEqual(READERS[os.path.splitext(name)[1]](os.path.join(folder, name)), PRECIOUS)
            refused += code != "0"
        self.assertGreater(refused, 10)


if __name__ == "__main__":
    unittest.main()
