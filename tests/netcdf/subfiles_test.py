# SPDX-License-Identifier: BSD-3-Clause
"""Sets of netCDF classic files in other hands: ncvalidator, ncdump, ncmpidiff, netCDF4 and xarray; maps that somebody has made to hurt.

Run by CTest with WINDROW_COMMAND and WINDROW_MPIRUN in the environment.
"""

import os
import shlex
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

try:
    import netCDF4
    import numpy as np
except ImportError:
    netCDF4 = None

COMMAND, LAUNCHER = os.environ["WINDROW_COMMAND"], shlex.split(os.environ["WINDROW_MPIRUN"])
LIMIT_S = 60  # a hang is a failure
RECORDS, LATITUDES, LONGITUDES = 4, 19, 36


def windrow(*arguments, ranks=2, code=0):
    launch = [*LAUNCHER, "-n", str(ranks)] if ranks > 1 else []
    done = subprocess.run([*launch, COMMAND, *map(str, arguments)], capture_output=True, text=True, errors="replace", timeout=LIMIT_S)
    if done.returncode != code:
        raise AssertionError(f"{arguments}: {done.returncode}, not {code}\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
    return done.stdout + done.stderr


def run(*command):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=LIMIT_S)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


@unittest.skipIf(netCDF4 is None, "netCDF4 is not installed")
class Sets(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="windrow netcdf sets "))
        self.addCleanup(shutil.rmtree, self.folder)
        self.plain, self.base = self.folder / "plain.nc", self.folder / "a.nc"
        cells = RECORDS * LATITUDES * LONGITUDES
        self.field = np.arange(cells, dtype="f4").reshape(RECORDS, LATITUDES, LONGITUDES)
        with netCDF4.Dataset(self.plain, "w", format="NETCDF3_64BIT_DATA") as f:
            for name, length in (("time", None), ("lat", LATITUDES), ("lon", LONGITUDES), ("string8", 8)):
                f.createDimension(name, length)
            for name in ("time", "lat", "lon"):
                f.createVariable(name, "f8", (name,))
            f["time"][:] = np.arange(RECORDS)
            f["lat"][:], f["lon"][:] = np.arange(LATITUDES), np.arange(LONGITUDES)
            f.createVariable("field", "f4", ("time", "lat", "lon"), fill_value=1e20).units = "K"
            f["field"][:] = self.field
            f.createVariable("heights", "i2", ("lat", "lon"))[:] = self.field[0].astype("i2")
            f.createVariable("number", "u8", ("lat", "lon"))[:] = self.field[1].astype("u8")
            f.createVariable("names", "S1", ("lat", "string8"))[:] = netCDF4.stringtochar(np.array([f"lat {i}" for i in range(LATITUDES)], "S8"))
            f.title = "a climate"

    def split(self, *settings, ranks=2, source=None, target=None):
        target = target or self.base
        windrow("copy", source or self.plain, target, *(each for one in settings for each in ("--set", one)), ranks=ranks)
        (self.set,) = self.folder.glob(f"{target.name}.subfiles-*")

    def expect_same(self, path):
        # ncmpidiff compares headers too, and the copy has the least version that holds it, which is the same here.
        self.assertIn("same", run("ncmpidiff", self.plain, path))

    def test_parts_are_read_by_others(self):
        import xarray

        for ranks, settings in ((1, ["files=subfiles(5)"]), (3, ["files=subfiles(4)"]), (2, ["files=subfiles(3)", "split=1"]), (5, ["files=subfiles(2)"])):
            with self.subTest(settings=settings):
                self.split(*settings, ranks=ranks)
                run("ncvalidator", self.base)
                self.assertIn('field:windrow_split_dimensions = "time/lat/lon"', run("ncdump", "-h", self.base))
                parts = sorted(self.set.iterdir())
                for number, part in enumerate(parts):
                    run("ncvalidator", part)
                    run("ncmpidump", "-h", part)
                    with netCDF4.Dataset(part) as f:
                        self.assertEqual(f.windrow_subfile, number)
                        self.assertEqual(f["field"].units, "K")
                        start, end = np.reshape(f["field"].windrow_split_range, (2, 3))
                        box = (slice(None), slice(start[1], end[1]), slice(start[2], end[2]))
                        self.assertTrue((f["field"][:] == self.field[box]).all())
                    with xarray.open_dataset(part, engine="netcdf4") as f:
                        self.assertTrue((f["field"].values == self.field[box]).all())
                for readers in (1, 2, 3, 5):
                    self.assertIn("sound", windrow("check", self.base, ranks=readers))

    def test_copy_splits_joins_and_converts(self):
        self.split("files=subfiles(4)")
        has_hdf5 = "format hdf5\n" in windrow("info", "--features", ranks=1)
        hierarchical = self.folder / ("set.h5" if has_hdf5 else "third.nc")
        again, one, other = (self.folder / name for name in ("again.nc", "one.nc", "other.nc"))
        windrow("copy", self.base, again, "--set", "files=subfiles(6)", "--set", "split=1", "--buffer", "4096", ranks=3)
        windrow("copy", again, hierarchical, "--set", "files=subfiles(3)", ranks=3)
        windrow("copy", hierarchical, other, "--set", "files=subfiles(2)")
        for source in (self.base, again, hierarchical, other):
            with self.subTest(source=source.name):
                windrow("check", source, ranks=3)
                windrow("copy", source, one)
                self.expect_same(one)
        told = windrow("info", self.base)
        self.assertIn("split 1x4x1", told)
        self.assertIn("/3.nc", told)

    def test_a_flipped_byte_is_named(self):
        for variable in ("heights", "field"):
            with self.subTest(variable=variable):
                self.split("files=subfiles(3)", "checksum=on", ranks=3)
                self.assertIn("sound", windrow("check", self.base, ranks=3))
                (victim,) = self.set.glob("1.nc")
                with netCDF4.Dataset(victim) as f:
                    wanted = f[variable][...].filled().astype(f[variable].dtype.newbyteorder(">"))
                whole = bytearray(victim.read_bytes())
                place = whole.find(wanted[0].tobytes())
                self.assertGreater(place, 0)
                whole[place] ^= 4
                victim.write_bytes(whole)
                told = windrow("check", self.base, ranks=2, code=1)
                self.assertRegex(told, f'/1.nc": the elements of "/{variable}" are not those that were written')
                self.assertNotIn('/0.nc"', told)

    def test_maps_made_to_hurt(self):
        self.split("files=subfiles(3)")
        outside = self.folder.parent / (self.folder.name + " outside")
        shutil.copytree(self.set, outside)
        self.addCleanup(shutil.rmtree, outside)
        good = self.base.read_bytes()
        largest = 2**63 - 1

        def root(name, value):
            return lambda f: f.setncattr(name, value)

        def of(name, value):
            return lambda f: f["field"].setncattr(name, np.array(value, "i8") if isinstance(value, list) else value)

        def without(name, variable=None):
            return lambda f: (f[variable] if variable else f).delncattr(name)

        damages = {
            "up": root("windrow_folder", "../" + outside.name), "dots": root("windrow_folder", ".."), "dot": root("windrow_folder", "."),
            "absolute": root("windrow_folder", str(outside)), "below": root("windrow_folder", self.set.name + "/x"),
            "overlong": root("windrow_folder", "x" * 300), "very long": root("windrow_folder", "x" * 60000), "line": root("windrow_folder", "a\nb"),
            "a number": root("windrow_folder", np.int64(7)), "ending up": root("windrow_ending", "/../x"), "ending long": root("windrow_ending", "." + "x" * 100),
            "no set": without("windrow_set"), "other set": root("windrow_set", "x"), "no count": without("windrow_subfiles"),
            "count 0": root("windrow_subfiles", np.int64(0)), "count -1": root("windrow_subfiles", np.int64(-1)),
            "count large": root("windrow_subfiles", np.int64(largest)), "count float": root("windrow_subfiles", 3.0),
            "count 2": root("windrow_subfiles", np.int64(2)), "count list": root("windrow_subfiles", np.array([3, 3], "i8")),
            "sum": root("windrow_map_checksum", np.int64(1)), "no sum": without("windrow_map_checksum"),
            "shape": of("windrow_split_shape", [0, 19, 37]), "shape short": of("windrow_split_shape", [0]), "parts": of("windrow_split_parts", np.int64(4)),
            "order": of("windrow_split_order", [3, 1, 2]), "order large": of("windrow_split_order", [1, largest, 1]), "order 0": of("windrow_split_order", [1, 3, 0]),
            "order of what grows": of("windrow_split_order", [2, 3, 1]), "no order": without("windrow_split_order", "field"),
            "overlapping": of("windrow_split_bounds", [0, 0, 0, 9, 8, 19, 0, 36]), "twice": of("windrow_split_bounds", [0, 0, 0, 7, 7, 19, 0, 36]),
            "leaving": of("windrow_split_bounds", [0, 0, 0, 7, 13, 20, 0, 36]), "negative": of("windrow_split_bounds", [0, 0, 0, -7, 13, 19, 0, 36]),
            "overflowing": of("windrow_split_bounds", [0, 0, 0, 7, 13, largest, 0, largest]), "late": of("windrow_split_bounds", [0, 0, 1, 7, 13, 19, 0, 36]),
            "records cut": of("windrow_split_bounds", [0, 4, 0, 7, 13, 19, 0, 36]), "bounds short": of("windrow_split_bounds", [0, 0]),
            "no bounds": without("windrow_split_bounds", "field"), "moved": of("windrow_split_bounds", [0, 0, 0, 6, 13, 19, 0, 36]),
            "narrow": lambda f: f["field"].setncattr("windrow_split_bounds", np.array([0, 0, 0, 7, 13, 19, 0, 36], "i4")),
            "no dimensions": without("windrow_split_dimensions", "field"), "fewer dimensions": of("windrow_split_dimensions", "time/lat"),
            "other dimensions": of("windrow_split_dimensions", "time/lon/lat"), "unknown dimensions": of("windrow_split_dimensions", "time/lat/z"),
            "records in the middle": of("windrow_split_dimensions", "lat/time/lon"), "slashes": of("windrow_split_dimensions", "///"),
            "many dimensions": of("windrow_split_dimensions", "/".join(["lon"] * 5000)), "large": of("windrow_split_dimensions", "/".join(["lon"] * 12)),
        }
        folder = self.set.name.encode()
        patches = {"NUL": folder[:3] + b"\0" + folder[4:], "not UTF-8": b"\xff\xfe" + folder[2:], "slash": folder[:4] + b"/" + folder[5:]}
        for name in [*damages, *patches]:
            with self.subTest(damage=name):
                self.base.write_bytes(good)
                if name in patches:
                    self.base.write_bytes(good.replace(folder, patches[name]))
                else:
                    with netCDF4.Dataset(self.base, "r+") as f:
                        damages[name](f)
                told = windrow("check", self.base, ranks=3 if name in ("up", "overlapping", "overflowing", "many dimensions") else 1, code=1)
                self.assertIn("a.nc", told)
                self.assertNotIn(outside.name + "/", told)
                self.assertRegex(told, r"map of its subfiles|missing|checksum")
        self.base.write_bytes(good)
        self.assertIn("sound", windrow("check", self.base))
        # Bytes at random places of the headers: anything but a crash or a hang.
        random = np.random.default_rng(5)
        for victim in (self.base, self.set / "1.nc"):
            whole = victim.read_bytes()
            for _ in range(25):
                bad = bytearray(whole)
                for place in random.integers(4, 3000, 4):
                    bad[place] = random.integers(0, 256)
                victim.write_bytes(bad)
                done = subprocess.run([COMMAND, "check", str(self.base)], capture_output=True, text=True, errors="replace", timeout=LIMIT_S)
                self.assertIn(done.returncode, (0, 1, 2), done.stderr)
            victim.write_bytes(whole)

    # The base file alone, without its map: its variables are there and not read as scalars.
    def test_a_scalar_is_not_taken_for_the_array(self):
        self.split("files=subfiles(2)")
        with netCDF4.Dataset(self.base, "r+") as f:
            f.delncattr("windrow_folder")
        self.assertIn("19 x 36", windrow("info", self.base))
        self.assertIn("no map of them", windrow("check", self.base, ranks=1, code=3))


if __name__ == "__main__":
    unittest.main()
