# SPDX-License-Identifier: BSD-3-Clause
"""Sets of subfiles with other programs: h5py and h5dump read one array, and their errors; hostile maps.

Run by CTest with WINDROW_COMMAND, WINDROW_MPIRUN and WINDROW_APPEND, the program append, in the environment.
"""

import os
import resource
import shutil
import subprocess
import sys
import time
import unittest
from pathlib import Path

import h5py
import numpy as np

sys.path.append(str(Path(__file__).parent.parent))
from sets import LARGEST, LAUNCHER, LIMIT_S, SetOfSubfiles, settings, windrow  # noqa: E402


class Sets(SetOfSubfiles, unittest.TestCase):
    def setUp(self):
        super().setUp()
        numbers = np.arange(24 * 6 * 5).reshape(24, 6, 5)
        self.arrays = {
            "f8": numbers.astype("f8"),
            "f4": numbers.astype(">f4"),
            "i2": numbers.astype("i2"),
            "u1": (numbers % 200).astype("u1"),
            "c16": numbers + 1j,
            "flag": numbers % 2 == 0,
            "g/text": np.char.add("n", numbers.astype(str)).astype("S8"),
        }
        with h5py.File(self.plain, "w") as f:
            for name, array in self.arrays.items():
                f[name] = array
            f["f8"].attrs["units"] = "K"
            f["scalar"] = 5

    def expect_all(self, path):
        with h5py.File(path) as f:
            for name, array in self.arrays.items():
                self.assertTrue((f[name][...] == array).all(), name)
            self.assertEqual(f["f8"].attrs["units"], "K")

    def test_h5py_and_h5dump_see_one_array(self):
        for ranks, settings in (
            (1, ["files=subfiles(5)"]),
            (3, ["files=subfiles(4)", "split=0,1"]),
            (2, ["files=subfiles(3)", "split_parts=20+3+1x1x1"]),
        ):
            with self.subTest(settings=settings):
                self.split(*settings, ranks=ranks)
                self.expect_all(self.base)
                with h5py.File(self.base) as f:
                    self.assertTrue(f["f8"].is_virtual)
                    self.assertEqual(len([name for name in f["f8"].attrs if name.startswith("windrow_split")]), 6)
                    self.assertEqual(len([name for name in f.attrs if name.startswith("windrow_")]), 5)
                    for source in f["f8"].virtual_sources():
                        self.assertEqual(source.file_name.split("/")[0], self.set.name, "a relative name")
                shown = subprocess.run(
                    ["h5dump", "-d", "/i2", "-y", "-w", "1", str(self.base)], capture_output=True, text=True, check=True
                ).stdout
                self.assertIn("719", shown)
                for number, part in enumerate(sorted(self.set.iterdir())):
                    with h5py.File(part) as f:
                        self.assertEqual(f.attrs["windrow_subfile"], number)
                        self.assertEqual(f["f8"].attrs["units"], "K")
                        start, end = f["f8"].attrs["windrow_split_range"].reshape(2, 3)
                        box = tuple(slice(a, b) for a, b in zip(start, end))
                        self.assertTrue((f["f8"][...] == self.arrays["f8"][box]).all())
                self.assertIn("sound", windrow("check", self.base, ranks=3))

    def test_chunks_are_split_too(self):
        with h5py.File(self.plain, "w") as f:
            for name, array in self.arrays.items():
                f.create_dataset(name, data=array, chunks=(7, 4, 5), compression="gzip", shuffle=True)
            f["f8"].attrs["units"] = "K"
        self.split("files=subfiles(4)", ranks=3)
        self.expect_all(self.base)
        for part in sorted(self.set.iterdir()):
            with h5py.File(part) as f:
                self.assertEqual((f["f8"].chunks, f["f8"].compression, f["f8"].shuffle), ((6, 4, 5), "gzip", True))
        with h5py.File(self.base) as f:
            self.assertTrue(f["f8"].is_virtual)
        for ranks in (1, 2, 3):
            self.assertIn("sound", windrow("check", self.base, ranks=ranks))
        one = self.folder / "one.h5"
        windrow("copy", self.base, one, "--set", "files=one")
        self.expect_all(one)
        with h5py.File(one) as f:
            self.assertEqual((f["f8"].chunks, f["f8"].compression), ((7, 4, 5), "gzip"))
        good = self.base.read_bytes()
        large = 2**62
        for name, value in {"windrow_split_chunk": [7, 4], "windrow_split_filters": np.bytes_("deflate:99")}.items():
            self.expect_bad_map(good, name, value)
        for chunk in ([0, 4, 5], [-7, 4, 5], [6, 4, 5], [large, large, large]):
            self.expect_bad_map(good, "windrow_split_chunk", chunk)

    def test_a_flipped_bit_of_a_stored_chunk_is_named(self):
        for filters in ("shuffle", "shuffle,deflate:4"):
            with self.subTest(filters=filters):
                self.split("files=subfiles(4)", "chunks=7x4x5", f"filters={filters}", "checksum=on", ranks=3)
                self.assertIn("sound", windrow("check", self.base, ranks=3))
                victim = self.set / "2.h5"
                with h5py.File(victim) as f:
                    place = f["f4"].id.get_chunk_info(f["f4"].id.get_num_chunks() - 1)
                whole = bytearray(victim.read_bytes())
                whole[place.byte_offset + place.size - 1] ^= 16
                victim.write_bytes(whole)
                told = windrow("check", self.base, code=1)
                self.assertIn('/2.h5": the elements of "/f4" do not match their checksum', told)
                self.assertEqual(told.count("do not match their checksum"), 1)

    def test_a_chunk_that_cannot_be_read_is_named_with_its_file(self):
        for filters in ("deflate:4", "fletcher32"):
            with self.subTest(filters=filters):
                self.split("files=subfiles(4)", "chunks=7x4x5", f"filters={filters}", ranks=3)
                victim = self.set / "2.h5"
                with h5py.File(victim) as f:
                    place = f["f4"].id.get_chunk_info(0)
                whole = bytearray(victim.read_bytes())
                whole[place.byte_offset : place.byte_offset + 8] = b"x" * 8
                victim.write_bytes(whole)
                told = windrow("check", self.base, code=1, ranks=3)
                self.assertRegex(told, f'chunk 0 of "/f4" at offset {place.byte_offset} of "[^"]*{self.set.name}/2.h5"')

    def test_what_differs_from_the_map_is_named(self):
        self.split("files=subfiles(3)")
        victim = self.set / "1.h5"
        good = victim.read_bytes()
        numbers = np.zeros((8, 6, 5))
        differ = {
            "has another type": numbers.astype("i8"),
            "has another shape": numbers[:7],
            "has another byte order": numbers.astype(">f8"),
            "is missing": None,
        }
        for words, other in differ.items():
            with self.subTest(words=words):
                victim.write_bytes(good)
                with h5py.File(victim, "r+") as f:
                    attributes = dict(f["f8"].attrs)
                    del f["f8"]
                    if other is not None:
                        made = f.create_dataset("f8", data=other)
                        for name, value in attributes.items():
                            made.attrs[name] = value
                self.assertIn(
                    f'/1.h5" does not match the map: "/f8" {words}', windrow("check", self.base, code=1, ranks=3)
                )
        contradictions = [
            ("windrow_split", 2, "2 and not 1"),
            ("windrow_split_shape", [24, 6, 5, 1], "24 6 5 1 and not 24 6 5"),
            ("windrow_split_elements", 721, "721 and not 720"),
            ("windrow_split_parts", 4, "4 and not 3"),
            ("windrow_split_order", [1, 3, 1], "1 3 1 and not 3 1 1"),
            ("windrow_split_bounds", None, "not integers of 64 bits and not 0 8 16 24 0 6 0 5"),
            ("windrow_split_range", [0, 0, 0, 8, 6, 5], "0 0 0 8 6 5 and not 8 0 0 16 6 5"),
            ("windrow_split_range", None, "not integers of 64 bits and not 8 0 0 16 6 5"),
            ("windrow_subfiles", 4, "4 and not 3"),
            ("windrow_subfiles", None, "not an integer and not 3"),
        ]
        for name, value, words in contradictions:
            with self.subTest(attribute=name, value=value):
                victim.write_bytes(good)
                with h5py.File(victim, "r+") as f:
                    holder, of = (f, "") if name == "windrow_subfiles" else (f["f8"], ' of "/f8"')
                    del holder.attrs[name]
                    if value is not None:
                        holder.attrs[name] = value
                told = windrow("check", self.base, code=1, ranks=3)
                self.assertIn(f'/1.h5" does not match the map: attribute "{name}"{of} is {words}', told)

    def test_a_subfile_that_another_program_has_is_told(self):
        self.split("files=subfiles(3)")
        with h5py.File(self.set / "1.h5", "r+"):
            self.assertIn(
                '/1.h5" is open in another program and locked by it', windrow("check", self.base, code=1, ranks=2)
            )

    def expect_bad_map(self, good, name, value):
        self.base.write_bytes(good)
        with h5py.File(self.base, "r+") as f:
            f["f8"].attrs[name] = value
        with self.subTest(name=name, value=str(value)):
            self.assertRegex(windrow("check", self.base, ranks=1, code=1), "map of its subfiles")

    def test_copy_splits_joins_and_splits_anew(self):
        self.split("files=subfiles(4)")
        again, one = self.folder / "again.h5", self.folder / "one.h5"
        windrow("copy", self.base, again, "--set", "files=subfiles(6)", "--set", "split=1", "--buffer", "4096", ranks=3)
        windrow("copy", again, one, "--buffer", "4096")
        self.expect_all(again)
        self.expect_all(one)
        with h5py.File(one) as f:
            self.assertFalse(f["f8"].is_virtual)
            self.assertEqual(list(f.attrs), [])
            self.assertEqual(list(f["f8"].attrs), ["units"])
        self.assertIn("split 1x6x1", windrow("info", again))

    # HDF5 itself says nothing and hands out the fill value: one that shows.
    def test_what_hdf5_cannot_read_is_loud(self):
        def spoiled():
            with h5py.File(self.base) as f:
                return {name: f[name][12, 0, 0] for name in self.arrays}

        def expect_loud(values):
            self.assertTrue(np.isnan(values["f8"]) and np.isnan(values["f4"]) and np.isnan(values["c16"]))
            self.assertEqual(values["i2"], -(2**15))
            self.assertEqual(values["u1"], 255)
            self.assertEqual(values["g/text"], b"????????")

        self.split("files=subfiles(2)")
        second = self.set / "1.h5"
        kept = second.read_bytes()
        for spoil in (second.unlink, lambda: second.write_bytes(b""), lambda: second.write_bytes(kept[:1000])):
            spoil()
            expect_loud(spoiled())
            self.assertIn("1.h5", windrow("check", self.base, code=1))
            second.write_bytes(kept)
        with h5py.File(second, "r+"):  # open for writing elsewhere, and locked
            program = f"import h5py; f = h5py.File({str(self.base)!r}); print(f['i2'][12, 0, 0])"
            told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
            self.assertIn(told.strip(), ("-32768", str(self.arrays["i2"][12, 0, 0])))
        lonely = self.folder / "elsewhere"
        lonely.mkdir()
        shutil.copy(self.base, lonely)
        with h5py.File(lonely / "a.h5") as f:
            self.assertTrue(np.isnan(f["f8"][...]).all(), "the file alone, without its subfiles")
        self.assertIn("is missing", windrow("check", lonely / "a.h5", code=1))

    # The limit above which HDF5 returns fill values; a larger set is reported beforehand.
    def test_more_subfiles_than_files_that_may_be_open(self):
        limit = 200

        def few():
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))

        with h5py.File(self.plain, "w") as f:
            f["v"] = np.arange(300 * 3).reshape(300, 3)
        told = windrow(
            "copy",
            self.plain,
            self.base,
            "--set",
            "files=subfiles(300)",
            "--set",
            "split=0",
            "--explain",
            ranks=1,
            preexec_fn=few,
        )
        self.assertIn("warning: 300 subfiles exceed the limit of open files of a process here (200)", told)
        windrow("check", self.base, ranks=1, preexec_fn=few)
        one = self.folder / "one.h5"
        windrow("copy", self.base, one, ranks=2, preexec_fn=few)
        with h5py.File(one) as f:
            self.assertTrue((f["v"][...] == np.arange(900).reshape(300, 3)).all())
        windrow(
            "copy",
            one,
            self.base,
            "--set",
            "files=subfiles(299)",
            "--set",
            "split_parts=" + "+".join(["1"] * 298 + ["2"]) + "x1",
            ranks=2,
            preexec_fn=few,
        )
        self.assertIn("sound", windrow("check", self.base, ranks=3))

    def test_maps_made_to_hurt(self):
        self.split("files=subfiles(3)")

        def of(name, value, variable="f8"):
            def damage():
                with h5py.File(self.base, "r+") as f:
                    holder = f[variable] if variable else f
                    if value is None:
                        del holder.attrs[name]
                    else:
                        holder.attrs[name] = np.bytes_(value) if isinstance(value, str) else value

            return damage

        name = self.set.name.encode()
        more_folders = {
            "empty": np.bytes_(b"\0" * 4),
            "not UTF-8": np.bytes_(b"\xff\xfe"),
            "NUL": np.bytes_(name[:3] + b"\0" + b"x"),
            "several": np.array([b"a", b"b"]),
        }
        damages = {
            **{name: of(*damage, variable=None) for name, damage in self.damages_of_the_set().items()},
            **{name: of("windrow_folder", value, variable=None) for name, value in more_folders.items()},
            "shape": of("windrow_split_shape", [24, 6, 6]),
            "shape short": of("windrow_split_shape", [24]),
            "parts": of("windrow_split_parts", 4),
            "order": of("windrow_split_order", [3, 2, 1]),
            "order large": of("windrow_split_order", [LARGEST, 1, 1]),
            "order 0": of("windrow_split_order", [3, 0, 1]),
            "order -1": of("windrow_split_order", [-1, 1, 1]),
            "no order": of("windrow_split_order", None),
            "overlapping": of("windrow_split_bounds", [0, 9, 8, 24, 0, 6, 0, 5]),
            "twice": of("windrow_split_bounds", [0, 8, 8, 24, 0, 6, 0, 5]),
            "leaving": of("windrow_split_bounds", [0, 8, 16, 25, 0, 6, 0, 5]),
            "negative": of("windrow_split_bounds", [0, -8, 16, 24, 0, 6, 0, 5]),
            "overflowing": of("windrow_split_bounds", [0, 8, 16, LARGEST, 0, LARGEST, 0, 5]),
            "late": of("windrow_split_bounds", [1, 8, 16, 24, 0, 6, 0, 5]),
            "fill short": of("windrow_split_fill", np.zeros(3, "u1")),
            "fill long": of("windrow_split_fill", np.zeros(9, "u1")),
            "fill": of("windrow_split_fill", np.ones(8, "u1")),
            "bounds short": of("windrow_split_bounds", [0, 8]),
            "no bounds": of("windrow_split_bounds", None),
            "moved": of("windrow_split_bounds", [0, 7, 16, 24, 0, 6, 0, 5]),
            "narrow": of("windrow_split_bounds", np.array([0, 8, 16, 24, 0, 6, 0, 5], "i4")),
        }
        self.expect_bad_maps(damages)
        whole = self.base.read_bytes()
        of("windrow_folder", np.bytes_(b"a\0b"), variable=None)()
        # All of it is reported
        self.assertIn(r'"a\x00b" is not the name of a folder', windrow("check", self.base, ranks=1, code=1))
        self.base.write_bytes(whole)
        # (Bytes of a virtual dataset can make HDF5 itself loop.)
        for code, told in self.expect_survival(
            self.set / "1.h5", np.random.default_rng(5), begin=0, end=4096, bytes_each=8, rounds=15
        ):
            self.assertIn(code, (0, 1))
            self.assertTrue(code == 0 or "1.h5" in told, told)

    def test_views_that_lead_elsewhere_are_told(self):
        self.split("files=subfiles(2)")
        layout = h5py.VirtualLayout(shape=(24, 6, 5), dtype="f8")
        for k in (0, 1):  # the halves change places
            layout[12 * k : 12 * k + 12] = h5py.VirtualSource(f"{self.set.name}/{1 - k}.h5", "f8", shape=(12, 6, 5))
        with h5py.File(self.base, "r+") as f:
            attributes = dict(f["f8"].attrs)
            del f["f8"]
            made = f.create_virtual_dataset("f8", layout)
            for name, value in attributes.items():
                made.attrs[name] = value
        self.assertIn("refers other programs to other places", windrow("check", self.base, code=1))
        one = self.folder / "one.h5"
        windrow("copy", self.base, one)  # the map is what counts for us
        self.expect_all(one)


class GrowingSets(SetOfSubfiles, unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.field = np.arange(7 * 11 * 5, dtype="f8").reshape(7, 11, 5)
        with h5py.File(self.plain, "w") as f:
            made = f.create_dataset(
                "a field", data=self.field, maxshape=(None, 11, 5), chunks=(2, 4, 3), compression="gzip"
            )
            made.attrs["units"] = "K"
            f.create_dataset(
                "i2", data=self.field.astype(">i2"), maxshape=(None, 11, 5), chunks=(3, 11, 5), fillvalue=-5
            )
            f.create_dataset("times", data=np.arange(7), maxshape=(None,), chunks=(4,))

    def expect_field(self, path, records):
        with h5py.File(path) as f:
            for name, kind in (("a field", "f8"), ("i2", ">i2")):
                if name in f:
                    self.assertEqual((f[name].shape, f[name].maxshape), ((records, 11, 5), (None, 11, 5)))
                    self.assertTrue((f[name][...] == self.field[:records].astype(kind)).all(), name)
            self.assertEqual(f["a field"].attrs["units"], "K")
            self.assertEqual(f["times"].shape, (records,))

    def expect_last_element(self, records):
        last = f"{records - 1},10,4"
        shown = subprocess.run(
            ["h5dump", "-d", "/a field", "-s", last, "-c", "1,1,1", str(self.base)],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        self.assertIn(f"({last}): {records * 55 - 1}", shown)

    # A job that continues to write: after each sync there is one more array.
    def test_steps_are_seen_after_each_sync(self):
        for ranks, options in (
            (1, ["files=subfiles(4)"]),
            (3, ["files=subfiles(3)", "split=1,2"]),
            (5, ["files=subfiles(2)", "split_parts=1x10+1x1"]),
        ):
            with self.subTest(options=options):
                mark = Path(f"{self.base}.step")
                command = [*LAUNCHER, "-n", str(ranks), os.environ["WINDROW_APPEND"], str(self.base), "4", *options]
                with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as job:
                    for step in range(1, 5):
                        late = time.monotonic() + LIMIT_S
                        while not mark.exists() and job.poll() is None and time.monotonic() < late:
                            time.sleep(0.02)
                        self.assertTrue(mark.exists(), "no step" if job.poll() is None else job.stderr.read())
                        self.assertEqual(mark.read_text(), f"{step}\n")
                        self.expect_field(self.base, step)
                        self.expect_last_element(step)
                        mark.unlink()
                    self.assertEqual(job.wait(LIMIT_S), 0)
                self.expect_field(self.base, 4)
                self.assertIn("sound", windrow("check", self.base, ranks=3))

    def test_copy_splits_joins_and_splits_anew(self):
        again, one = self.folder / "again.h5", self.folder / "one.h5"
        for ranks, options in (
            (1, ["files=subfiles(5)"]),
            (3, ["files=subfiles(4)", "split=1,2", "checksum=on"]),
            (2, ["files=subfiles(3)", "split_parts=1x1+1+9x1"]),
        ):
            with self.subTest(options=options):
                self.split(*options, ranks=ranks)
                self.expect_field(self.base, 7)
                self.assertIn("sound", windrow("check", self.base, ranks=3))
                windrow(
                    "copy", self.base, again, *settings("files=subfiles(2)", "split=2"), "--buffer", "4096", ranks=3
                )
                windrow("copy", again, one, "--buffer", "4096")
                self.expect_field(again, 7)
                self.expect_field(one, 7)
                with h5py.File(self.base) as base, h5py.File(one) as f:
                    self.assertEqual(
                        (f["a field"].is_virtual, f["a field"].chunks, f["a field"].compression),
                        (False, (2, 4, 3), "gzip"),
                    )
                    self.assertEqual(list(f["a field"].attrs), ["units"])
                    self.assertEqual((base["a field"].is_virtual, base["times"].is_virtual), (True, False))
                for part in sorted(self.set.iterdir()):
                    with h5py.File(part) as f:
                        start, end = f["a field"].attrs["windrow_split_range"].reshape(2, 3)
                        self.assertEqual(f["a field"].maxshape[0], None)
                        self.assertTrue(
                            (f["a field"][...] == self.field[:, start[1] : end[1], start[2] : end[2]]).all()
                        )
        self.assertIn("split 1x1+1+9x1", windrow("info", self.base))

    def test_what_hdf5_cannot_read_is_loud(self):
        self.split("files=subfiles(3)")
        (self.set / "1.h5").rename(self.folder / "gone.h5")
        with h5py.File(self.base) as f:
            self.assertEqual(f["a field"].shape, (7, 11, 5))
            self.assertTrue(np.isnan(f["a field"][:, 4:8]).all() and (f["i2"][:, 4:8] == -(2**15)).all())
            self.assertTrue((f["a field"][:, :4] == self.field[:, :4]).all())
        self.assertIn("/1.h5", windrow("check", self.base, code=1, ranks=3))
        self.assertIn("7 x 11 x 5", windrow("info", self.base))

    # A part that a killed job has made longer than the base file says.
    def test_the_base_file_says_how_long_it_is(self):
        self.split("files=subfiles(2)")
        with h5py.File(self.set / "1.h5", "r+") as f:
            f["a field"].resize(9, 0)
        with h5py.File(self.base) as f:
            self.assertEqual(f["a field"].shape[0], 9)
            self.assertTrue(np.isnan(f["a field"][7:, :4]).all())
        self.assertIn("sound", windrow("check", self.base, ranks=2))
        self.assertIn("7 x 11 x 5", windrow("info", self.base))
        one = self.folder / "one.h5"
        windrow("copy", self.base, one)
        self.expect_field(one, 7)

    def test_maps_made_to_hurt(self):
        self.split("files=subfiles(3)")

        def of(name, value):
            def damage():
                with h5py.File(self.base, "r+") as f:
                    if value is None:
                        del f["a field"].attrs[name]
                    else:
                        f["a field"].attrs[name] = value

            return damage

        shape = "windrow_split_current_shape"
        self.expect_bad_maps(
            {
                "longer": of(shape, [8, 11, 5]),
                "wider": of(shape, [7, 12, 5]),
                "fewer dimensions": of(shape, [7, 11]),
                "more dimensions": of(shape, [7, 11, 5, 1]),
                "large": of(shape, [LARGEST, 11, 5]),
                "larger": of(shape, [2**60, 11, 5]),
                "negative": of(shape, [-7, 11, 5]),
                "text": of(shape, np.bytes_("7")),
                "no numbers": of(shape, np.zeros(0, "i8")),
                "many": of(shape, np.ones(40, "i8")),
                "records cut": of("windrow_split_bounds", [0, 4, 0, 4, 8, 11, 0, 5]),
                "order of what grows": of("windrow_split_order", [3, 1, 1]),
                "no chunk": of("windrow_split_chunk", None),
                "chunk of none": of("windrow_split_chunk", [0, 4, 3]),
            },
            words=r"map of its subfiles|checksum|has another shape|its shape is too large",
        )

    # Mappings without end lead HDF5 to files as soon as it is asked for a shape: Windrow does not ask.
    def test_no_other_file_is_looked_for(self):
        self.split("files=subfiles(2)")
        endless = h5py.h5s.UNLIMITED
        there = h5py.h5s.create_simple((7, 11, 5), (endless, 11, 5))
        creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        outside = self.folder / "outside.h5"
        os.mkfifo(outside)  # opening it would hang
        there.select_hyperslab((0, 0, 0), (endless, 1, 1), (1, 1, 1), (1, 11, 5))
        from_there = h5py.h5s.create_simple((1, 11, 5), (endless, 11, 5))
        from_there.select_hyperslab((0, 0, 0), (endless, 1, 1), (1, 1, 1), (1, 11, 5))
        creation.set_virtual(there, b"outside.h5", b"a field", from_there)
        there.select_all()
        with h5py.File(self.base, "r+") as f:
            attributes = dict(f["a field"].attrs)
            del f["a field"]
            made = h5py.Dataset(h5py.h5d.create(f.id, b"a field", h5py.h5t.IEEE_F64LE, there, creation))
            for name, value in attributes.items():
                made.attrs[name] = value
        self.assertIn("refers other programs to other places", windrow("check", self.base, code=1))


if __name__ == "__main__":
    unittest.main()
