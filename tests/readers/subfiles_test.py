# SPDX-License-Identifier: BSD-3-Clause
"""Sets of subfiles in other hands: h5py and h5dump see one array, and how they fail; maps that somebody has made to hurt.

Arguments: the command windrow, the launcher.
"""

import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy as np

COMMAND, LAUNCHER = sys.argv[1], shlex.split(sys.argv[2])
LIMIT_S = 60  # a hang is a failure


def windrow(*arguments, ranks=2, code=0, **more):
    launch = [*LAUNCHER, "-n", str(ranks)] if ranks > 1 else []
    done = subprocess.run([*launch, COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=LIMIT_S, **more)
    if done.returncode != code:
        raise AssertionError(f"{arguments}: {done.returncode}, not {code}\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
    return done.stdout + done.stderr


class Sets(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="windrow subfiles "))
        self.addCleanup(shutil.rmtree, self.folder)
        self.plain, self.base = self.folder / "plain.h5", self.folder / "a.h5"
        numbers = np.arange(24 * 6 * 5).reshape(24, 6, 5)
        self.arrays = {"f8": numbers.astype("f8"), "f4": numbers.astype(">f4"), "i2": numbers.astype("i2"), "u1": (numbers % 200).astype("u1"),
                       "c16": numbers + 1j, "flag": numbers % 2 == 0, "g/text": np.char.add("n", numbers.astype(str)).astype("S8")}
        with h5py.File(self.plain, "w") as f:
            for name, array in self.arrays.items():
                f[name] = array
            f["f8"].attrs["units"] = "K"
            f["scalar"] = 5

    def split(self, *settings, ranks=2):
        windrow("copy", self.plain, self.base, *(each for one in settings for each in ("--set", one)), ranks=ranks)
        (self.set,) = self.folder.glob("a.h5.subfiles-*")

    def expect_all(self, path):
        with h5py.File(path) as f:
            for name, array in self.arrays.items():
                self.assertTrue((f[name][...] == array).all(), name)
            self.assertEqual(f["f8"].attrs["units"], "K")

    def test_h5py_and_h5dump_see_one_array(self):
        for ranks, settings in ((1, ["files=subfiles(5)"]), (3, ["files=subfiles(4)", "split=0,1"]), (2, ["files=subfiles(3)", "split_parts=20+3+1x1x1"])):
            with self.subTest(settings=settings):
                self.split(*settings, ranks=ranks)
                self.expect_all(self.base)
                with h5py.File(self.base) as f:
                    self.assertTrue(f["f8"].is_virtual)
                    self.assertEqual(len([name for name in f["f8"].attrs if name.startswith("windrow_split")]), 6)
                    self.assertEqual(len([name for name in f.attrs if name.startswith("windrow_")]), 5)
                    for source in f["f8"].virtual_sources():
                        self.assertEqual(source.file_name.split("/")[0], self.set.name, "a relative name")
                shown = subprocess.run(["h5dump", "-d", "/i2", "-y", "-w", "1", str(self.base)], capture_output=True, text=True, check=True).stdout
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
                self.assertIn('/2.h5": the elements of "/f4" are not those that were written', told)
                self.assertEqual(told.count("are not those"), 1)

    def test_what_differs_from_the_map_is_named(self):
        self.split("files=subfiles(3)")
        victim = self.set / "1.h5"
        good = victim.read_bytes()
        numbers = np.zeros((8, 6, 5))
        differ = {"has another type": numbers.astype("i8"), "has another shape": numbers[:7], "has another byte order": numbers.astype(">f8"), "is missing": None}
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
                self.assertIn(f'/1.h5" does not have what the map says: "/f8" {words}', windrow("check", self.base, code=1, ranks=3))

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

    # The limit that makes HDF5 hand out fill values; it is told beforehand where a set is larger than it.
    def test_more_subfiles_than_files_that_may_be_open(self):
        limit = 200

        def few():
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))

        with h5py.File(self.plain, "w") as f:
            f["v"] = np.arange(300 * 3).reshape(300, 3)
        told = windrow("copy", self.plain, self.base, "--set", "files=subfiles(300)", "--explain", ranks=1, preexec_fn=few)
        self.assertIn("warning: 300 subfiles are more than a process may have open here (200)", told)
        windrow("check", self.base, ranks=1, preexec_fn=few)
        one = self.folder / "one.h5"
        windrow("copy", self.base, one, ranks=2, preexec_fn=few)
        with h5py.File(one) as f:
            self.assertTrue((f["v"][...] == np.arange(900).reshape(300, 3)).all())
        windrow("copy", one, self.base, "--set", "files=subfiles(299)", "--set", "split_parts=" + "+".join(["1"] * 298 + ["2"]) + "x1", ranks=2, preexec_fn=few)
        self.assertIn("sound", windrow("check", self.base, ranks=3))

    def test_maps_made_to_hurt(self):
        self.split("files=subfiles(3)")
        outside = self.folder.parent / (self.folder.name + " outside")
        shutil.copytree(self.set, outside)
        self.addCleanup(shutil.rmtree, outside)
        good = self.base.read_bytes()
        largest = 2**63 - 1

        def root(name, value):
            return lambda f: f.attrs.__setitem__(name, value)

        def of(name, value):
            return lambda f: f["f8"].attrs.__setitem__(name, value)

        damages = {
            "up": root("windrow_folder", np.bytes_("../" + outside.name)), "dots": root("windrow_folder", np.bytes_("..")),
            "dot": root("windrow_folder", np.bytes_(".")), "absolute": root("windrow_folder", np.bytes_(str(outside))),
            "below": root("windrow_folder", np.bytes_(self.set.name + "/x")), "overlong": root("windrow_folder", np.bytes_("x" * 300)),
            "very long": root("windrow_folder", np.bytes_("x" * 60000)), "empty": root("windrow_folder", np.bytes_(b"\0" * 4)),
            "line": root("windrow_folder", np.bytes_("a\nb")), "not UTF-8": root("windrow_folder", np.bytes_(b"\xff\xfe")),
            "NUL": root("windrow_folder", np.bytes_(self.set.name.encode()[:3] + b"\0" + b"x")),
            "a number": root("windrow_folder", 7), "several": root("windrow_folder", np.array([b"a", b"b"])),
            "ending up": root("windrow_ending", np.bytes_("/../x")), "ending long": root("windrow_ending", np.bytes_("." + "x" * 100)),
            "no set": lambda f: f.attrs.__delitem__("windrow_set"), "other set": root("windrow_set", np.bytes_("x")),
            "no count": lambda f: f.attrs.__delitem__("windrow_subfiles"), "count 0": root("windrow_subfiles", 0),
            "count -1": root("windrow_subfiles", -1), "count large": root("windrow_subfiles", largest), "count float": root("windrow_subfiles", 3.0),
            "count 2": root("windrow_subfiles", 2), "count list": root("windrow_subfiles", [3, 3]),
            "sum": root("windrow_map_checksum", 1), "no sum": lambda f: f.attrs.__delitem__("windrow_map_checksum"),
            "shape": of("windrow_split_shape", [24, 6, 6]), "shape short": of("windrow_split_shape", [24]), "parts": of("windrow_split_parts", 4),
            "order": of("windrow_split_order", [3, 2, 1]), "order large": of("windrow_split_order", [largest, 1, 1]), "order 0": of("windrow_split_order", [3, 0, 1]),
            "order -1": of("windrow_split_order", [-1, 1, 1]), "no order": lambda f: f["f8"].attrs.__delitem__("windrow_split_order"),
            "overlapping": of("windrow_split_bounds", [0, 9, 8, 24, 0, 6, 0, 5]), "twice": of("windrow_split_bounds", [0, 8, 8, 24, 0, 6, 0, 5]),
            "leaving": of("windrow_split_bounds", [0, 8, 16, 25, 0, 6, 0, 5]), "negative": of("windrow_split_bounds", [0, -8, 16, 24, 0, 6, 0, 5]),
            "overflowing": of("windrow_split_bounds", [0, 8, 16, largest, 0, largest, 0, 5]), "late": of("windrow_split_bounds", [1, 8, 16, 24, 0, 6, 0, 5]),
            "bounds short": of("windrow_split_bounds", [0, 8]), "no bounds": lambda f: f["f8"].attrs.__delitem__("windrow_split_bounds"),
            "moved": of("windrow_split_bounds", [0, 7, 16, 24, 0, 6, 0, 5]), "narrow": of("windrow_split_bounds", np.array([0, 8, 16, 24, 0, 6, 0, 5], "i4")),
        }
        for name, damage in damages.items():
            with self.subTest(damage=name):
                self.base.write_bytes(good)
                with h5py.File(self.base, "r+") as f:
                    damage(f)
                ranks = 3 if name in ("up", "overlapping", "overflowing") else 1
                told = windrow("check", self.base, ranks=ranks, code=1)
                self.assertIn("a.h5", told)
                self.assertNotIn(outside.name + "/", told)
                self.assertRegex(told, r"map of its subfiles|missing|checksum")
        self.base.write_bytes(good)
        self.assertIn("sound", windrow("check", self.base))
        # Bytes at random places of a subfile's metadata: anything but a crash or a hang. (Those of a virtual dataset can make HDF5 itself loop.)
        part, random = self.set / "1.h5", np.random.default_rng(5)
        whole = part.read_bytes()
        for _ in range(15):
            bad = bytearray(whole)
            for place in random.integers(0, 4096, 8):
                bad[place] = random.integers(0, 256)
            part.write_bytes(bad)
            done = subprocess.run([COMMAND, "check", str(self.base)], capture_output=True, text=True, errors="replace", timeout=LIMIT_S)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            self.assertTrue(done.returncode == 0 or "1.h5" in done.stderr, done.stderr)

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
        self.assertIn("leads other programs elsewhere", windrow("check", self.base, code=1))
        one = self.folder / "one.h5"
        windrow("copy", self.base, one)  # the map is what counts for us
        self.expect_all(one)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
