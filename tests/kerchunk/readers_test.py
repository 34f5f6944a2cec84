# SPDX-License-Identifier: BSD-3-Clause
"""What reference files lead zarr and xarray to: every element, as h5py and scipy read it from the file itself.

Arguments: the command windrow, the launcher, the program that writes one file of every kind of thing.
"""

import contextlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

try:
    import fsspec
    import h5py
    import numpy as np
    import scipy.io
    import xarray
    import zarr
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

COMMAND, LAUNCHER, KINDS = sys.argv[1], shlex.split(sys.argv[2]), sys.argv[3]
LIMIT_S = 60  # a hang is a failure


def run(*command, code=0):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=LIMIT_S)
    if done.returncode != code:
        raise AssertionError(f"{command}: {done.returncode}, not {code}\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
    return done.stdout + done.stderr


def windrow(*arguments, ranks=2, code=0):
    return run(*([*LAUNCHER, "-n", ranks] if ranks > 1 else []), COMMAND, *arguments, code=code)


def built_in(feature):
    return f"{feature}\n" in run(COMMAND, "info", "--features")


def settings(*each):
    return [word for one in each for word in ("--set", one)]


@contextlib.contextmanager
def inside(folder):
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def arrays(text):
    return zarr.open_group(fsspec.get_mapper("reference://", fo=str(text), skip_instance_cache=True), mode="r")


def dataset(text, **more):
    storage = {"fo": str(text), "skip_instance_cache": True}
    return xarray.open_dataset(
        "reference://", engine="zarr", backend_kwargs={"consolidated": False, "storage_options": storage}, **more
    )


NETCDF = unittest.skipUnless(built_in("format netcdf"), "built without PnetCDF")


class References(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="windrow references "))
        self.addCleanup(shutil.rmtree, self.folder)
        self.plain, self.base, self.text = (self.folder / name for name in ("plain.h5", "a.h5", "a.h5.kerchunk.json"))
        self.numbers = np.arange(24 * 6 * 5).reshape(24, 6, 5)

    def expect(self, text, expected):
        with inside(self.folder):
            group = arrays(text)
            for name, array in expected.items():
                found = group[name][...]
                self.assertEqual(found.dtype, array.dtype, name)
                self.assertEqual(found.shape, array.shape, name)
                np.testing.assert_array_equal(found, array, name)

    def test_every_kind_of_thing(self):
        kinds, climate = self.folder / "all kinds.h5", self.folder / "climate.nc4"
        run(*LAUNCHER, "-n", 3, KINDS, kinds, climate)
        told = windrow("references", kinds, code=3)
        left_out = {line.split('"')[1] for line in told.splitlines() if "omitted: variable" in line}
        self.assertEqual(left_out, {"/opaque", "/null", "/words"})
        expected = {}
        with h5py.File(kinds) as f:
            f.visititems(
                lambda name, each: expected.update({name: each[()]})
                if isinstance(each, h5py.Dataset) and f"/{name}" not in left_out
                else None
            )
        self.assertEqual(len(expected), 14)
        expected["text"] = expected["text"].astype("S4")
        self.expect(f"{kinds}.kerchunk.json", {name: np.asarray(value) for name, value in expected.items()})
        with inside(self.folder):
            group = arrays(f"{kinds}.kerchunk.json")
            self.assertEqual(group.attrs["title"], "every kind of thing")
            self.assertEqual(group.attrs["three"], [1, 2, 3])
            self.assertTrue(
                (dataset(f"{kinds}.kerchunk.json", group="numbers")["ε"].values == 0.5 * np.arange(50)).all()
            )

    # Masks, times and attributes as by netCDF's own reader.
    def test_a_climate_is_the_same_to_xarray(self):
        kinds, climate = self.folder / "kinds.h5", self.folder / "climate.nc4"
        run(*LAUNCHER, "-n", 3, KINDS, kinds, climate)
        for out, more in (
            (climate, []),
            (self.folder / "split.nc4", settings("files=subfiles(2)", "references=kerchunk")),
        ):
            with self.subTest(out=out.name):
                if more:
                    windrow("copy", climate, out, *more, ranks=3)
                else:
                    windrow("references", out)
                with inside(self.folder), xarray.open_dataset(climate, engine="h5netcdf") as own:
                    other = dataset(f"{out}.kerchunk.json")
                    left_out = {
                        line.split('"')[1][1:]
                        for line in json.loads(Path(f"{out}.kerchunk.json").read_text()).get("windrow_left_out", [])
                    }
                    self.assertEqual(
                        left_out,
                        {"temperature"} if more else set(),
                        "one chunk that is cut into parts has no references",
                    )
                    own = own.drop_vars(left_out)
                    self.assertEqual(set(other.variables), set(own.variables))
                    xarray.testing.assert_identical(other.load(), own.load())
                    self.assertTrue(np.isnan(other["pressure"].values).any(), "some are missing")

    def test_split_arrays_are_one(self):
        values = {
            "f8": self.numbers.astype("f8"),
            "f4": self.numbers.astype(">f4"),
            "i2": self.numbers.astype("i2"),
            "c16": self.numbers + 1j,
            "flag": self.numbers % 2 == 0,
            "g/text": np.char.add("n", self.numbers.astype(str)).astype("S8"),
        }
        with h5py.File(self.plain, "w") as f:
            for name, array in values.items():
                f[name] = array
            f["f8"].attrs["units"] = "K"
            f["scalar"] = 5
        values["scalar"] = np.array(5)
        ways = (
            ["files=subfiles(3)"],
            ["files=subfiles(5)"],
            ["files=subfiles(4)", "split=0,1"],
            ["files=subfiles(3)", "split_parts=20+3+1x1x1"],
            ["files=subfiles(6)", "split_parts=1x2x3"],
            ["files=subfiles(8)", "split_parts=2x2x2"],
            ["files=subfiles(6)", "split_parts=5+19x2+4x1"],
        )
        for ranks, way in enumerate(ways, 1):
            with self.subTest(way=way):
                windrow("copy", self.plain, self.base, *settings("references=kerchunk", *way), ranks=1 + ranks % 3)
                refs = json.loads(self.text.read_text())["refs"]
                self.assertGreater(len({value[0] for value in refs.values() if isinstance(value, list)}), 2)
                self.assertNotIn("windrow", str([value for key, value in refs.items() if key.endswith(".zattrs")]))
                self.expect(self.text, values)
                with inside(self.folder):
                    found = dataset(self.text)
                    self.assertEqual(found["f8"].attrs["units"], "K")
                    self.assertTrue((found["f8"].values == values["f8"]).all())
                    self.assertTrue((found["f8"][7:19, 2].values == values["f8"][7:19, 2]).all())
                self.assertEqual([each.name for each in self.folder.iterdir() if each.name.startswith(".")], [])
                written = self.text.read_text()
                windrow("references", self.base, ranks=3)
                self.assertEqual(self.text.read_text(), written, "the command writes the same")

    def test_chunks_and_filters(self):
        noise = np.random.default_rng(1).integers(0, 50, (37, 11)).astype("i4")
        with h5py.File(self.plain, "w") as f:
            f.create_dataset("deflate", data=noise, chunks=(8, 4), compression="gzip", compression_opts=6)
            f.create_dataset(
                "all", data=noise.astype(">f8"), chunks=(8, 4), compression="gzip", shuffle=True, fletcher32=True
            )
            f.create_dataset("sum", data=noise, chunks=(8, 4), fletcher32=True)
            part = f.create_dataset(
                "part", (37, 11), "i4", chunks=(8, 4), compression="gzip", shuffle=True, fillvalue=-3
            )
            part[3:20] = noise[3:20]
            masked = f.create_dataset("masked", (37, 11), "f4", chunks=(8, 4), fillvalue=-1)
            masked[9] = 2
            masked.attrs["_FillValue"] = np.float32(-1)
            skips = f.create_dataset("skips", (16,), "i4", chunks=(8,), compression="gzip")
            skips[:8] = 3
            skips.id.write_direct_chunk((8,), np.arange(8, dtype="i4").tobytes(), filter_mask=1)
            f.create_dataset("lzf", data=noise, chunks=(8, 4), compression="lzf")
            f.create_dataset("never", (3, 4), "f8", fillvalue=2)
            # It was never written: 1024 chunks of zeros, 4 GiB
            f.create_dataset("huge", (1 << 30,), "i4", chunks=(1 << 20,))
            f.create_dataset("none", (0, 4), "f8", maxshape=(None, 4))
            expected = {name: f[name][...] for name in ("deflate", "all", "sum", "part", "masked", "never", "none")}
        told = windrow("references", self.plain, code=3)
        self.assertRegex(told, r'omitted: variable "/lzf": .*lzf|omitted: variable "/lzf": .*32000')
        self.assertIn('omitted: variable "/skips": a filter was skipped for some of its chunks', told)
        self.assertRegex(told, r'omitted: variable "/huge": 1024 of its chunks were never written')
        self.expect(f"{self.plain}.kerchunk.json", expected)
        with inside(self.folder):
            self.assertEqual(int(np.isnan(dataset(f"{self.plain}.kerchunk.json")["masked"].values).sum()), 36 * 11)

    # Parts that are of whole chunks: one regular grid over all subfiles. Given lengths need not be so, and are left
    # out with that reason.
    def test_split_chunks_are_one_grid(self):
        noise = np.random.default_rng(3).integers(0, 50, (37, 11, 5)).astype("i4")
        chunks = {"chunks": (8, 4, 5)}
        with h5py.File(self.plain, "w") as f:
            f.create_dataset("a deflate", data=noise, compression="gzip", **chunks)
            f.create_dataset(
                "all", data=noise.astype(">f8"), compression="gzip", shuffle=True, fletcher32=True, **chunks
            )
            f.create_dataset("plain", data=noise, **chunks)
            part = f.create_dataset("part", noise.shape, "i4", compression="gzip", fillvalue=-3, **chunks)
            part[3:20, 2:9] = noise[3:20, 2:9]
            f.create_dataset("grows", data=noise, maxshape=(None, 11, 5), compression="gzip", **chunks)
            f["whole"] = noise
            expected = {name: f[name][...] for name in f}
        ways = (
            ["files=subfiles(2)"],
            ["files=subfiles(4)", "split=0"],
            ["files=subfiles(4)", "split=0,1"],
            ["files=subfiles(4)", "split_parts=8+8+16+5x1x1"],
            ["files=subfiles(6)", "split_parts=3x2x1"],
            ["files=subfiles(2)", "split_parts=1x4+7x1"],
            ["files=subfiles(5)", "split=2"],
        )
        for ranks, way in enumerate(ways, 1):
            with self.subTest(way=way):
                windrow("copy", self.plain, self.base, *settings("references=kerchunk", *way), ranks=1 + ranks % 5)
                written = self.text.read_text()
                lines = json.loads(written).get("windrow_left_out", [])
                self.assertTrue(all("its parts do not end at chunk boundaries" in line for line in lines), lines)
                left_out = {line.split('"')[1][1:] for line in lines}
                # The last part of 5 rows has shorter chunks. Of what grows the first dimension is not cut, and the
                # second has two chunks for four parts.
                self.assertEqual(
                    left_out,
                    {"a deflate", "all", "plain", "part"}
                    if "8+8+16+5" in way[-1]
                    else {"grows"}
                    if way[-1] == "split=0,1"
                    else set(),
                )
                self.expect(self.text, {name: array for name, array in expected.items() if name not in left_out})
                windrow("references", self.base, ranks=3, code=3 if left_out else 0)
                self.assertEqual(self.text.read_text(), written, "the command writes the same")
        (gone,) = (
            each
            for each in self.folder.glob("a.h5.subfiles-*/1.h5")
            if not (each.parent / ".windrow-replaced").exists()
        )
        gone.unlink()
        told = windrow("references", self.base, ranks=2, code=3)
        self.assertRegex(told, r'omitted: variable "/a deflate": subfile ".*/1.h5" is missing')
        self.assertNotIn("1.h5", str(json.loads(self.text.read_text())["refs"]))

    def test_filters_of_plugins(self):
        noise = np.random.default_rng(2).integers(0, 50, (64, 48)).astype("f8")
        with h5py.File(self.plain, "w") as f:
            f["v"] = noise
        for name, filters in (
            ("zstd", "shuffle,zstd:3"),
            ("blosc", "blosc:lz4:5"),
            ("blosc", "blosc:zstd:3,fletcher32"),
            ("lz4", "lz4"),
        ):
            if not built_in(f"filter {name}"):
                continue
            with self.subTest(filters=filters):
                left_out = windrow(
                    "copy",
                    self.plain,
                    self.base,
                    *settings("references=kerchunk", f"filters={filters}", "chunks=16x10"),
                )
                if name == "lz4":
                    self.assertIn("lz4", json.loads(self.text.read_text())["windrow_left_out"][0], left_out)
                    windrow("references", self.base, code=3)
                else:
                    self.expect(self.text, {"v": noise})

    @NETCDF
    def test_netcdf_classic_with_records(self):
        path = self.folder / "records.nc"
        with scipy.io.netcdf_file(path, "w", version=2) as f:
            f.title = "records"
            for name, length in (("time", None), ("x", 5), ("word", 3)):
                f.createDimension(name, length)
            made = {
                "time": ("f8", ("time",)),
                "short": ("i2", ("time", "x")),
                "real": ("f4", ("time", "x")),
                "fixed": ("i4", ("x",)),
                "letters": ("S1", ("x", "word")),
            }
            for name, (kind, dimensions) in made.items():
                f.createVariable(name, np.dtype(kind), dimensions)
            f.variables["real"].units = "m"
            f.variables["fixed"][:] = np.arange(5) * 7
            f.variables["letters"][:] = np.frombuffer(b"onetwosixtenzwo", "S1").reshape(5, 3)
            for record in range(4):
                f.variables["time"][record] = record / 2
                f.variables["short"][record] = np.arange(5) + 10 * record
                f.variables["real"][record] = np.arange(5) / 4 - record
        windrow("references", path, ranks=3)
        with inside(self.folder), xarray.open_dataset(path, engine="scipy") as own:
            other = dataset(f"{path}.kerchunk.json")
            xarray.testing.assert_identical(other.load(), own.load())
            self.assertEqual(other["real"].encoding["chunks"], (1, 5))
        written = self.folder / "again.nc"
        windrow("copy", path, written, *settings("references=kerchunk"), ranks=3)
        with inside(self.folder), xarray.open_dataset(path, engine="scipy") as own:
            xarray.testing.assert_identical(dataset(f"{written}.kerchunk.json").load(), own.load())

    # Big-endian parts after headers of their own; for a growing variable a chunk per record and part.
    @NETCDF
    def test_sets_of_netcdf_classic(self):
        path, base = self.folder / "plain.nc", self.folder / "a.nc"
        numbers = self.numbers.astype("f4")
        with scipy.io.netcdf_file(path, "w", version=2) as f:
            for name, length in (("time", None), ("x", 24), ("y", 30)):
                f.createDimension(name, length)
            made = {
                "x": ("f8", ("x",)),
                "fixed": ("f4", ("x", "y")),
                "short": ("i2", ("x", "y")),
                "real": ("f8", ("time", "x", "y")),
                "count": ("i4", ("time", "x")),
                "time": ("f8", ("time",)),
            }
            for name, (kind, dimensions) in made.items():
                f.createVariable(name, np.dtype(kind), dimensions)
            f.variables["fixed"].units = "K"
            f.variables["x"][:] = np.arange(24) / 8
            f.variables["fixed"][:] = numbers.reshape(24, 30)
            f.variables["short"][:] = numbers.reshape(24, 30)
            for record in range(4):
                f.variables["real"][record] = numbers.reshape(24, 30) / 4 - record
                f.variables["count"][record] = np.arange(24) + 100 * record
                f.variables["time"][record] = record / 2
        ways = (
            ["files=subfiles(3)"],
            ["files=subfiles(5)"],
            ["files=subfiles(4)", "split=0,1"],
            ["files=subfiles(3)", "split=1"],
            ["files=subfiles(2)", "checksum=on"],
        )
        for ranks, way in enumerate(ways, 1):
            with self.subTest(way=way):
                windrow("copy", path, base, *settings("references=kerchunk", *way), ranks=1 + ranks % 3)
                text = self.folder / "a.nc.kerchunk.json"
                refs = json.loads(text.read_text())
                self.assertEqual(refs.get("windrow_left_out", []), [])
                self.assertGreater(len({value[0] for value in refs["refs"].values() if isinstance(value, list)}), 2)
                self.assertNotIn(
                    "windrow", str([value for key, value in refs["refs"].items() if key.endswith(".zattrs")])
                )
                with inside(self.folder), xarray.open_dataset(path, engine="scipy") as own:
                    other = dataset(text)
                    self.assertEqual(set(other.variables), set(own.variables))
                    xarray.testing.assert_identical(other.load(), own.load())
                    self.assertEqual(arrays(text)["fixed"].dtype, np.dtype(">f4"))
                    self.assertEqual(other["real"].encoding["chunks"][0], 1)
                written = text.read_text()
                windrow("references", base, ranks=3)
                self.assertEqual(text.read_text(), written, "the command writes the same")

    def test_raw_bytes(self):
        with h5py.File(self.plain, "w") as f:
            f["v"], f["w"] = self.numbers.astype(">i4"), self.numbers / 2
        raw = self.folder / "a.raw"
        windrow("copy", self.plain, raw, *settings("references=kerchunk"))
        self.expect(f"{raw}.kerchunk.json", {"v": self.numbers.astype(">i4"), "w": self.numbers / 2})

    def test_what_would_have_too_many_references_is_left_out(self):
        with h5py.File(self.plain, "w") as f:
            f["v"] = np.arange(1_200_001, dtype="i1")
            f["w"] = np.arange(1_200_000, dtype="i1")
        windrow("copy", self.plain, self.base, *settings("files=subfiles(2)", "references=kerchunk"))
        told = windrow("references", self.base, code=3)
        self.assertRegex(
            told,
            r'omitted: variable "/v": in chunks of 1 element, the common divisor of all part boundaries, the file '
            r"would have more than 1000000",
        )
        self.assertNotIn('"/w"', told)
        self.expect(self.text, {"w": np.arange(1_200_000).astype("i1")})

    def test_from_elsewhere(self):
        with h5py.File(self.plain, "w") as f:
            f["v"] = self.numbers.astype("f4")
        windrow("copy", self.plain, self.base, *settings("files=subfiles(3)"))
        elsewhere = Path(tempfile.mkdtemp(prefix="windrow elsewhere "))
        self.addCleanup(shutil.rmtree, elsewhere)
        windrow("references", self.base, "--output", elsewhere / "a.json")
        windrow("references", self.base, "--prefix", f"file://{self.folder}/")
        for text in (elsewhere / "a.json", self.text):
            self.assertTrue((arrays(text)["v"][...] == self.numbers).all(), text)
        (gone,) = (
            each
            for each in self.folder.glob("a.h5.subfiles-*/1.h5")
            if not (each.parent / ".windrow-replaced").exists()
        )
        gone.unlink()
        told = windrow("references", self.base, code=3)
        self.assertRegex(told, r'omitted: variable "/v": subfile ".*/1.h5" is missing')
        # A text that is older: an error, or not a number; nothing is made up.
        array = arrays(elsewhere / "a.json")["v"]
        for rows in (slice(8, 9), slice(8, 16), slice(0, 24)):
            try:
                found = array[rows]
            except (KeyError, OSError, RuntimeError):
                continue
            self.assertTrue(np.isnan(found[8 - rows.start : 16 - rows.start]).all(), rows)
        self.assertTrue((array[:8] == self.numbers[:8]).all())

    def test_a_new_file_has_new_references_or_none_is_touched(self):
        with h5py.File(self.plain, "w") as f:
            f["v"] = self.numbers
        self.text.mkdir()
        self.assertIn(
            "is a directory", windrow("copy", self.plain, self.base, *settings("references=kerchunk"), code=2)
        )
        self.assertEqual(sorted(each.name for each in self.folder.iterdir()), [self.text.name, "plain.h5"])
        self.text.rmdir()
        for rows in (24, 7):
            with h5py.File(self.plain, "w") as f:
                f["v"] = self.numbers[:rows]
            windrow("copy", self.plain, self.base, *settings("references=kerchunk", "files=subfiles(2)"))
            self.expect(self.text, {"v": self.numbers[:rows]})
        # A new file without one: the text would lead readers to other bytes. The text of another program stays.
        windrow("copy", self.plain, self.base)
        self.assertFalse(self.text.exists())
        self.text.write_text('{"version": 1, "refs": {}}')
        windrow("copy", self.plain, self.base)
        self.assertTrue(self.text.exists())

    def test_through_a_link_it_stands_beside_the_file(self):
        with h5py.File(self.base, "w") as f:
            f["v"] = self.numbers
        elsewhere = Path(tempfile.mkdtemp(prefix="windrow elsewhere "))
        self.addCleanup(shutil.rmtree, elsewhere)
        (elsewhere / "link.h5").symlink_to(self.base)
        self.assertIn(f"wrote {self.text.resolve()}", windrow("references", elsewhere / "link.h5"))
        self.assertTrue(self.text.exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
