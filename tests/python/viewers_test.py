# SPDX-License-Identifier: BSD-3-Clause
"""Grids and meshes for viewers, sets of subfiles checked, machines measured: what is beside the data."""

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import windrow


def test_grids_and_fields(folder, comm, rank, barrier):
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        for name, shape in (
            ("p", (3, 4, 5)),
            ("w", (2, 3, 4, 3)),
            ("z", (3,)),
            ("y", (4,)),
            ("x", (5,)),
            ("places", (4, 5, 2)),
        ):
            f.create_variable(name, shape, "float64")
        f.create_variable("cells", data=[[0, 1, 2], [1, 2, 3]])
        f.create_variable("mixed", data=[4, 0, 1, 2, 4, 1, 2, 3])
        f.create_variable("nodes", (4, 3), "float32")
        f.create_variable("charge", (2,), "float32")
        for step in range(2):
            grid = f.xdmf.uniform_grid("air", (3, 4, 5), (0, 0, 0.5), (1, 1, 2), time=step / 2)
            grid.field("pressure", f["p"])
            grid.field("wind", "w", at="cells")
        f.xdmf.rectilinear_grid("rooms", ("z", "y", f["x"])).field("pressure", "p")
        f.xdmf.curvilinear_grid("shore", "places")
        f.xdmf.mesh("net", "triangle", "cells", "nodes").field("charge", "charge", at="cells")
        f.xdmf.mesh("any", "mixed", "mixed", "nodes", cells=2)
        assert "air" in repr(grid)
    barrier()
    tree = ElementTree.parse(folder / "out.xmf")
    names = {grid.get("Name") for grid in tree.iter("Grid")}
    assert {"air", "rooms", "shore", "net", "any"} <= names
    assert [time.get("Value") for time in tree.iter("Time")] == ["0", "0.5"]
    assert {field.get("Name") for field in tree.iter("Attribute")} == {"pressure", "wind", "charge"}


WRONG = {
    "lengths": lambda f: f.xdmf.uniform_grid("a", (2, 2), (0, 0, 0), (1, 1)),
    "name": lambda f: f.xdmf.uniform_grid(3, (2, 2), (0, 0), (1, 1)),
    "time": lambda f: f.xdmf.uniform_grid("a", (2, 2), (0, 0), (1, 1), time="now"),
    "no variable": lambda f: f.xdmf.rectilinear_grid("a", ("none", "x")),
    "a group": lambda f: f.xdmf.curvilinear_grid("a", "g"),
    "cell": lambda f: f.xdmf.mesh("a", "sphere", "x", "x"),
    "field": lambda f: f.grid.field("a", "x", at="edges"),
    "shape": lambda f: f.grid.field("a", "other"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_on_one_rank_is_on_all(folder, comm, rank, size, case):
    with windrow.open(folder / "out.h5", "w", comm=comm) as f:
        f.create_variable("x", (2, 2), "float64")
        f.create_variable("other", (5,), "float64")
        f.create_group("g")
        f.grid = f.xdmf.uniform_grid("good", (2, 2), (0, 0), (1, 1))
        right = (
            (lambda f: f.grid.field("p", "x"))
            if case in ("field", "shape")
            else lambda f: f.xdmf.uniform_grid("right", (2, 2), (0, 0), (1, 1))
        )
        with pytest.raises(windrow.WindrowError) as caught:
            (WRONG[case] if rank == size - 1 else right)(f)
        assert caught.value.code in (windrow.Code.BAD_ARGUMENT, windrow.Code.NOT_FOUND)


def test_a_set_of_subfiles_is_checked(folder, comm, rank, size, barrier):
    with windrow.open(folder / "out.h5", "w", comm=comm, files="subfiles(2)") as f:
        f.create_variable("x", (4, 4), "float64")[...] = 1
        assert len(f.subfiles) == 2
    with windrow.open(folder / "out.h5", comm=comm) as f:
        assert f.check_subfiles() == []
        one = folder / f.subfiles[1]
    barrier()
    if rank == 0:
        one.rename(folder / "aside")
    barrier()
    with windrow.open(folder / "out.h5", comm=comm) as f:
        assert any(one.name in problem for problem in f.check_subfiles())


def test_a_machine_is_measured_and_advice_is_had(folder, comm, rank, size, barrier, raises_on_all):
    raises_on_all(lambda: windrow.calibrate(comm, folder, 3 if rank == size - 1 else "machine.json"), size - 1)
    raises_on_all(
        lambda: windrow.calibrate(comm, folder, "machine.json", **({"nonsense": 1} if rank == size - 1 else {})),
        size - 1,
        "nonsense",
    )
    with pytest.raises(windrow.WindrowError) as caught:
        windrow.calibrate(comm, folder / "nowhere", folder / "machine.json")
    assert caught.value.code == windrow.Code.NOT_FOUND
    with windrow.open(folder / "out.h5", "w", comm=comm, trace=folder / "out.trace") as f:
        f.create_variable("x", (8, size), "float64")[:, rank] = np.arange(8)
    barrier()
    if rank == 0:
        advice = windrow.advise(folder / "out.trace")
        assert advice.data and "<table>" in advice._repr_html_() and len(repr(advice)) > 20
    with pytest.raises(windrow.WindrowError):
        windrow.advise(folder / "nothing.trace")
