# SPDX-License-Identifier: BSD-3-Clause
"""NetCDF classic files between Windrow and other people's programs: ncvalidator, ncdump, xarray, scipy, netCDF4; and
what a kill leaves.

Run by CTest with WINDROW_CLIMATE, WINDROW_CHANGE, WINDROW_COMMAND, WINDROW_MPIRUN and WINDROW_RANKS in the environment.
"""

import os
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
MPIRUN = shlex.split(os.environ["WINDROW_MPIRUN"])
RANKS = int(os.environ["WINDROW_RANKS"])
LIMIT_S = 60  # a hang is a failure


def launch(program, *arguments, ranks=RANKS):
    command = [*MPIRUN, "-n", str(ranks), os.environ[program], *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)


def run(*command):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=LIMIT_S)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def library(name):
    try:
        return __import__(name)
    except ImportError:
        raise unittest.SkipTest(f"{name} is not installed") from None


def field(step):
    y, x = np.mgrid[0:19, 0:36]
    return (250 + step + 0.5 * y + 0.125 * x).astype("f4")


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="windrow netcdf "))
        self.addCleanup(shutil.rmtree, self.folder)

    def ok(self, done):
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout


class Climate(Files):
    def setUp(self):
        super().setUp()
        self.path = self.folder / "history.nc"
        self.ok(launch("WINDROW_CLIMATE", self.path))

    def test_tools(self):
        if shutil.which("ncvalidator"):
            run("ncvalidator", self.path)
        if shutil.which("ncdump"):
            self.assertEqual(run("ncdump", "-k", self.path).strip(), "classic")
            header = run("ncdump", "-h", self.path)
            self.assertIn("time = UNLIMITED ; // (4 currently)", header)
            self.assertIn("float temperature(time, lat, lon) ;", header)
            self.assertIn("temperature:_FillValue = 1.e+20f ;", header)

    def test_xarray(self):
        xarray = library("xarray")
        engines = [name for name in ("scipy", "netcdf4") if name in xarray.backends.list_engines()]
        self.assertTrue(engines)
        for engine in engines:
            with xarray.open_dataset(self.path, engine=engine) as data:
                self.assertEqual(data["temperature"].dims, ("time", "lat", "lon"))
                self.assertEqual(str(data["time"].values[3])[:10], "2000-01-04")
                for step in range(4):
                    np.testing.assert_array_equal(data["temperature"].values[step], field(step))
                np.testing.assert_array_equal(data["lat"].values, -90 + 10.0 * np.arange(19))

    def test_scipy(self):
        library("scipy")
        from scipy.io import netcdf_file

        with netcdf_file(self.path, mmap=False) as data:
            self.assertEqual(data.variables["temperature"].shape, (4, 19, 36))
            np.testing.assert_array_equal(data.variables["temperature"][2], field(2))
            self.assertEqual(data.Conventions, b"CF-1.8")

    def test_the_same_program_writes_hdf5(self):
        xarray = library("xarray")
        other = self.folder / "history.h5"
        self.ok(launch("WINDROW_CLIMATE", other))
        with xarray.open_dataset(self.path) as one, xarray.open_dataset(other, engine="h5netcdf") as two:
            xarray.testing.assert_equal(one, two)

    def test_conversion_and_back(self):
        xarray = library("xarray")
        hdf5, again = self.folder / "copy.h5", self.folder / "again.nc"
        self.ok(launch("WINDROW_COMMAND", "copy", self.path, hdf5))
        self.ok(launch("WINDROW_COMMAND", "copy", hdf5, again, ranks=2))
        self.assertIn("netCDF classic", self.ok(launch("WINDROW_COMMAND", "info", again, ranks=1)))
        self.assertIn("sound", self.ok(launch("WINDROW_COMMAND", "check", again)))
        if shutil.which("ncvalidator"):
            run("ncvalidator", again)
        with xarray.open_dataset(self.path) as one, xarray.open_dataset(again) as two:
            xarray.testing.assert_equal(one, two)
            self.assertIn("time", two.encoding["unlimited_dims"])

    def test_the_page_shows_the_example(self):
        page = (ROOT / "docs/netcdf.md").read_text()
        source = (ROOT / "examples/c/climate.c").read_text()
        quoted = re.search(r"begins here \*/\n(.*?)  /\* and ends here", source, re.DOTALL)[1]
        shown = re.search(r"<!-- from examples/c/climate.c -->\n```c\n(.*?)```", page, re.DOTALL)[1]
        self.assertEqual(
            "".join(line[2:] if line.strip() else line for line in quoted.splitlines(keepends=True)), shown
        )


class Foreign(Files):
    """Files of others, each read with a number of ranks that did not write it."""

    def check_copy(self, path):
        xarray = library("xarray")
        hdf5, again = self.folder / "copy.h5", self.folder / "again.nc"
        self.ok(launch("WINDROW_COMMAND", "check", path))
        self.ok(launch("WINDROW_COMMAND", "copy", path, hdf5))
        self.ok(launch("WINDROW_COMMAND", "copy", path, again))
        if shutil.which("ncvalidator"):
            run("ncvalidator", again)
        with xarray.open_dataset(path) as one, xarray.open_dataset(again) as two, xarray.open_dataset(
            hdf5, engine="h5netcdf"
        ) as three:
            xarray.testing.assert_identical(one, two)
            xarray.testing.assert_equal(one, three)

    def test_of_scipy(self):
        library("scipy")
        from scipy.io import netcdf_file

        for version in (1, 2):
            path = self.folder / f"scipy{version}.nc"
            with netcdf_file(path, "w", version=version) as data:
                data.createDimension("time", None)
                data.createDimension("x", 7)
                for name, kind in (("a", "i2"), ("b", "f8"), ("c", "i1")):
                    data.createVariable(name, kind, ("time", "x"))[:] = np.arange(35).reshape(5, 7)
                data.createVariable("fixed", "f4", ("x",))[:] = np.arange(7) / 2
                data.title = "of scipy"
            self.check_copy(path)

    def test_of_netcdf4(self):
        netcdf4 = library("netCDF4")
        for kind in ("NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"):
            path = self.folder / f"{kind}.nc"
            with netcdf4.Dataset(path, "w", format=kind) as data:
                data.createDimension("time", None)
                data.createDimension("y", 5)
                data.createDimension("string6", 6)
                data.createVariable("only", "i2", ("time", "y"))[:] = np.arange(15).reshape(3, 5)
                data.createVariable("names", "S1", ("y", "string6"))[:] = netcdf4.stringtochar(
                    np.array(["a", "bb", "ccc", "", "sixsix"], dtype="S6")
                )
                filled = data.createVariable("filled", "f4", ("y",), fill_value=-5)
                filled[1] = 3
                if kind == "NETCDF3_64BIT_DATA":
                    data.createVariable("large", "u8", ("y",))[:] = np.arange(5, dtype="u8") + 2**63
                    data.createVariable("ids", "i8", ("time",))[:] = -(2**40) - np.arange(3)
            self.check_copy(path)


class Lengths(Files):
    """HDF5 has many dimensions that grow, and variables of different lengths along one; netCDF classic one dimension
    and one length."""

    OUTPUTS = {
        "one.nc": [],
        "set.nc": ["--set", "files=subfiles(3)"],
        "columns.nc": ["--set", "files=subfiles(4)", "--set", "split=1"],
    }

    def copies(self, path):
        """One file each of what the source becomes: what is a set is joined."""
        for name, options in self.OUTPUTS.items():
            with self.subTest(output=name):
                copy, joined = self.folder / name, self.folder / f"joined {name}"
                self.ok(launch("WINDROW_COMMAND", "copy", path, copy, *options))
                self.assertIn("sound", self.ok(launch("WINDROW_COMMAND", "check", copy, ranks=2)))
                self.ok(launch("WINDROW_COMMAND", "copy", copy, joined, ranks=1))
                if shutil.which("ncvalidator"):
                    run("ncvalidator", joined)
                yield joined

    def test_that_differ_along_named_dimensions(self):
        netcdf4 = library("netCDF4")
        path, again = self.folder / "source.nc4", self.folder / "again.nc4"
        with netcdf4.Dataset(path, "w") as data:
            for name, length in (("station", None), ("time", None), ("x", 9)):
                data.createDimension(name, length)
            data.createVariable("height", "i4", ("station", "x"))[:] = np.arange(18).reshape(2, 9)
            data.createVariable("short", "f4", ("time", "x"), fill_value=-5)[:3] = np.arange(27).reshape(3, 9)
            data.createVariable("time", "f8", ("time",))[:] = np.arange(5)
            data.createVariable("one", "i2", ("time",))[:1] = 7
        self.ok(launch("WINDROW_COMMAND", "copy", path, again))
        with netcdf4.Dataset(path) as source:
            for copy in (*self.copies(path), again):
                with netcdf4.Dataset(copy) as data:
                    unlimited = {each.name for each in data.dimensions.values() if each.isunlimited()}
                    self.assertEqual(
                        unlimited, {"station", "time"} if copy == again else {"time"}, "one at most in netCDF classic"
                    )
                    for name, variable in source.variables.items():
                        self.assertEqual(data[name].dimensions, variable.dimensions)
                        self.assertEqual(data[name].shape, variable.shape)
                        np.testing.assert_array_equal(
                            data[name][...].filled(), variable[...].filled(), err_msg=f"{copy} {name}"
                        )

    def test_that_differ_without_names(self):
        netcdf4, h5py = library("netCDF4"), library("h5py")
        path = self.folder / "source.h5"
        lengths = {"a": 3, "b": 5, "c": 5, "d": 0}
        with h5py.File(path, "w") as data:
            for name, length in lengths.items():
                data.create_dataset(
                    name, data=np.arange(9.0 * length).reshape(length, 9), maxshape=(None, 9), chunks=(1, 9)
                )
        for copy in self.copies(path):
            with netcdf4.Dataset(copy) as data:
                for name, length in {**lengths, "d": 5}.items():
                    self.assertEqual(data[name].shape, (length, 9))
                    self.assertEqual(data.dimensions[data[name].dimensions[0]].isunlimited(), length == 5)
                    np.testing.assert_array_equal(
                        data[name][...], np.arange(9.0 * length).reshape(length, 9) * (name != "d")
                    )


class Kill(Files):
    """A rank is killed while all data move: the file is as it was, and the change can be made afterwards."""

    def test_that_nothing_is_lost(self):
        library("scipy")
        from scipy.io import netcdf_file

        path = self.folder / "file.nc"
        with netcdf_file(path, "w") as data:
            data.createDimension("time", None)
            data.createDimension("x", 4000)
            for name in ("a", "b"):
                data.createVariable(name, "i4", ("time", "x"))[:] = np.arange(12000).reshape(3, 4000) + len(name)
            data.createVariable("fixed", "f8", ("x",))[:] = np.arange(4000)
        before = path.read_bytes()
        for victim in range(RANKS):
            for after in (0, 1):
                done = launch("WINDROW_CHANGE", path, f"rank={victim},operation=write,after={after},error=kill")
                self.assertNotEqual(done.returncode, 0, "nobody was killed: this test tests nothing")
                self.assertEqual(path.read_bytes(), before)
                for leftover in self.folder.glob(".file.nc.windrow-*"):
                    leftover.unlink()
        self.ok(launch("WINDROW_CHANGE", path, ""))
        self.assertEqual([each.name for each in self.folder.iterdir()], ["file.nc"])
        if shutil.which("ncvalidator"):
            run("ncvalidator", path)
        with netcdf_file(path, mmap=False) as data:
            np.testing.assert_array_equal(data.variables["b"][:], np.arange(12000).reshape(3, 4000) + 1)
            np.testing.assert_array_equal(data.variables["fixed"][:], np.arange(4000))
            np.testing.assert_array_equal(data.variables["added"][:], np.full((3, 3), -1))
            self.assertEqual(len(data.history), 20000)


if __name__ == "__main__":
    unittest.main()
