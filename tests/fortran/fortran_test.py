# SPDX-License-Identifier: BSD-3-Clause
"""Runs one of the Fortran test programs and compares the files that it made with what they shall hold, by h5py.

Arguments: objects|data|errors|viewers|stop, the program, the number of ranks, the ending of the format's names, the launcher in one word.
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
        assert root == {"int8": 8, "int16": 16, "int32": 32, "int64": 64, "real32": 0.5, "real64": 0.1, "text": "Größe in °C", "replaced": "by text"}, root
        assert [root[name].dtype for name in ("int8", "int16", "int32", "int64", "real32", "real64")] == ["i1", "i2", "i4", "i8", "f4", "f8"]
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


def check_data(folder: Path, ranks: int) -> None:
    import h5py
    import numpy as np

    def places(x: int, y: int) -> list:
        return (np.arange(1, x + 1)[None, :] + 100 * np.arange(1, y + 1)[:, None]).tolist()

    with h5py.File(folder / "data.h5", "r") as file:
        assert file["grids/with ghost cells"][()].tolist() == places(7, 5 * ranks)
        assert file["several"].dtype == "i2" and file["several"][()].tolist() == places(6, 2 * ranks)
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
        growing = file["records/growing"]
        assert growing.shape == (3, 2 * ranks, 4) and growing.maxshape[0] is None, growing
        assert not growing[:2].any() and (growing[2] - 50000).tolist() == places(4, 2 * ranks), growing[()]
        assert len(file) == 10, list(file)
    with h5py.File(folder / "first.h5", "r") as file:
        lowest = [i // 10 - (i % 10 == 0 and i > 0) for i in range(10 * ranks)]
        assert file["who"][()].tolist() == lowest, file["who"][()]
    with h5py.File(folder / "large.h5", "r") as file:
        assert file["large"].shape == (3_000_000_000,) and file["large"][-8:].tolist() == list(range(1, 9))


def check_errors(folder: Path, ranks: int) -> None:
    import h5py

    with h5py.File(folder / "errors.h5", "r") as file:
        assert list(file) == ["numbers"], list(file)
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
        done = run(launcher, ranks, program, name, ending)
        if what == "stop":
            check_stop(done, folder)
            return
        if done.returncode != 0 or done.stdout != "all as expected\n":
            sys.exit(f"exit code {done.returncode}\n{done.stdout}{done.stderr}")
        left = [path.name for path in folder.iterdir() if ".windrow-" in path.name]
        assert not left, left
        if ending == "h5":
            {"objects": check_objects, "data": check_data, "errors": check_errors, "viewers": check_viewers}[what](folder, int(ranks))


if __name__ == "__main__":
    main(*sys.argv[1:])
