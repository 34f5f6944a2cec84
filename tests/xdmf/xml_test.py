# SPDX-License-Identifier: BSD-3-Clause
"""What the examples called viewer write: the text is XML, moves together with the file, and names variables that h5py
finds.

Arguments: the program, the launcher in one word.
"""

import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from xml.etree import ElementTree

import h5py
import numpy

PROGRAM, LAUNCHER = sys.argv[1:3]
NUMBERS = {
    ("Char", 1): "int8", ("UChar", 1): "uint8", ("Short", 2): "int16", ("UShort", 2): "uint16", ("Int", 4): "int32",
    ("UInt", 4): "uint32", ("Int", 8): "int64", ("Float", 4): "float32", ("Float", 8): "float64",
}  # fmt: skip


def write(folder: Path) -> Path:
    command = [*shlex.split(LAUNCHER), "-n", "3", PROGRAM, str(folder / "some steps.h5")]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder / "some steps.xmf"


def values_of(item: ElementTree.Element, folder: Path) -> numpy.ndarray:
    shape = tuple(map(int, item.get("Dimensions", "").split()))
    kind = NUMBERS[item.get("NumberType"), int(item.get("Precision"))]
    if item.get("Format") == "XML":
        return numpy.array(item.text.split(), dtype=kind).reshape(shape)
    name, path = item.text.split(":")
    with h5py.File(folder / name) as file:
        variable = file[path]
        assert variable.shape == shape and variable.dtype == kind, (path, variable.shape, shape, variable.dtype, kind)
        return variable[()]


class Xml(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory(prefix="windrow xdmf ")
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        text = write(self.folder)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["some steps.h5", "some steps.xmf"])
        moved = self.folder / "else where"
        moved.mkdir()
        for path in (text, text.with_suffix(".h5")):
            shutil.move(path, moved)
        self.folder = moved
        self.domain = ElementTree.parse(moved / text.name).getroot().find("Domain")

    def values(self, within: ElementTree.Element, path: str) -> numpy.ndarray:
        return values_of(within.find(path), self.folder)

    def attribute(self, grid: ElementTree.Element, name: str, kind: str, center: str) -> numpy.ndarray:
        (found,) = [each for each in grid.findall("Attribute") if each.get("Name") == name]
        self.assertEqual((found.get("AttributeType"), found.get("Center")), (kind, center))
        return self.values(found, "DataItem")

    def test_the_grid_is_a_series_in_time(self) -> None:
        series, _ = self.domain.findall("Grid")
        self.assertEqual(
            (series.get("Name"), series.get("GridType"), series.get("CollectionType")),
            ("air & water", "Collection", "Temporal"),
        )
        grids = series.findall("Grid")
        self.assertEqual([float(grid.find("Time").get("Value")) for grid in grids], [0.25, 1.25])
        z, y, x = numpy.mgrid[0:5, 0:7, 0:9]
        for step, grid in enumerate(grids):
            self.assertEqual(grid.find("Topology").get("TopologyType"), "3DCoRectMesh")
            self.assertEqual(grid.find("Topology").get("Dimensions"), "5 7 9")
            self.assertEqual(grid.find("Geometry").get("GeometryType"), "ORIGIN_DXDYDZ")
            self.assertEqual(self.values(grid, "Geometry/DataItem[1]").tolist(), [-1, 10, 100])
            self.assertEqual(self.values(grid, "Geometry/DataItem[2]").tolist(), [0.5, 0.25, 2])
            temperature = self.attribute(grid, "temperature", "Scalar", "Node")
            numpy.testing.assert_array_equal(temperature, z * 100 + y * 10 + x + 0.25 + step)
            velocity = self.attribute(grid, "velocity", "Vector", "Node")
            numpy.testing.assert_array_equal(velocity, numpy.stack([x, y, z], axis=-1))
            material = self.attribute(grid, "material <1>", "Scalar", "Cell")
            numpy.testing.assert_array_equal(material, (z * 100 + y * 10 + x)[:-1, :-1, :-1] + step * 1000)

    def test_the_mesh_stands_beside_it(self) -> None:
        _, mesh = self.domain.findall("Grid")
        self.assertEqual((mesh.get("Name"), mesh.get("GridType")), ("box", "Uniform"))
        self.assertIsNone(mesh.find("Time"))
        topology = mesh.find("Topology")
        self.assertEqual((topology.get("TopologyType"), topology.get("NumberOfElements")), ("Tetrahedron", "162"))
        self.assertEqual(mesh.find("Geometry").get("GeometryType"), "XYZ")
        places = self.values(mesh, "Geometry/DataItem")
        corners = places[self.values(topology, "DataItem")]
        volumes = numpy.linalg.det(corners[:, 1:] - corners[:, :1]) / 6
        numpy.testing.assert_allclose(volumes, 1)  # cubes of 1 x 2 x 3 in six parts, none turned inside out
        potential = self.attribute(mesh, "potential", "Scalar", "Node")
        numpy.testing.assert_array_equal(potential, places @ [1, 10, 100])
        part = self.attribute(mesh, "part", "Scalar", "Cell")
        self.assertEqual(part.dtype, "uint8")
        numpy.testing.assert_array_equal(part, numpy.arange(162) // 54)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
