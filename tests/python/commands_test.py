# SPDX-License-Identifier: BSD-3-Clause
"""python -m windrow: a picture of a trace, a copy with progress."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

import windrow
from windrow.__main__ import main, read_trace

h5py = pytest.importorskip("h5py")
SAMPLE = Path(__file__).resolve().parents[2] / "docs" / "samples" / "trace.jsonl"


def test_a_picture_of_a_trace(folder, capsys):
    pytest.importorskip("matplotlib")
    assert main(["report", str(SAMPLE), "--png", str(folder / "picture.png")]) == 0
    assert (folder / "picture.png").read_bytes()[1:4] == b"PNG" and "flushes" in capsys.readouterr().out
    (folder / "other").write_text("{}\n")
    assert main(["report", str(folder / "other")]) == 1 and "not a trace" in capsys.readouterr().err
    assert main(["report", str(folder / "none")]) == 1


def test_a_trace_of_a_strange_name_or_damaged(folder, capsys):
    opening, details, flush = SAMPLE.read_text(encoding="utf-8").splitlines(keepends=True)[:3]
    numbers = json.loads(flush)
    trace = folder / "trace.jsonl"
    trace.write_text(
        opening.replace('"file":"', '"file":"\u2028')
        + details
        + flush
        + json.dumps({**numbers, "flush": 2, "total_ns": 9})
        + "\n",
        encoding="utf-8",
    )
    assert read_trace(trace) == [numbers, {**numbers, "flush": 2, "total_ns": 9}]
    with os.fdopen((ends := os.pipe())[1], "w", encoding="utf-8") as pipe:
        pipe.write(opening + details + flush)
    assert len(read_trace(Path(f"/dev/fd/{ends[0]}"))) == 1, "a pipe has no size"
    os.close(ends[0])
    changes = [
        {"bytes": None},
        {"bytes": -7},
        {"bytes": [8]},
        {"total_ns": "9"},
        {"bytes": float("nan")},
        {"bytes": 1.5},
        {"bytes": True},
        {"storage_ns": 10**400},
    ]
    for wrong in (
        "[1]",
        "null",
        "{",
        "{}",
        '{"windrow trace":2}',
        '{"flush":1}',
        '{"a":' + "[" * 100_000 + "]" * 100_000 + "}",
        *(json.dumps({**numbers, **each}) for each in changes),
    ):
        trace.write_text(opening + wrong + "\n", encoding="utf-8")
        assert main(["report", str(trace)]) == 1
        assert "line 2: not a line of a trace" in capsys.readouterr().err, wrong
    trace.write_text(opening.replace('{"windrow trace":3', '{"windrow trace":2') + details + flush, encoding="utf-8")
    assert main(["report", str(trace)]) == 1 and "is not a trace of version 3" in capsys.readouterr().err


@pytest.mark.parametrize("filters", [None, "shuffle,deflate:1"])
def test_a_copy_is_the_same(folder, filters, capsys):
    with windrow.open(folder / "a.h5", "w") as f:
        f.create_variable("x", data=np.arange(5.0), dims=("x",)).attrs["units"] = "m"
        f.create_variable(
            "group/table",
            data=np.arange(10, dtype="int16").reshape(2, 5),
            dims=("t", "x"),
            chunks=(1, 5),
            compression=3,
        )
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
            assert (
                np.array_equal(a[name][...], b[name][...])
                and a[name].dims == b[name].dims
                and dict(a[name].attrs) == dict(b[name].attrs)
            ), name
            assert name in seen
        assert b["group"].attrs["note"] == "of a group" and b["link"].name == "/group/table" and b["grows"].extendible
        assert b["group/table"].filters == (filters or "deflate:3")


def test_what_cannot_be_copied(folder, capsys):
    assert main(["copy", str(folder / "none.h5"), str(folder / "b.h5")]) == 1
    assert "none.h5" in capsys.readouterr().err and not (folder / "b.h5").exists()


def test_a_copy_is_stored_as_the_other_was(folder, capsys):
    with h5py.File(folder / "a.h5", "w") as file:
        file["big"] = np.arange(5, dtype=">f8")
        file["fixed"] = np.array([b"ab", b"c"], "S3")
        file["opaque"] = np.zeros(2, "V3")
        file["enumeration"] = np.array([0, 1], dtype=h5py.enum_dtype({"A": 0, "B": 1}, "i2"))
        file["null"] = h5py.Empty("f4")
        file.create_dataset(
            "grows",
            data=np.arange(6.0).reshape(3, 2),
            maxshape=(None, 2),
            chunks=(2, 2),
            compression="gzip",
            shuffle=True,
        )
        file["big"].attrs["null"] = h5py.Empty("f4")
        file["big"].attrs["big"] = np.arange(2, dtype=">i2")
        file["group/x"] = 1
        file["group"].attrs["fixed"] = np.bytes_(b"abc")
    assert main(["copy", str(folder / "a.h5"), str(folder / "b.h5")]) == 0, capsys.readouterr().err
    with h5py.File(folder / "a.h5") as old, h5py.File(folder / "b.h5") as new:
        for name in ("big", "fixed", "opaque", "enumeration", "grows", "null"):
            assert old[name].id.get_type().equal(new[name].id.get_type()), name
            assert (old[name].chunks, old[name].maxshape, old[name].compression) == (
                new[name].chunks,
                new[name].maxshape,
                new[name].compression,
            ), name
            assert name == "null" or np.array_equal(old[name], new[name]), name
        for owner, name in (("big", "null"), ("big", "big"), ("group", "fixed")):
            one, other = (h5py.h5a.open(file[owner].id, name.encode()) for file in (old, new))
            assert (
                one.get_type().equal(other.get_type())
                and one.get_space().get_simple_extent_type() == other.get_space().get_simple_extent_type()
            )


@pytest.mark.parametrize("where", ["attribute", "variable"])
def test_what_cannot_be_copied_is_named(folder, where, capsys):
    structure = np.zeros(1, [("real", "f4"), ("count", "i4")])
    with h5py.File(folder / "a.h5", "w") as file:
        file["x"] = [1.0]
        if where == "attribute":
            file["x"].attrs["structure"] = structure
        else:
            file["structure"] = structure
    assert main(["copy", str(folder / "a.h5"), str(folder / "b.h5")]) == 3
    said = capsys.readouterr().err
    assert (
        "cannot be copied: " + ("/x, attribute structure" if where == "attribute" else "/structure: compound") in said
    )
    assert not (folder / "b.h5").exists()
