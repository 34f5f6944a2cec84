# SPDX-License-Identifier: BSD-3-Clause
"""Other people's readers open what Windrow has written in parallel: h5py, h5dump, h5diff, ncdump, xarray.

Arguments: the writing program, the number of ranks, the launcher.
"""

import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy as np

PROGRAM, RANKS, LAUNCHER = sys.argv[1], sys.argv[2], shlex.split(sys.argv[3])
CELLS, TIMES = 50, 3
H5DIFF = ("h5diff", "--exclude-path", "/null")  # which it calls "not comparable", and different


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(command)}: {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


class Readers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="windrow readers ")
        cls.kinds, cls.climate = (str(Path(cls.folder.name, name)) for name in ("all kinds.h5", "climate.nc4"))
        run(*LAUNCHER, "-n", RANKS, PROGRAM, cls.kinds, cls.climate)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_h5py_reads_all(self):
        n = np.arange(CELLS)
        with h5py.File(self.kinds) as f:
            numbers = f["numbers"]
            for name, kind in (("int8", "i1"), ("uint16 big", ">u2"), ("int64", "i8"), ("float32 big", ">f4")):
                self.assertEqual(numbers[name].dtype, np.dtype(kind))
                self.assertTrue((numbers[name][:] == n).all(), name)
            self.assertTrue((numbers["ε"][:] == 0.5 * n).all())
            self.assertEqual(f["bool"].dtype, np.bool_)
            self.assertTrue((f["bool"][:] == (n % 3 == 0)).all())
            self.assertTrue((f["complex"][:] == n - 1j).all())
            self.assertEqual(h5py.check_enum_dtype(f["colour"].dtype), {"RED": 0, "GREEN": 1, "BLUE": 2})
            self.assertTrue((f["numbers/link"][:] == n % 3).all())
            self.assertEqual(f["text"][:].tolist(), [b"n%02d" % i for i in n])
            self.assertEqual(f["opaque"][7].tobytes(), b"n07\0")
            self.assertEqual(f["half"][:].tolist(), list(range(CELLS)) + [-1] * CELLS)
            self.assertEqual(f["never"][:].tolist(), [-1] * 4)
            compressed = f["compressed"]
            self.assertEqual(
                (compressed.chunks, compressed.compression, compressed.shuffle, compressed.fletcher32),
                ((16,), "gzip", True, True),
            )
            self.assertTrue((compressed[:] == n // 7).all())
            self.assertEqual((f["records"].shape, f["records"].maxshape), ((TIMES, CELLS), (None, CELLS)))
            self.assertTrue((f["records"][:] == 100 * np.arange(TIMES)[:, None] + n).all())
            self.assertEqual((f["scalar"][()], f["null"].shape), (0, None))
            self.assertEqual([word.decode() for word in f["words"]], ["one", "two words", "größe"])
            self.assertEqual((f.attrs["three"].tolist(), f.attrs["title"]), ([1, 2, 3], "every kind of thing"))
            self.assertEqual(f["colour"].attrs["is a colour"], True)
            self.assertTrue((numbers.attrs["large"] == np.full(20000, 1.5)).all())
            self.assertEqual(list(f["empty group"]), [])

    def test_h5dump_shows_all(self):
        text = run("h5dump", "-p", "-w", "0", self.kinds)
        for part in (
            "H5T_ENUM",
            "H5T_COMPOUND",
            "H5T_OPAQUE",
            "H5T_STRING",
            "SOFTLINK",
            "COMPRESSION DEFLATE { LEVEL 6 }",
            "PREPROCESSING SHUFFLE",
            "CHECKSUM FLETCHER32",
            "VALUE  -1",
            "SCALAR",
            "NULL",
            "H5S_UNLIMITED",
            '"two words"',
            'GROUP "empty group"',
        ):
            self.assertIn(part, text)

    def test_h5diff_finds_what_differs_and_nothing_else(self):
        copy = self.kinds + ".copy.h5"
        with h5py.File(self.kinds) as source, h5py.File(copy, "w") as target:  # written again by HDF5 itself
            for name in source:
                source.copy(source[name], target, name)
            target.attrs.update(source.attrs)
        run(*H5DIFF, self.kinds, copy)
        with h5py.File(copy, "a") as target:
            target["compressed"][33] = 99
        self.assertEqual(subprocess.run([*H5DIFF, self.kinds, copy], capture_output=True).returncode, 1)

    def test_h5repack_rewrites_all(self):
        packed = self.kinds + ".packed.h5"
        run("h5repack", "-L", "-f", "GZIP=9", self.kinds, packed)  # -L: without it, HDF5 makes no attribute of 160 kB
        run(*H5DIFF, self.kinds, packed)

    @unittest.skipUnless(shutil.which("ncdump"), "no ncdump")
    def test_ncdump_shows_dimensions(self):
        text = run("ncdump", "-v", "temperature,pressure", self.climate)
        for part in (
            "time = 3 ;",
            "x = 50 ;",
            "side = 2 ;",
            "double time(time) ;",
            "float temperature(time, x) ;",
            "double pressure(time, x, side) ;",
            'time:units = "hours since 2000-01-01" ;',
            "pressure:_FillValue = -9999. ;",
        ):
            self.assertIn(part, text)
        self.assertIn("250, 251, 252,", text)

    def test_xarray_has_named_dimensions(self):
        try:
            import h5netcdf  # noqa: F401
            import xarray
        except ImportError as missing:
            self.skipTest(str(missing))
        with xarray.open_dataset(self.climate, engine="h5netcdf") as data:
            self.assertEqual(dict(data.sizes), {"time": TIMES, "x": CELLS, "side": 2})
            self.assertEqual(data.temperature.dims, ("time", "x"))
            self.assertEqual(str(data.time.values[1]), "2000-01-01T06:00:00.000000000")
            self.assertEqual(float(data.temperature.sel(x=7).isel(time=2)), 277)
            self.assertEqual(int(data.pressure.notnull().sum()), CELLS)
            self.assertEqual(float(data.pressure[1, 9, 0]), 1e5 + 9)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
