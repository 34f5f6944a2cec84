# SPDX-License-Identifier: BSD-3-Clause
"""The text beside a checkpoint as VTK's readers, which are ParaView's, show it. Skipped where Python has no VTK (pip
install vtk h5py)."""

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
from runs import run

READERS = [name for name in ("vtkXdmfReader", "vtkXdmf3Reader") if hasattr(vtk, name)]
if not READERS:
    print("skipped: this VTK was built without its readers of XDMF")
    sys.exit(77)


def mesh_of(data: "vtk.vtkDataObject") -> "vtk.vtkUnstructuredGrid":
    while isinstance(data, vtk.vtkMultiBlockDataSet):
        data = data.GetBlock(0)
    return data


class Viewer(unittest.TestCase):
    def test_the_steps_are_a_series_of_meshes(self) -> None:
        with tempfile.TemporaryDirectory(prefix="windrow transistor ") as folder:
            path = Path(folder, "device.h5")
            run(3, "--steps", 2, "--output", path)
            for name in READERS:
                with self.subTest(reader=name):
                    reader = getattr(vtk, name)()
                    reader.SetFileName(str(path.with_suffix(".xmf")))
                    reader.UpdateInformation()
                    times = reader.GetOutputInformation(0).Get(vtk.vtkStreamingDemandDrivenPipeline.TIME_STEPS())
                    self.assertEqual(times, (0, 1, 2))
                    reader.UpdateTimeStep(2)
                    mesh = mesh_of(reader.GetOutputDataObject(0))
                    self.assertEqual((mesh.GetNumberOfPoints(), mesh.GetNumberOfCells()), (8694, 44880))
                    self.assertEqual(mesh.GetBounds(), (0, 12, 0, 10, -6, 0))
                    values = {
                        each: vtk_to_numpy(mesh.GetPointData().GetArray(each))
                        for each in ("doping", "potential", "electrons", "holes", "residual")
                    }
                    numpy.testing.assert_allclose(
                        values["electrons"], 1e10 * numpy.exp(values["potential"] / 0.025852), rtol=1e-6
                    )
                    self.assertAlmostEqual(values["doping"].max(), 1e18, delta=3e16)
                    sizes = vtk.vtkCellSizeFilter()
                    sizes.SetInputData(mesh)
                    sizes.Update()
                    volumes = vtk_to_numpy(sizes.GetOutput().GetCellData().GetArray("Volume"))
                    self.assertAlmostEqual(numpy.abs(volumes).sum(), 12 * 10 * 6, delta=1e-6)


if __name__ == "__main__":
    unittest.main()
