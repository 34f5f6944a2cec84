# SPDX-License-Identifier: BSD-3-Clause
"""What the examples called viewer write, as VTK's readers show it: they are ParaView's. Skipped where Python has no
VTK (pip install vtk).

Arguments: the program, the launcher in one word.
"""

import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

try:
    import numpy
    import vtk
    from vtk.util.numpy_support import vtk_to_numpy
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

PROGRAM, LAUNCHER = sys.argv[1:3]
READERS = [name for name in ("vtkXdmfReader", "vtkXdmf3Reader") if hasattr(vtk, name)]
if not READERS:
    print("skipped: this VTK was built without its readers of XDMF")
    sys.exit(77)


def leaves(data: "vtk.vtkDataObject", name: str = "") -> "dict[str, vtk.vtkDataSet]":
    """The data sets of a block of blocks, by name."""
    if not isinstance(data, vtk.vtkMultiBlockDataSet):
        return {name: data}
    found = {}
    for i in range(data.GetNumberOfBlocks()):
        about = data.GetMetaData(i)
        found |= leaves(data.GetBlock(i), about.Get(vtk.vtkCompositeDataSet.NAME()) if about else name)
    return found


class Vtk(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        holder = tempfile.TemporaryDirectory(prefix="windrow xdmf ")
        cls.addClassCleanup(holder.cleanup)
        path = Path(holder.name, "some steps.h5")
        subprocess.run([*shlex.split(LAUNCHER), "-n", "3", PROGRAM, str(path)], check=True, stdout=subprocess.DEVNULL)
        cls.text = path.with_suffix(".xmf")

    def read(self, reader_name: str, time: float) -> "dict[str, vtk.vtkDataSet]":
        reader = getattr(vtk, reader_name)()
        reader.SetFileName(str(self.text))
        reader.UpdateInformation()
        times = reader.GetOutputInformation(0).Get(vtk.vtkStreamingDemandDrivenPipeline.TIME_STEPS())
        self.assertEqual(times, (0.25, 1.25))
        reader.UpdateTimeStep(time)
        return leaves(reader.GetOutputDataObject(0))

    def test_the_grid_at_both_times(self) -> None:
        z, y, x = numpy.mgrid[0:5, 0:7, 0:9]
        for reader in READERS:
            for step, time in enumerate((0.25, 1.25)):
                with self.subTest(reader=reader, time=time):
                    (grid,) = [each for each in self.read(reader, time).values() if isinstance(each, vtk.vtkImageData)]
                    self.assertEqual(grid.GetDimensions(), (9, 7, 5))
                    self.assertEqual(grid.GetOrigin(), (100, 10, -1))
                    self.assertEqual(grid.GetSpacing(), (2, 0.25, 0.5))
                    temperature = vtk_to_numpy(grid.GetPointData().GetArray("temperature"))
                    numpy.testing.assert_array_equal(temperature, (z * 100 + y * 10 + x + time).ravel())
                    velocity = vtk_to_numpy(grid.GetPointData().GetArray("velocity"))
                    numpy.testing.assert_array_equal(velocity, numpy.stack([x, y, z], axis=-1).reshape(-1, 3))
                    material = vtk_to_numpy(grid.GetCellData().GetArray("material <1>"))
                    numpy.testing.assert_array_equal(
                        material, (z * 100 + y * 10 + x)[:-1, :-1, :-1].ravel() + step * 1000
                    )

    def test_the_mesh(self) -> None:
        for reader in READERS:
            with self.subTest(reader=reader):
                (mesh,) = [
                    each for each in self.read(reader, 1.25).values() if isinstance(each, vtk.vtkUnstructuredGrid)
                ]
                self.assertEqual((mesh.GetNumberOfPoints(), mesh.GetNumberOfCells()), (64, 162))
                self.assertEqual({mesh.GetCellType(i) for i in range(162)}, {vtk.VTK_TETRA})
                self.assertEqual(mesh.GetBounds(), (0, 3, 0, 6, 0, 9))
                sizes = vtk.vtkCellSizeFilter()
                sizes.SetInputData(mesh)
                sizes.Update()
                numpy.testing.assert_allclose(vtk_to_numpy(sizes.GetOutput().GetCellData().GetArray("Volume")), 1)
                places = vtk_to_numpy(mesh.GetPoints().GetData())
                numpy.testing.assert_array_equal(
                    vtk_to_numpy(mesh.GetPointData().GetArray("potential")), places @ [1, 10, 100]
                )
                numpy.testing.assert_array_equal(
                    vtk_to_numpy(mesh.GetCellData().GetArray("part")), numpy.arange(162) // 54
                )


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
