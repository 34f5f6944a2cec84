# SPDX-License-Identifier: BSD-3-Clause
"""Sets of netCDF classic files with other programs: ncvalidator, ncdump, ncmpidiff, netCDF4 and xarray; hostile maps.

Run by CTest with WINDROW_COMMAND and WINDROW_MPIRUN in the environment.
"""

import sys
import unittest
from pathlib import Path

try:
    import netCDF4
    import numpy as np
except ImportError:
    netCDF4 = None

sys.path.append(str(Path(__file__).parent.parent))
from sets import LARGEST, SetOfSubfiles, built_in, run, windrow  # noqa: E402

RECORDS, LATITUDES, LONGITUDES = 4, 19, 36


@unittest.skipIf(netCDF4 is None, "netCDF4 is not installed")
class Sets(SetOfSubfiles, unittest.TestCase):
    ending = ".nc"

    def setUp(self):
        super().setUp()
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
            f.createVariable("names", "S1", ("lat", "string8"))[:] = netCDF4.stringtochar(
                np.array([f"lat {i}" for i in range(LATITUDES)], "S8")
            )
            f.title = "a climate"

    def expect_same(self, path):
        # ncmpidiff compares headers too, and the copy has the least version that holds it, which is the same here.
        self.assertIn("same", run("ncmpidiff", self.plain, path))

    def test_parts_are_read_by_others(self):
        import xarray

        for ranks, settings in (
            (1, ["files=subfiles(5)"]),
            (3, ["files=subfiles(4)"]),
            (2, ["files=subfiles(3)", "split=1"]),
            (5, ["files=subfiles(2)"]),
        ):
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
        hierarchical = self.folder / ("set.h5" if built_in("format hdf5") else "third.nc")
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
                self.assertRegex(told, f'/1.nc": the elements of "/{variable}" do not match their checksum')
                self.assertNotIn('/0.nc"', told)

    def test_maps_made_to_hurt(self):
        self.split("files=subfiles(3)")
        good, folder = self.base.read_bytes(), self.set.name.encode()

        def of(name, value, variable="field"):
            def damage():
                with netCDF4.Dataset(self.base, "r+") as f:
                    holder = f[variable] if variable else f
                    if value is None:
                        holder.delncattr(name)
                    else:
                        holder.setncattr(
                            name, value if isinstance(value, (str, float, np.ndarray)) else np.array(value, "i8")[()]
                        )

            return damage

        def patch(name):
            return lambda: self.base.write_bytes(good.replace(folder, name))

        damages = {
            **{name: of(*damage, variable=None) for name, damage in self.damages_of_the_set().items()},
            "NUL": patch(folder[:3] + b"\0" + folder[4:]),
            "not UTF-8": patch(b"\xff\xfe" + folder[2:]),
            "slash": patch(folder[:4] + b"/" + folder[5:]),
            "shape": of("windrow_split_shape", [0, 19, 37]),
            "shape short": of("windrow_split_shape", [0]),
            "parts": of("windrow_split_parts", 4),
            "order": of("windrow_split_order", [3, 1, 2]),
            "order large": of("windrow_split_order", [1, LARGEST, 1]),
            "order 0": of("windrow_split_order", [1, 3, 0]),
            "order of what grows": of("windrow_split_order", [2, 3, 1]),
            "no order": of("windrow_split_order", None),
            "overlapping": of("windrow_split_bounds", [0, 0, 0, 9, 8, 19, 0, 36]),
            "twice": of("windrow_split_bounds", [0, 0, 0, 7, 7, 19, 0, 36]),
            "leaving": of("windrow_split_bounds", [0, 0, 0, 7, 13, 20, 0, 36]),
            "negative": of("windrow_split_bounds", [0, 0, 0, -7, 13, 19, 0, 36]),
            "overflowing": of("windrow_split_bounds", [0, 0, 0, 7, 13, LARGEST, 0, LARGEST]),
            "late": of("windrow_split_bounds", [0, 0, 1, 7, 13, 19, 0, 36]),
            "records cut": of("windrow_split_bounds", [0, 4, 0, 7, 13, 19, 0, 36]),
            "bounds short": of("windrow_split_bounds", [0, 0]),
            "no bounds": of("windrow_split_bounds", None),
            "moved": of("windrow_split_bounds", [0, 0, 0, 6, 13, 19, 0, 36]),
            "narrow": of("windrow_split_bounds", np.array([0, 0, 0, 7, 13, 19, 0, 36], "i4")),
            "no dimensions": of("windrow_split_dimensions", None),
            "fewer dimensions": of("windrow_split_dimensions", "time/lat"),
            "other dimensions": of("windrow_split_dimensions", "time/lon/lat"),
            "unknown dimensions": of("windrow_split_dimensions", "time/lat/z"),
            "records in the middle": of("windrow_split_dimensions", "lat/time/lon"),
            "slashes": of("windrow_split_dimensions", "///"),
            "many dimensions": of("windrow_split_dimensions", "/".join(["lon"] * 5000)),
            "large": of("windrow_split_dimensions", "/".join(["lon"] * 12)),
        }
        self.expect_bad_maps(damages)
        random = np.random.default_rng(5)
        for victim in (self.base, self.set / "1.nc"):
            self.expect_survival(victim, random, begin=4, end=3000, bytes_each=4, rounds=25)

    # The base file alone, without its map: its variables are there and not read as scalars.
    def test_a_scalar_is_not_taken_for_the_array(self):
        self.split("files=subfiles(2)")
        with netCDF4.Dataset(self.base, "r+") as f:
            f.delncattr("windrow_folder")
        self.assertIn("19 x 36", windrow("info", self.base))
        self.assertIn("the map of the subfiles is missing", windrow("check", self.base, ranks=1, code=3))


if __name__ == "__main__":
    unittest.main()
