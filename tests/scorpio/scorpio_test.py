# SPDX-License-Identifier: BSD-3-Clause
"""Runs one case of a program of this folder and compares the files that it made with what they shall hold, by h5py.

Arguments: the case, the program, the number of ranks, the launcher in one word.
"""

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py
import numpy as np

LIMIT_S = 100  # a hang is a failure


def make_foreign(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file["scalar"] = np.int16(42)
        file["a group/table"] = np.arange(6, dtype=">i8").reshape(2, 3)
        file["a group/table"].attrs["matrix"] = np.array([[1, 2], [3, 4]], dtype="u2")
        file["a group"].attrs["step"] = np.int64(7)
        file.create_dataset("variable", data=["Größe", ""], dtype=h5py.string_dtype())
        space_padded = h5py.h5t.C_S1.copy()
        space_padded.set_size(6)
        space_padded.set_strpad(h5py.h5t.STR_SPACEPAD)
        fixed = h5py.h5d.create(file.id, b"fixed", space_padded, h5py.h5s.create_simple((3,)))
        fixed.write(
            h5py.h5s.ALL, h5py.h5s.ALL, np.array([b"four  ", b"three ", b"      "], dtype="S6"), mtype=space_padded
        )
        file.attrs["title"] = np.bytes_(b"a title")
        file["a link"] = h5py.SoftLink("/a group")


def check_uneven(folder: Path, ranks: int) -> None:
    for team in range(1, ranks + 2):
        with h5py.File(folder / f"uneven {team}.h5", "r") as file:
            assert file["blocks"][()].tolist() == np.arange(12 * ranks).reshape(2 * ranks, 6).tolist(), file["blocks"][
                ()
            ]
            last = (2 * (ranks - 1)) * 6 + 3  # the first element of the last rank's second block
            assert file["some"][ranks, 3:].tolist() == [last, last + 1, last + 2], file["some"][()]


def check_all(folder: Path, ranks: int) -> None:
    for team in range(1, ranks + 1):
        with h5py.File(folder / f"all {team}.h5", "r") as file:
            assert file["table"][()].ravel().tolist() == (np.arange(12 * ranks) + 0.5).tolist()


def check_remainder(folder: Path, ranks: int) -> None:
    with h5py.File(folder / "remainder.h5", "r") as file:
        assert list(file) == ["rows"] and file["rows"].dtype == "f4"
        assert file["rows"][()].ravel().tolist() == list(range(2 * (4 * ranks - 1))), file["rows"][()]


def check_large(folder: Path, ranks: int) -> None:
    path = folder / "large.h5"
    with h5py.File(path, "r") as file:
        assert file["large"].shape == (70000, 40000) and file["large"].dtype == "i1"
        assert file["large"][-2 * ranks :, -4:].ravel().tolist() == list(range(8 * ranks))
    assert path.stat().st_size > 2_800_000_000 and path.stat().st_blocks * 512 < 64_000_000, path.stat()


def check_questions(folder: Path, ranks: int) -> None:
    with h5py.File(folder / "questions.h5", "r") as file:
        assert list(file) == ["step"] and sorted(file["step"]) == ["again", "who"], list(file["step"])
        assert file["step/who"][()].tolist() == file["step/again"][()].tolist() == list(range(ranks))


def check_groups(folder: Path, ranks: int) -> None:
    with h5py.File(folder / "groups.h5", "r") as file:
        assert sorted(file) == ["a", "elsewhere", "outer", "slash", "texts", "uniform"], list(file)
        assert list(file["outer"]) == ["uniform"] and list(file["slash"]) == ["texts"]
        assert sorted(file["a/inner"]) == ["block", "nonuniform", "texts", "uniform"], list(file["a/inner"])
        for name in ("a/inner/block", "a/inner/nonuniform", "a/inner/uniform", "outer/uniform", "uniform", "elsewhere"):
            assert file[name][()].tolist() == list(range(ranks)), name


def check_numbers(folder: Path, ranks: int) -> None:
    with h5py.File(folder / "numbers.h5", "r") as file:
        assert len(file) == 100
        assert all(group["who"][()].tolist() == list(range(ranks)) for group in file.values())


def check_zeros(folder: Path, ranks: int) -> None:
    for number in range(1, 5):
        with h5py.File(folder / f"zeros {number}.h5", "r") as file:
            assert file["who"][()].tolist() == list(range(ranks))
    assert not (folder / "late.h5").exists()


def check_errors(folder: Path, ranks: int) -> None:
    with h5py.File(folder / "errors.h5", "r") as file:
        assert list(file) == ["x"] and file["x"][()].tolist() == list(range(ranks)), list(file)
    assert not (folder / "full.h5").exists(), "a file that could not be written is published"


def check_quiet(folder: Path, ranks: int) -> None:
    with h5py.File(folder / "quiet.h5", "r") as file:
        assert file["who"][()].tolist() == list(range(ranks))


def check_stored(folder: Path, ranks: int) -> None:
    with h5py.File(folder / "stored.h5", "r") as file:
        values = file["values"]
        assert values.dtype == ">f8" and values.compression == "gzip" and values.shuffle and values.chunks == (4096,)
        assert np.array_equal(values[()], np.arange(20000 * ranks))


def check_state(folder: Path, ranks: int) -> None:
    with h5py.File(folder / ("n" * 150 + ".h5"), "r") as file:
        assert file["integer"].dtype == "i4" and file["integer"][()].tolist() == list(range(ranks))
        assert file["byte"].dtype.kind == "V" and file["byte"].dtype.itemsize == 1
        assert file["byte"][()].tobytes() == bytes(range(ranks))
        kind = file["integer"].attrs.get_id("text").get_type()
        assert (
            kind.get_size() == 17
            and kind.get_strpad() == h5py.h5t.STR_NULLTERM
            and kind.get_cset() == h5py.h5t.CSET_ASCII
        )
        assert file["integer"].attrs["text"] == b"a text that ends", file["integer"].attrs["text"]
    with h5py.File(folder / "second.h5", "r") as file:
        assert list(file) == ["number"] and file["number"][()].tolist() == [i + 0.5 for i in range(ranks)]


def check_given_back(folder: Path, ranks: int) -> None:
    with h5py.File(folder / "given back.h5", "r") as file:
        assert len(file) == 50 and all(file[f"group {i}/i"][()].tolist() == [i] * ranks for i in range(50))
    with h5py.File(folder / "left 2.h5", "r") as file:
        assert list(file) == ["left open"]
    assert h5py.is_hdf5(folder / "left 1.h5")


def check_overlap(folder: Path, ranks: int) -> None:
    with h5py.File(folder / "overlap.h5", "r") as file:
        assert file["overlap"][()].tolist() == [min(i // 2, ranks - 1) for i in range(2 * ranks + 2)], file["overlap"][
            ()
        ]
        assert [file["large"][i * 24 * 2**20] for i in range(ranks)] == list(range(1, ranks + 1))


def check_types(folder: Path, ranks: int) -> None:
    with h5py.File(folder / "types without an ending", "r") as file:
        kinds = {name: file[name].dtype.str for name in file}
        assert kinds == {
            "integer": "<i4",
            "double": "<f8",
            "float": "<f4",
            "long": "<i8",
            "char": "|i1",
            "byte": "|V1",
            "large": "<f8",
        }, kinds
        assert file["double"][()].tolist() == [10 * r + 0.25 + i for r in range(ranks) for i in range(2)]
        assert file["byte"][()].tobytes() == bytes(250 + r % 4 + i for r in range(ranks) for i in range(2))


def check_texts(folder: Path, ranks: int) -> None:
    with h5py.File(folder / "texts.h5", "r") as file:
        assert sorted(file) == ["names", "none", "others"] and file["none"].shape == (0,), list(file)
        assert file["names"].dtype == "S14" and file["names"][()].tolist() == [b"x", b"y", b"z"], file["names"][()]
        assert h5py.check_string_dtype(file["names"].dtype).encoding == "ascii"
        assert h5py.check_string_dtype(file["others"].dtype).encoding == "utf-8"
        assert file["others"].asstr()[()].tolist() == ["Größe", "", ""]


def check_attributes(folder: Path, ranks: int) -> None:
    with h5py.File(folder / "attributes.h5", "r") as file:
        assert file["step"].attrs["step"] == 3 and file["step"].attrs["step"].dtype == "i4"
        assert file["step"].attrs["numbers"].tolist() == [[1.5, -1e300], [3, 4]]
        root = file.attrs
        assert (
            root["count"] == 6000000000
            and root["ratio"] == 0.25
            and root["letter"] == ord("a")
            and root["title"] == b"replaced"
        )
        assert root["names"].tolist() == [b"one", b"another"], root["names"]
        assert root["raw"].tobytes() == b"\0\xff", root["raw"]
        assert len(root) == 6, list(root)


def check_links(folder: Path, ranks: int) -> None:
    with h5py.File(folder / "links.h5", "r") as file:
        assert sorted(file) == ["latest", "newest", "step"] and sorted(file["step"]) == ["beside", "who"]
        assert (
            file.get("latest", getlink=True).path == "/step/who" and file.get("step/beside", getlink=True).path == "who"
        )
        assert file["newest/beside"][()].tolist() == list(range(ranks))


def check_teams(folder: Path, ranks: int) -> None:
    rows = ranks * (ranks - 1) // 2 + 1
    for number in range(9):
        with h5py.File(folder / f"teams {number}.h5", "r") as file:
            assert file["rows"][()].ravel().tolist() == list(range(2 * rows)), file["rows"][()]
    for half in range(min(ranks, 2)):
        with h5py.File(folder / f"half {half}.h5", "r") as file:
            assert file["who"][()].tolist() == list(range(half, ranks, 2))[::-1], file["who"][()]


def check_roots(folder: Path, ranks: int) -> None:
    for team in range(1, ranks + 1):
        with h5py.File(folder / f"roots {team}.h5", "r") as file:
            assert np.array_equal(file["data"][:: 3 * 2**20], np.arange(ranks)), file["data"]


def check_cover(folder: Path, ranks: int) -> None:
    with h5py.File(folder / "cover.h5", "r") as file:
        assert file["rows"][()].tolist() == [[r + 0.25, r + 0.5] for r in range(ranks)]


def check_calls(folder: Path, ranks: int) -> None:
    with h5py.File(folder / "calls.h5", "r") as file:
        assert file["step/rows"].shape == (2 * ranks, 3)
        assert file["step/rows"][()].ravel().tolist() == (np.arange(6 * ranks) + 0.5).tolist()
        assert file["block"][()].tolist() == [list(range(ranks)), [-r for r in range(ranks)]]


CHECKS = {
    "defect01_uneven_last_team": check_uneven,
    "defect02_everyone_gets_all": check_all,
    "defect03_remainder_rows": check_remainder,
    "defect04_large_counts": check_large,
    "defect05_questions_change_nothing": check_questions,
    "defect06_writes_go_into_the_group": check_groups,
    "defect07_small_group_numbers": check_numbers,
    "defect08_zeros_at_init": check_zeros,
    "defect09_errors_reach_every_rank": check_errors,
    "defect10_quiet": check_quiet,
    "defect11_storage_is_a_setting": check_stored,
    "defect12_calls_share_no_state": check_state,
    "defect13_files_are_given_back": check_given_back,
    "defect14_overlap_and_memory": check_overlap,
    "types": check_types,
    "foreign": lambda folder, ranks: None,
    "texts": check_texts,
    "attributes": check_attributes,
    "links": check_links,
    "teams": check_teams,
    "roots_write": check_roots,
    "cover": check_cover,
    "calls": check_calls,
}


def run(case: str, program: str, ranks: str, launcher: str, **environment: str) -> list[str]:
    """The lines that the library has printed, none in most cases."""
    with tempfile.TemporaryDirectory(prefix="windrow-scorpio-") as name:
        folder = Path(name)
        make_foreign(folder / "foreign.h5")
        command = [*shlex.split(launcher), "-n", ranks, program, case, name]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="backslashreplace",
            timeout=LIMIT_S,
            env=os.environ | environment,
        )
        if done.returncode != 0 or done.stdout != "all as expected\n":
            sys.exit(f"exit code {done.returncode}\n{done.stdout}{done.stderr}")
        left = [path.name for path in folder.iterdir() if ".windrow-" in path.name]
        assert not left, left
        CHECKS[case](folder, int(ranks))
        return [line for line in done.stderr.splitlines() if "scorpio" in line.lower() or "hdf5" in line.lower()]


def main(case: str, program: str, ranks: str, launcher: str) -> None:
    printed = run(case, program, ranks, launcher)
    assert not printed, printed
    if case == "defect10_quiet":
        printed = run(case, program, ranks, launcher, WINDROW_SCORPIO_MESSAGES="true")
        assert len(printed) == 2 and "nothing" in printed[0] and "/proc/self/status" in printed[1], printed
        assert all(line.startswith("scorpio_") for line in printed), printed


if __name__ == "__main__":
    main(*sys.argv[1:])
