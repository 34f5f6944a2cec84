# SPDX-License-Identifier: BSD-3-Clause
"""Files of netCDF4-python and h5py are copied with what others find in them by name and by order; netCDF4 appends to
copies.

names_test.py WINDROW: the command. Needs h5py and netCDF4 (Debian: python3-h5py, python3-netcdf4); without them it is
skipped.
"""

import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

try:
    import h5py
    import netCDF4
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

WINDROW = sys.argv.pop(1)
ZSTD, ZSTD_LEVELS = 32015, (0, 3, -5)


def contents(group, prefix=""):
    """What netCDF shows of a group: orders and values."""
    found = {prefix + " dimensions": {name: (len(each), each.isunlimited()) for name, each in group.dimensions.items()}}
    found[prefix + " attributes"] = [(name, np.asarray(group.getncattr(name)).tolist()) for name in group.ncattrs()]
    for name, variable in group.variables.items():
        attributes = [(each, np.asarray(variable.getncattr(each)).tolist()) for each in variable.ncattrs()]
        found[f"{prefix}/{name}"] = (
            variable.dimensions,
            np.dtype(variable.dtype).str[1:],
            np.asarray(variable[...]).tolist(),
            attributes,
        )
    for name, each in group.groups.items():
        found.update(contents(each, f"{prefix}/{name}"))
    return found


def shown(path):
    with netCDF4.Dataset(path) as file:
        file.set_auto_mask(False)
        return contents(file)


def fill_like_others(file):
    """Names that several things have, in an order that is not that of names."""
    file.createDimension("time", None)
    for name, length in (("bnds", 2), ("station", 3), ("strlen", 5), ("y", 3), ("x", 4), ("square", 2)):
        file.createDimension(name, length)
    file.zebra, file.ape = "z", 1
    for name, dimensions in (
        ("time", ("time",)), ("time_bnds", ("time", "bnds")), ("bnds", ("time", "bnds")),
        ("station", ("station", "strlen")), ("x", ("y", "x")), ("data", ("time", "station")), ("on_x", ("x",)),
        ("square", ("square", "square")), ("y", ()), ("alpha", ("time", "y", "x")),
    ):  # fmt: skip
        variable = file.createVariable(name, "S1" if name == "station" else "f8", dimensions)
        shape = [2 if each == "time" else len(file.dimensions[each]) for each in dimensions]
        variable[...] = (
            np.full(shape, b"s")
            if name == "station"
            else np.arange(np.prod(shape, dtype=int)).reshape(shape) + len(name)
        )
        variable.units, variable.long_name, variable.axis = "K", name, "X"


class Names(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="windrow names "))
        self.addCleanup(shutil.rmtree, self.folder)
        os.chdir(self.folder)

    def windrow(self, *arguments, code=0):
        done = subprocess.run([WINDROW, *arguments], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def assert_same(self, wanted, found, but=()):
        for key, value in wanted.items():
            self.assertEqual(found.get(key), value, key)
        self.assertEqual([key for key in found if key not in but], list(wanted))

    def make(self, path, **options):
        with netCDF4.Dataset(path, "w", **options) as file:
            fill_like_others(file)
            if options.get("format") == "NETCDF4":
                group = file.createGroup("sub")
                group.createDimension("x", 2)
                group.createVariable("x", "i4", ("y", "x"))[...] = 7
                group.createVariable("y", "i4", ("x",))[...] = 8

    def append(self, path, native=True):
        """netCDF-C changes a file in all the ways that it has; numbers of foreign byte order netCDF4-python 1.6
        writes wrongly, to its own files too."""
        with netCDF4.Dataset(path, "a") as file:
            file.history = "appended"
            file.createDimension("fresh", 2)
            file.createVariable("new", "f4", ("fresh", "station"))[...] = 5
            file.createVariable("fresh", "f8", ("fresh",))[...] = [1, 2]
            file["time"][2] = 9
            file["bnds"][2] = [8, 9]
            file["data"].more = 1
            file.createGroup("later").createVariable("v", "i4", ("x",))[...] = 3
        after = shown(path)
        self.assertEqual(after["/bnds"][2][:2], [[4, 5], [6, 7]])
        if native:
            self.assertEqual((after["/bnds"][2][2:], after["/time"][2]), ([[8, 9]], [4, 5, 9]))
        self.assertEqual(after["/data"][3][-1], ("more", 1))
        self.assertEqual(after["/station"][:1], (("station", "strlen"),))
        self.assertEqual((after["/new"][0], after["/later/v"][0]), (("fresh", "station"), ("x",)))
        return after

    def test_netcdf4_files_are_copied_and_appended_to(self):
        self.make("a.nc4", format="NETCDF4")
        before = shown("a.nc4")
        self.windrow("copy", "--quiet", "a.nc4", "b.h5")
        for key, value in before.items():
            if not key.endswith("dimensions"):
                self.assertEqual(shown("b.h5").get(key), value, key)
        self.assertEqual([key for key in shown("b.h5")], [key for key in before])
        self.assertEqual(shown("b.h5")[" dimensions"], before[" dimensions"])
        with h5py.File("b.h5") as file:
            self.assertEqual(
                sorted(name for name in file if name.startswith("_nc4")),
                [f"_nc4_non_coord_{name}" for name in ("bnds", "x", "y")],
            )
            self.assertEqual([file["alpha"].dims[i][0].name for i in range(3)], ["/time", "/y", "/x"])
            self.assertEqual(
                list(file["station"].attrs["_Netcdf4Coordinates"]),
                [file[name].attrs["_Netcdf4Dimid"] for name in ("station", "strlen")],
            )
            self.assertNotIn("_nc3_strict", file.attrs)
            self.assertEqual(
                [
                    "REFERENCE_LIST" in file[name].attrs
                    for name in ("bnds", "_nc4_non_coord_bnds", "y", "_nc4_non_coord_y")
                ],
                [True, False, True, False],
            )
        after = self.append("b.h5")
        self.windrow("check", "--quiet", "b.h5")
        self.windrow("copy", "--quiet", "b.h5", "c.h5")
        for key, value in after.items():
            self.assertEqual(shown("c.h5").get(key), value, key)
        self.append_own("c.h5")

    def append_own(self, path):
        """To what netCDF has changed, and Windrow copied, netCDF adds once more."""
        with netCDF4.Dataset(path, "a") as file:
            file.createVariable("newest", "f4", ("y", "fresh"))[...] = 6
        self.assertEqual(shown(path)["/newest"][0], ("y", "fresh"))

    def test_classic_files_are_copied_both_ways(self):
        self.make("a.nc", format="NETCDF3_CLASSIC")
        before = shown("a.nc")
        for name in ("b.nc", "b.h5"):
            self.windrow("copy", "--quiet", "a.nc", name)
            found = shown(name)
            self.assertEqual({key: value for key, value in found.items()}, before, name)
            self.assertEqual([key for key in found if "/" in key], [key for key in before if "/" in key], name)
        self.append("b.h5", native=False)
        self.windrow("copy", "--quiet", "a.nc", "c.raw", "--format", "raw")
        self.windrow("copy", "--quiet", "c.raw", "c.h5")
        self.assertEqual(shown("c.h5")["/bnds"][0], ("time", "bnds"))
        with netCDF4.Dataset("classic.nc4", "w", format="NETCDF4_CLASSIC") as file:
            fill_like_others(file)
        self.windrow("copy", "--quiet", "classic.nc4", "d.nc")
        self.assertEqual(shown("d.nc"), shown("classic.nc4"))

    def test_variables_that_have_the_name_of_the_unlimited_dimension(self):
        """Of other dimensions, of none, of as many elements as records, and in a group."""
        kinds = {
            "other": (("t", ("n",)), ("r", ("t",))),
            "scalar": (("t", ()), ("r", ("t",))),
            "two users": (("t", ("n",)), ("r", ("t",)), ("s", ("t", "n"))),
            "last": (("s", ("t", "n")), ("r", ("t",)), ("t", ("n",))),
            "as long": (("r", ("t",)), ("t", ("three",)), ("three", ("t",))),
            "second": (("r", ("t",)), ("t", ("n", "three"))),
            "along both": (("r", ("t",)), ("n", ("t", "n")), ("t", ("n", "three")), ("three", ())),
        }
        for (case, variables), kind in itertools.product(kinds.items(), ("NETCDF3_CLASSIC", "NETCDF4")):
            with netCDF4.Dataset("a.nc", "w", format=kind) as file:
                for name, length in (("n", 2), ("t", None), ("three", 3), ("unused", 4)):
                    file.createDimension(name, length)
                groups = [file, file.createGroup("below")] if kind == "NETCDF4" else [file]
                for group, (name, dimensions) in itertools.product(groups, variables):
                    shape = [3 if each == "t" else len(file.dimensions[each]) for each in dimensions]
                    values = np.arange(np.prod(shape, dtype=int)).reshape(shape)
                    group.createVariable(name, "i4", dimensions)[...] = values + len(group.path)
            before = shown("a.nc")
            for name in ("b.nc", "b.h5") if kind == "NETCDF3_CLASSIC" else ("b.h5",):
                with self.subTest(case=case, source=kind, target=name):
                    self.windrow("copy", "--quiet", "a.nc", name)
                    found = shown(name)
                    self.assertEqual(list(found.items()), list(before.items()))
                    self.assertEqual(list(found[" dimensions"]), list(before[" dimensions"]))
                    self.windrow("check", "--quiet", name)
        self.windrow("copy", "--quiet", "a.nc", "c.raw")  # where no dimension is unlimited
        self.windrow("copy", "--quiet", "c.raw", "c.h5")
        found = shown("c.h5")
        for key, value in before.items():
            if "/" in key:
                self.assertEqual(found[key], value, key)

    def test_unlimited_dimensions_of_variables_that_windrow_does_not_extend(self):
        with netCDF4.Dataset("a.nc4", "w") as file:
            for name, length in (("n", 2), ("t", None), ("u", None)):
                file.createDimension(name, length)
            file.createVariable("second", "i4", ("n", "t"))[...] = [[1, 2, 3], [4, 5, 6]]
            file.createVariable("text", str, ("u",))[...] = np.array(["x", "y"], object)
        before = shown("a.nc4")
        self.windrow("copy", "--quiet", "a.nc4", "b.h5")
        found = shown("b.h5")
        self.assertEqual([found[key] for key in ("/second", "/text")], [before[key] for key in ("/second", "/text")])
        self.assertEqual([found[" dimensions"][name][0] for name in "ntu"], [2, 3, 2])

    def test_sets_of_subfiles(self):
        self.make("a.nc4", format="NETCDF4")
        before = shown("a.nc4")
        self.windrow("copy", "--quiet", "a.nc4", "s.h5", "--set", "files=subfiles(2)")
        self.windrow("copy", "--quiet", "s.h5", "b.h5")
        for name in ("s.h5", "b.h5"):
            found = shown(name)
            for key, (dimensions, kind, values, _) in (
                (key, value) for key, value in before.items() if "/" in key and len(value) == 4
            ):
                self.assertEqual(found[key][:3], (dimensions, kind, values), f"{name}{key}")
        with netCDF4.Dataset("s.h5", "a") as file:
            file.history = "appended"
            file.createVariable("new", "f4", ("station",))[...] = 5
        self.assertEqual(shown("s.h5")["/new"][0], ("station",))
        self.assertEqual(shown("s.h5")["/bnds"][:3], before["/bnds"][:3])

    def test_other_readers(self):
        self.make("a.nc4", format="NETCDF4")
        self.windrow("copy", "--quiet", "a.nc4", "b.h5")
        subprocess.run(["h5dump", "b.h5"], check=True, stdout=subprocess.DEVNULL)
        try:
            import xarray
        except ImportError:
            return
        hidden = ["bnds", "station", "x", "square", "y"]  # that xarray does not open, from any program
        for engine in ("netcdf4", "h5netcdf"):
            try:
                with xarray.open_dataset("b.h5", engine=engine, drop_variables=hidden, decode_times=False) as data:
                    self.assertEqual(data["alpha"].dims, ("time", "y", "x"), engine)
                    self.assertEqual(float(data["alpha"][1, 2, 3]), 28, engine)
            except (ImportError, ValueError) as error:
                self.assertIn("engine", str(error))

    def test_dimensions_that_only_numbers_name(self):
        """Scales without netCDF's numbers get them when one is added, as netCDF counts them: by h5py in the order of
        names, here not that of creation."""
        with h5py.File("a.h5", "w", track_order=True) as file:
            for name in ("z", "a"):
                file[name] = np.arange(3.0)
                file[name].make_scale(name)
            file["v"] = np.zeros((3, 3))
            file["v"].dims[0].attach_scale(file["z"])
            file["v"].dims[1].attach_scale(file["a"])
        self.windrow("copy", "--quiet", "a.h5", "b.h5")
        self.assertEqual(shown("b.h5")["/v"][0], ("z", "a"))
        self.assertEqual(list(shown("b.h5")[" dimensions"]), ["z", "a"])

    def test_levels_of_zstd(self):
        for level in ZSTD_LEVELS:
            with h5py.File("a.h5", "w") as file:
                create = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
                create.set_chunk((10,))
                create.set_filter(ZSTD, h5py.h5z.FLAG_OPTIONAL, (level % 2**32,))
                try:
                    h5py.h5d.create(file.id, b"x", h5py.h5t.NATIVE_INT32, h5py.h5s.create_simple((100,)), create)
                except ValueError:
                    return
            self.windrow("check", "--quiet", "a.h5")
            if "not built in" in self.windrow("copy", "--quiet", "a.h5", "b.h5", code=0):
                return
            with h5py.File("b.h5") as file:
                self.assertEqual(file["x"].id.get_create_plist().get_filter(0)[2], (level % 2**32,))

    def test_a_fill_value_of_another_type(self):
        with h5py.File("a.h5", "w") as file:
            for name, kind, value in (
                ("short", "i2", np.float64(-999)),
                ("float", "f4", np.float64(1e20)),
                ("double", "f8", np.int32(-1)),
                ("same", "i4", np.int32(5)),
            ):
                file[name] = np.arange(3, dtype=kind)
                file[name].attrs["_FillValue"] = np.array([value])
        self.windrow("copy", "--quiet", "a.h5", "b.h5")
        with h5py.File("b.h5") as file:
            self.assertEqual(
                {name: file[name].attrs["_FillValue"].dtype.str for name in file},
                {"short": "<f8", "float": "<f8", "double": "<i4", "same": "<i4"},
            )
        self.windrow("copy", "--quiet", "a.h5", "b.nc")
        with netCDF4.Dataset("b.nc") as file:
            self.assertEqual(
                [file[name]._FillValue for name in ("short", "float", "double", "same")],
                [-999, np.float32(1e20), -1, 5],
            )

    def test_a_fill_value_that_its_type_does_not_have(self):
        outside = "its value, of type {}, is outside of the values of the variable's type, {}"
        for kind, value, reason in (
            ("i2", np.array([0.5]), outside.format("float64", "int16")),
            ("i2", np.array([99999], "i4"), outside.format("int32", "int16")),
            ("f4", np.array([1e300]), outside.format("float64", "float32")),
            ("f4", np.array([1.0, 2.0]), "it has 2 values; a fill value is a single one"),
        ):
            with h5py.File("a.h5", "w") as file:
                file["v"] = np.arange(3, dtype=kind)
                file["v"].attrs["_FillValue"] = value
            self.assertIn(
                f'attribute "_FillValue" of "/v": {reason}', self.windrow("copy", "--quiet", "a.h5", "c.nc", code=3)
            )

    def test_hard_links_are_named(self):
        with h5py.File("a.h5", "w") as file:
            file["first"] = np.arange(3)
            file["second"] = file["first"]
            file["group/back"] = file["/"]
            file["soft"] = h5py.SoftLink("/first")
        changed = [
            "/group/back: a hard link, copied as a soft link to /",
            "/second: a hard link, copied as a soft link to /first",
        ]
        said = self.windrow("copy", "a.h5", "b.h5")
        self.assertEqual(
            sorted(line for line in said.splitlines() if "hard link" in line),
            ["windrow: changed: " + line for line in changed],
        )
        self.assertEqual(sorted(json.loads(self.windrow("copy", "--json", "a.h5", "b.h5"))["changed"]), changed)
        self.assertEqual(self.windrow("copy", "--quiet", "a.h5", "b.h5"), "")
        with h5py.File("b.h5") as file:
            self.assertEqual(
                {name: file.get(name, getlink=True).path for name in ("second", "soft", "group/back")},
                {"second": "/first", "soft": "/first", "group/back": "/"},
            )
            self.assertEqual(list(file["group/back/second"]), [0, 1, 2])
        links = {each["path"]: each["hard"] for each in json.loads(self.windrow("info", "--json", "a.h5"))["links"]}
        self.assertEqual(links, {"/second": True, "/soft": False, "/group/back": True})
        self.assertEqual(json.loads(self.windrow("copy", "--json", "b.h5", "c.h5"))["changed"], [])

    def test_the_deepest_objects(self):
        with h5py.File("a.h5", "w") as file:
            group = file.create_group("/".join(["g"] * 200))
            group["v"] = np.arange(3)
            group["soft"] = h5py.SoftLink("v")
            group.create_group("deeper")["w"] = np.arange(4)
        for arguments in (("check", "a.h5"), ("copy", "a.h5", "b.h5")):
            self.assertIn("nested deeper than 200 groups", self.windrow(*arguments, code=3))
        with h5py.File("a.h5", "a") as file:
            del file["/".join(["g"] * 200 + ["deeper"])]
        self.windrow("check", "--quiet", "a.h5")
        self.windrow("copy", "--quiet", "a.h5", "b.h5")
        with h5py.File("b.h5") as file:
            for name in ("v", "soft"):
                self.assertEqual(list(file["/".join(["g"] * 200 + [name])]), [0, 1, 2])

    def test_refusals_say_why(self):
        with h5py.File("a.h5", "w") as file:
            odd = h5py.h5t.STD_I32LE.copy()
            odd.set_precision(12)
            odd.set_offset(3)
            h5py.h5d.create(file.id, b"odd", odd, h5py.h5s.create_simple((4,)))
            file["half"] = np.zeros(2, "f2")
        self.assertIn(
            "integer type of 12 bits in 4 bytes, the first is bit 3", self.windrow("copy", "a.h5", "b.h5", code=3)
        )

    def test_many_variables_along_one_dimension_open_in_no_time(self):
        with netCDF4.Dataset("a.nc4", "w") as file:
            file.createDimension("x", 2)
            for number in range(2000):
                file.createVariable(f"v{number}", "f4", ("x",))
        begin = time.process_time(), os.times().children_user
        self.windrow("info", "a.nc4")
        self.windrow("copy", "--quiet", "a.nc4", "b.h5")
        self.assertLess(os.times().children_user - begin[1], 12)
        with h5py.File("b.h5") as file:
            self.assertEqual(len(file["x"].attrs["REFERENCE_LIST"]), 2000)
        self.assertEqual(len(shown("b.h5")), 2002)

    def test_what_nobody_has_written_is_neither_read_nor_copied(self):
        with h5py.File("a.h5", "w") as file:
            line = file.create_dataset("line", (1 << 32,), "i1", chunks=(1 << 16,), compression="gzip", fillvalue=3)
            line[5 << 20], line[(1 << 32) - 1] = 7, 8
            plane = file.create_dataset(
                "plane", (1, 1 << 16, 1 << 16), "i1", chunks=(1, 64, 1024), maxshape=(None, 1 << 16, 1 << 16)
            )
            plane[0, 1000:1200, 5000:6000] = 9
            file.create_dataset("none", (1 << 33,), "i1")
            file.create_dataset("never", (1 << 32,), "i1", chunks=(1 << 20,))
        begin = time.monotonic()
        self.windrow("check", "--quiet", "a.h5")
        self.windrow("copy", "--quiet", "a.h5", "b.h5")
        self.assertLess(time.monotonic() - begin, 30)
        self.assertLess(os.stat("b.h5").st_blocks * 512, 24 << 20)
        with h5py.File("b.h5") as file:
            self.assertEqual([int(file["line"][i]) for i in (0, 5 << 20, (5 << 20) + 1, (1 << 32) - 1)], [3, 7, 3, 8])
            self.assertTrue(
                (file["plane"][0, 1000:1200, 5000:6000] == 9).all() and not file["plane"][0, 900:1000, 4000:7000].any()
            )
            self.assertFalse(file["none"][-5:].any() or file["never"][:5].any())
            self.assertEqual(file["never"].id.get_storage_size(), 0)
        with h5py.File("s.h5", "w") as file:  # what the copy has not the same chunks of is written as a whole
            small = file.create_dataset("small", (32 << 20,), "i1", chunks=(1 << 20,), fillvalue=5)
            small[1 << 20] = 6
        self.windrow("copy", "--quiet", "s.h5", "t.h5", "--set", "chunks=none")
        with h5py.File("t.h5") as file:
            self.assertEqual([int(file["small"][i]) for i in (0, 1 << 20, (32 << 20) - 1)], [5, 6, 5])


if __name__ == "__main__":
    unittest.main()
