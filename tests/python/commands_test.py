# SPDX-License-Identifier: BSD-3-Clause
"""python -m windrow: a picture of a trace, a copy with progress."""

from pathlib import Path

import numpy as np
import pytest

import windrow
from windrow.__main__ import main

h5py = pytest.importorskip("h5py")
SAMPLE = Path(__file__).resolve().parents[2] / "docs" / "samples" / "trace.jsonl"


def test_a_picture_of_a_trace(folder, capsys):
    pytest.importorskip("matplotlib")
    assert main(["report", str(SAMPLE), "--png", str(folder / "picture.png")]) == 0
    assert (folder / "picture.png").read_bytes()[1:4] == b"PNG" and "flushes" in capsys.readouterr().out
    (folder / "other").write_text("{}\n")
    assert main(["report", str(folder / "other")]) == 1 and "not a trace" in capsys.readouterr().err
    assert main(["report", str(folder / "none")]) == 1


@pytest.mark.parametrize("filters", [None, "shuffle,deflate:1"])
def test_a_copy_is_the_same(folder, filters, capsys):
    with windrow.open(folder / "a.h5", "w") as f:
        f.create_variable("x", data=np.arange(5.0), dims=("x",)).attrs["units"] = "m"
        f.create_variable("group/table", data=np.arange(10, dtype="int16").reshape(2, 5), dims=("t", "x"), chunks=(1, 5), compression=3)
        f.create_variable("words", data=np.array(["a", "größer"]))
        f.create_variable("fixed", data=np.array([b"ab", b"c"]))
        f.create_variable("scalar", data=np.float32(2.5))
        f.create_variable("grows", (0, 3), "int64", extendible=True)
        f.create_link("link", "group/table")
        f["group"].attrs["note"] = "of a group"
        f.put("grows", np.arange(3), windrow.same("self", (3,)), record=1)
    more = [] if filters is None else ["--filters", filters]
    assert main(["copy", str(folder / "a.h5"), str(folder / "b.h5"), *more]) == 0, capsys.readouterr().err
    with windrow.open(folder / "a.h5") as a, windrow.open(folder / "b.h5") as b, h5py.File(folder / "b.h5") as seen:
        for name in ("x", "group/table", "words", "fixed", "scalar", "grows"):
            assert np.array_equal(a[name][...], b[name][...]) and a[name].dims == b[name].dims and dict(a[name].attrs) == dict(b[name].attrs), name
            assert name in seen
        assert b["group"].attrs["note"] == "of a group" and b["link"].name == "/group/table" and b["grows"].extendible
        assert b["group/table"].filters == (filters or "deflate:3")


def test_what_cannot_be_copied(folder, capsys):
    assert main(["copy", str(folder / "none.h5"), str(folder / "b.h5")]) == 1
    assert "none.h5" in capsys.readouterr().err and not (folder / "b.h5").exists()
