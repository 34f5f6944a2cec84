# SPDX-License-Identifier: BSD-3-Clause
"""Runs one of the Fortran test programs and compares the files that it made with what they shall hold, by h5py.

Arguments: bytes|objects|data|types|texts|names|errors|viewers|stop, the program, the number of ranks, the ending of the
format's names, the launcher in one word.
"""

import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

LIMIT_S = 100  # a hang is a failure


def run(launcher: str, ranks: str, program: str, folder: str, ending: str) -> subprocess.CompletedProcess:
    command = [*shlex.split(launcher), "-n", ranks, program, folder, ending]
    return subprocess.run(command, capture_output=True, text=True, errors="backslashreplace", timeout=LIMIT_S)


def make_foreign(folder: Path) -> None:
    import h5py
    import numpy as np

    with h5py.File(folder / "foreign.h5", "w") as file:
        file["a group/unsigned"] = np.array([1, 2, 65535], dtype="u2")
        table = file.create_dataset("big table", data=np.arange(24.0).reshape(2, 3, 4), dtype=">f8")
        table.attrs["unsigned"] = np.uint16(65534)
        table.attrs["fixed"] = np.bytes_(b"of fixed length")
        file.create_dataset("compressed", data=np.arange(100, dtype="i4"), chunks=(10,), compression="gzip")
        file["link"] = h5py.ExternalLink("elsewhere.h5", "/x")


def make_others(folder: Path) -> None:
    import h5py
    import numpy as np

    with h5py.File(folder / "others.h5", "w") as file:
        words = np.array([["a", "bb"], ["ccc", "eightful"], ["", "grün"]])
        file.create_dataset("words", data=np.char.encode(words, "utf-8"), dtype="S8")
        file.create_dataset("chunked", data=np.full((3, 2), b"chunk", dtype="S8"), chunks=(2, 2), compression="gzip")
        file["bool"] = np.array([True, False, False, True])
        file["complex"] = np.array([1 + 2j, -3j])
        file.create_dataset(
            "colour", data=np.array([1, 500], dtype="i2"), dtype=h5py.enum_dtype({"RED": 1, "GREEN": 500}, "i2")
        )
        file.create_dataset("references", data=[file["words"].ref, file["bool"].ref], dtype=h5py.ref_dtype)
        file.attrs["reference"] = file["words"].ref


def check_objects(folder: Path, ranks: int) -> None:
    import h5py
    import numpy as np

    with h5py.File(folder / "objects.h5", "r") as file:
        assert sorted(file) == ["big", "groups", "many"] and "groups/in/groups" in file, list(file)
        assert file["big"].shape == (4, 3, 2) and file["big"].dtype == ">i4", file["big"]
        assert file["many/first one"].shape == (6, 5) and file["many/first one"].dtype == "f4"
        assert file["many/a scalar"].shape == () and file["many/a scalar"].dtype == "u1"
        assert file["many/größer"].shape == (7, 0) and file["many/größer"].dtype == ">i8"
        root = dict(file.attrs)
        assert root == {
            "int8": 8,
            "int16": 16,
            "int32": 32,
            "int64": 64,
            "real32": 0.5,
            "real64": 0.1,
            "text": "Größe in °C",
            "replaced": "by text",
        }, root
        assert [root[name].dtype for name in ("int8", "int16", "int32", "int64", "real32", "real64")] == [
            "i1",
            "i2",
            "i4",
            "i8",
            "f4",
            "f8",
        ]
        lists = dict(file["big"].attrs)
        for name in ("int8", "int16", "int32", "int64"):
            assert lists[f"{name} list"].tolist() == [1, -2] and lists[f"{name} list"].dtype == name, lists
        assert lists["real32 list"].tolist() == [1.5, -2.5] and lists["real64 list"].tolist() == [1.1, -2.2], lists
        assert lists["text list"].tolist() == ["one", "three", ""], lists
        table = np.arange(1, 13).reshape(3, 4)
        assert lists["table"].tolist() == table.tolist(), lists
        assert lists["part of the table"].tolist() == table[::-1, 1::2].tolist(), lists
        assert lists["nothing"].shape == (0, 4), lists
    with h5py.File(folder / "copied.h5", "r") as file:
        assert dict(file["copies"].attrs) == {"text": "Größe in °C"}


def check_bytes(folder: Path, ranks: int) -> None:
    import numpy as np

    content = (folder / "bytes.h5").read_bytes()
    a = np.frombuffer(content, "i4", 4 * ranks).reshape(ranks, 4)
    b = np.frombuffer(content, "f8", offset=16 * ranks).reshape(ranks, 6)
    assert a.tolist() == [[100 * rank + i for i in (1, 2, 3, 4)] for rank in range(ranks)], a
    assert b.tolist() == [[rank + i / 8 for i in range(1, 7)] for rank in range(ranks)], b


def check_data(folder: Path, ranks: int) -> None:
    import h5py
    import numpy as np

    def places(x: int, y: int) -> list:
        return (np.arange(1, x + 1)[None, :] + 100 * np.arange(1, y + 1)[:, None]).tolist()

    with h5py.File(folder / "data.h5", "r") as file:
        assert file["grids/with ghost cells"][()].tolist() == places(7, 5 * ranks)
        assert file["several"].dtype == "i2" and file["several"][()].tolist() == places(6, 2 * ranks)
        assert file["turned"].dtype == "i2" and file["turned"][()].tolist() == places(3, 2 * ranks)
        assert file["apart"][()].tolist() == list(range(1, 4 * ranks + 1)), file["apart"][()]
        assert file["rows"].dtype == "f4" and file["rows"][()].tolist() == places(3, 11)
        assert file["points"].dtype == "i8" and file["points"][()].tolist() == places(4, 10 * ranks)
        assert file["a scalar"].shape == () and file["a scalar"][()] == 42.5
        assert file["five"][()].tolist() == [1, -2, -3, 4, 5]
        one = [[111, 112, 113], [121, 122, 123], [131, 132, 133], [-11, -12, 143]]
        assert file["one rank"][()].tolist() == one, file["one rank"][()]
        assert file["unsigned"].dtype == "u2" and file["unsigned"][()].tolist() == [65535, 0, 7]
        assert file["Größe der Fläche/während"][()].tolist() == list(range(1, 1000 * ranks + 1))
        for step in range(5):
            assert (file["records/fixed"][step] - 10000 * (step + 1)).tolist() == places(4, 2 * ranks)
        converted = file["records/converted"]
        assert converted.dtype == "i2" and all(
            step.tolist() == places(4, 2 * ranks) for step in converted[()]
        ), converted[()]
        growing = file["records/growing"]
        assert growing.shape == (3, 2 * ranks, 4) and growing.maxshape[0] is None, growing
        assert not growing[:2].any() and (growing[2] - 50000).tolist() == places(4, 2 * ranks), growing[()]
        assert file["filled"][()].tolist() == [i // 2 for i in range(2 * ranks)] + [-7], file["filled"][()]
        assert file["expressions of text"][()].tolist() == [[b"one", b"abc"], [b"two", b"xyz"]], file[
            "expressions of text"
        ][()]
        assert len(file) == 15, list(file)
    with h5py.File(folder / "first.h5", "r") as file:
        lowest = [i // 10 - (i % 10 == 0 and i > 0) for i in range(10 * ranks)]
        assert file["who"][()].tolist() == lowest, file["who"][()]
    with h5py.File(folder / "large.h5", "r") as file:
        assert file["large"].shape == (3_000_000_000,) and file["large"][-8:].tolist() == list(range(1, 9))


def check_types(folder: Path, ranks: int) -> None:
    import h5py
    import numpy as np

    x, y = np.meshgrid(np.arange(1, 4), np.arange(1, 2 * ranks + 1))  # [rows, 3]
    with h5py.File(folder / "types.h5", "r") as file:
        assert file["bool"].dtype == bool and (file["bool"][()] == ((x + y) % 3 == 0)).all()
        wave = x + 100 * y - 1j * x
        assert file["complex64"].dtype == ">c8" and (file["complex64"][()] == wave).all(), file["complex64"]
        assert file["complex128"].dtype == "c16" and (file["complex128"][()] == wave).all()
        opaque = file["opaque"]
        bytes_of = 10 * x[..., None] + np.arange(1, 6) - 5 * y[..., None]
        assert opaque.id.get_type().get_tag() == b"a tag" and opaque.dtype == "V5", opaque
        stored = np.empty((2 * ranks, 3, 5), dtype="i1")  # h5py itself reads opaque elements without a tag only
        opaque.id.read(h5py.h5s.ALL, h5py.h5s.ALL, stored.view("V5")[..., 0], opaque.id.get_type())
        assert (stored == bytes_of).all(), stored
        assert h5py.check_enum_dtype(file["state"].dtype) == {"water": 0, "ice": 1, "fog = haze": -1}
        assert (file["state"][()] == np.where(x == 3, -1, (x + y) % 2)).all(), file["state"][()]
        assert h5py.check_enum_dtype(file["large state"].dtype) == {"none": 0, "most": 2**63 - 1}
        assert file["nothing"].shape is None and file["nothing"].dtype == "f8"
        assert file["converted"].dtype == "i2" and (file["converted"][()] == 255).all()
        root = file.attrs
        assert root["complex64"] == 1.5 - 2.5j and root["complex128"].tolist() == [101 - 1j, 103 - 3j]
        assert (
            root["logical"].dtype == bool
            and root["logical"]
            and root["logicals"].tolist() == [[True, False], [False, True]]
        )
        assert (
            root["bools"].tolist() == [False, True]
            and root["unsigned"].dtype == "u2"
            and root["unsigned"].tolist() == [1, 65535]
        )
        assert root["opaque"].dtype == "V4" and root["opaque"].tobytes() == bytes(range(1, 9)), root["opaque"]
        tagged, single = root.get_id("one opaque"), np.empty((), dtype="V4")
        tagged.read(single, tagged.get_type())
        assert single.tobytes() == bytes(range(5, 9)) and tagged.get_type().get_tag() == b"tagged"
        assert isinstance(root["null"], h5py.Empty) and root["null"].dtype == "f4"
        assert h5py.check_enum_dtype(root.get_id("states").dtype) == {"off": 0, "on": 2} and root[
            "states"
        ].tolist() == [0, 2]
        assert len(root) == 10, list(root)


def word(x: int, y: int) -> bytes:
    return bytes([ord("a") + y % 26]) * ((3 * x + y) % 7)


def check_texts(folder: Path, ranks: int) -> None:
    import h5py
    import numpy as np

    words = np.array([[word(i, j) for i in range(1, 4)] for j in range(1, 2 * ranks + 1)], dtype="S6")
    with h5py.File(folder / "texts.h5", "r") as file:
        paddings = {
            "space_padded": h5py.h5t.STR_SPACEPAD,
            "null_padded": h5py.h5t.STR_NULLPAD,
            "null_terminated": h5py.h5t.STR_NULLTERM,
        }
        for padding, stored in paddings.items():
            for call in ("put", "block", "ghosts", "records"):
                texts = file[f"{call} {padding}"]
                assert texts.id.get_type().get_strpad() == stored, (texts, padding)
                read = texts[()].swapaxes(0, 1).reshape(words.shape) if call == "records" else texts[()]
                assert (read == words).all(), (texts, read, words)
        with open(folder / "texts.h5", "rb") as plain:  # the bytes themselves
            for padding, filler in (("space_padded", b" "), ("null_padded", b"\0"), ("null_terminated", b"\0")):
                plain.seek(file[f"put {padding}"].id.get_offset())
                stored = plain.read(words.size * 6)
                assert stored == b"".join(text.ljust(6, filler) for text in words.ravel()), (padding, stored)
        assert file["default"].id.get_type().get_strpad() == h5py.h5t.STR_SPACEPAD
        assert tuple(h5py.check_string_dtype(file["ascii"].dtype)) == ("ascii", 2) and file["ascii"][()].tolist() == [
            b"ab",
            b"c",
        ]
        assert [text.decode() for text in file["texts"][()].ravel()] == ["one", "", "größe", "four   4"], file["texts"][
            ()
        ]
        assert file["one text"][()] == b"alone" and file["fixed"][()].tolist() == [b"abc", b"de"]
        assert file["a constant"][()] == b"xyz"
        assert file["as it is"][-1].tolist() == [b"", b"e"], file["as it is"][()]
        assert file.attrs["fixed"] == b"abc" and file.attrs.get_id("fixed").get_type().get_size() == 4
    with h5py.File(folder / "others.h5", "r") as file:
        assert file["words"][0].tolist() == [b"new", b"bb"] and file["words"][2, 1].decode() == "grün", file["words"][
            ()
        ]
        assert file[file.attrs["own"]].name == "/chunked"
        several = file["words"].attrs["several"]
        assert [file[each].name if each else "" for each in several] == ["/bool", "", "/"], several


def check_names(folder: Path, ranks: int) -> None:
    import h5py

    with h5py.File(folder / "names.h5", "r") as file:
        assert (
            file["group/short"][()].tolist() == [1, 2, 3]
            and file.get("group/short", getlink=True).path == "inner/value"
        )
        assert file.get("größe", getlink=True).path == "/nowhere"
        if "unused" not in file:
            return  # built without HDF5's high-level library, as the program has found
        field = file["ocean/field"]
        assert field.shape == (4, 3, 5) and [len(scales) for scales in field.dims] == [1, 0, 1], field
        assert [field.dims[0][0].name, field.dims[2][0].name] == ["/time", "/ocean/cell"]
        assert (
            file["time"].attrs["CLASS"] == b"DIMENSION_SCALE"
            and file["unused"].shape == (11,)
            and file["group/huge"].shape == (2**40,)
        )


def check_errors(folder: Path, ranks: int) -> None:
    import h5py

    with h5py.File(folder / "errors.h5", "r") as file:
        assert list(file) == ["a line", "numbers"], list(file)
        assert file["numbers"][()].tolist() == [[rank] * 4 for rank in range(ranks)], file["numbers"][()]


def check_viewers(folder: Path, ranks: int) -> None:
    from xml.etree import ElementTree

    domain = ElementTree.parse(folder / "viewers.xmf").getroot().find("Domain")
    grids = {grid.get("Name"): grid for grid in domain.iter("Grid") if grid.find("Geometry") is not None}
    assert {"sheet", "bent", "mesh"} <= set(grids), list(grids)
    assert len([grid for grid in domain.iter("Grid") if grid.find("Geometry") is not None]) == 5
    assert sorted(time.get("Value") for time in domain.iter("Time") if time.get("Value")) == ["0.5", "1.5"]
    text = (folder / "viewers.xmf").read_text()
    assert "2 3 4" in text, "the nodes of the uniform grid, slowest first"
    words = " ".join(text.split())
    assert "3 2 1" in words and "1 0.5 0.25" in words, "its origin and spacing, slowest first"
    (flow,) = grids["mesh"].findall("Attribute")
    assert (flow.get("Name"), flow.get("Center")) == ("flow", "Cell"), flow.attrib


def check_stop(done: subprocess.CompletedProcess, folder: Path) -> None:
    assert done.returncode != 0, "an error without stat has to stop the program"
    assert "windrow: " in done.stderr and "missing.raw" in done.stderr, done.stderr
    assert "went on" not in done.stdout, done.stdout
    assert not (folder / "stopped.raw").exists(), "a file that was not closed is published"


def main(what: str, program: str, ranks: str, ending: str, launcher: str) -> None:
    with tempfile.TemporaryDirectory(prefix="windrow-fortran-") as name:
        folder = Path(name)
        if ending == "h5" and what == "objects":
            make_foreign(folder)
        if ending == "h5" and what in ("types", "texts"):
            make_others(folder)
        done = run(launcher, ranks, program, name, ending)
        if what == "stop":
            check_stop(done, folder)
            return
        if done.returncode != 0 or done.stdout != "all as expected\n":
            sys.exit(f"exit code {done.returncode}\n{done.stdout}{done.stderr}")
        left = [path.name for path in folder.iterdir() if ".windrow-" in path.name]
        assert not left, left
        if ending == "h5":
            checks = {
                "bytes": check_bytes,
                "objects": check_objects,
                "data": check_data,
                "types": check_types,
                "texts": check_texts,
                "names": check_names,
                "errors": check_errors,
                "viewers": check_viewers,
            }
            checks[what](folder, int(ranks))


if __name__ == "__main__":
    main(*sys.argv[1:])
