# SPDX-License-Identifier: BSD-3-Clause
"""windrow.copy: by all ranks together, with progress, and errors that are the same on every rank."""

import numpy as np
import pytest

import windrow


def make(path, comm):
    with windrow.open(path, "w", comm=comm) as f:
        f.create_variable("group/table", data=np.arange(60.0).reshape(12, 5), chunks=(4, 5), compression=1).attrs[
            "units"
        ] = "K"
        f.create_variable("words", data=np.array(["a", "b"]))


def test_a_copy_by_all_ranks(folder, comm):
    make(folder / "a.h5", comm)
    steps = []
    windrow.copy(
        folder / "a.h5", folder / "b.h5", comm, buffer=4096, progress=lambda done, total: steps.append((done, total))
    )
    assert windrow.copy(folder / "b.h5", folder / "c.raw", comm, strategy="two-phase") == []
    assert steps[-1][0] == steps[-1][1] == 480
    for name in ("b.h5", "c.raw"):
        with windrow.open(folder / name, comm=comm) as f:
            assert (
                np.array_equal(f["group/table"][...], np.arange(60.0).reshape(12, 5))
                and f["group/table"].attrs["units"] == "K"
            )
            assert list(f["words"][...]) == ["a", "b"] and (name == "c.raw" or f["group/table"].filters == "deflate:1")


def test_copies_that_cannot_be(folder, comm, barrier):
    make(folder / "a.h5", comm)
    wrongs = [
        ("none.h5", "b.h5", {}, windrow.Code.NOT_FOUND, "none.h5"),
        ("a.h5", "a.h5", {}, windrow.Code.BAD_ARGUMENT, "are the same file"),
    ]
    wrongs += [
        ("a.h5", "b.h5", {"buffer": 2**70}, windrow.Code.BAD_ARGUMENT, "64 bits"),
        ("a.h5", "b.h5", {"stratgy": "auto"}, windrow.Code.BAD_ARGUMENT, "strategy"),
    ]
    for source, target, options, code, text in wrongs:
        with pytest.raises(windrow.WindrowError, match=text) as caught:
            windrow.copy(folder / source, folder / target, comm, **options)
        assert caught.value.code == code, source
    barrier()
    assert not (folder / "b.h5").exists()


def test_what_progress_raises(folder, comm):
    make(folder / "a.h5", comm)

    def stop(done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        windrow.copy(folder / "a.h5", folder / "b.h5", comm, progress=stop)
    assert (folder / "b.h5").exists(), "the copy has ended before"
