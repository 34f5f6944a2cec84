# SPDX-License-Identifier: BSD-3-Clause
"""Mistakes end windrow-transistor on all ranks, with one line that says what is wrong; METIS's files are read as
gmsh's are."""

import itertools
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy as np
from runs import MESH_PROGRAM, run, start

RANKS = 3
# With the Python that the examples look for meshio in; its second argument is a folder of files of one and the same
# mesh.
WRITE_WITH_MESHIO = """
import sys
import h5py
import meshio
with h5py.File(sys.argv[1]) as file:
    places, cells = file["mesh/coordinates"][()], file["mesh/tetrahedra"][()]
parts = {"part": [[1] * 9, [2] * len(cells)]}
mesh = meshio.Mesh(places, [("triangle", cells[:9, :3]), ("tetra", cells)], cell_data=parts)
mesh.write(sys.argv[2] + "/by meshio.vtk")
meshio.write(sys.argv[2] + "/medit.mesh", meshio.Mesh(places, [("tetra", cells)]), file_format="medit")
meshio.write(sys.argv[2] + "/binary.msh", meshio.Mesh(places, [("tetra", cells)]), file_format="gmsh", binary=True)
meshio.write(sys.argv[2] + "/flat.vtk", meshio.Mesh(places, [("triangle", cells[:9, :3])]))
"""


def write_with_meshio(device: Path, folder: Path) -> bool:
    """Whether there is a Python with meshio."""
    for python in ("python3", "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import meshio"], capture_output=True, check=False).returncode == 0:
            subprocess.run([python, "-c", WRITE_WITH_MESHIO, device, folder], check=True)
            return True
    return False


class Mistakes(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        holder = tempfile.TemporaryDirectory(prefix="windrow transistor ")
        cls.addClassCleanup(holder.cleanup)
        cls.folder = Path(holder.name)
        run(2, "--steps", 1, "--output", cls.folder / "device.h5")
        with h5py.File(cls.folder / "device.h5") as file:
            cls.places, cls.cells = file["mesh/coordinates"][()], file["mesh/tetrahedra"][()]

    def refused(self, text: str, *words: object, **environment: str) -> None:
        output = self.folder / "refused.h5"
        done = start(RANKS, *words, *([] if "--output" in words else ["--output", output]), **environment)
        self.assertNotEqual(done.returncode, 0)
        lines = [line for line in done.stderr.splitlines() if line.startswith("windrow-transistor: ")]
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertIn(text, lines[0])
        self.assertFalse(output.exists())

    def write_metis(self, name: str, cells: np.ndarray, places: np.ndarray) -> "tuple[Path, Path]":
        mesh, coordinates = self.folder / f"{name}.mesh", self.folder / f"{name}.xyz"
        mesh.write_text(f"% a comment\n{len(cells)}\n" + "".join(" ".join(map(str, cell + 1)) + "\n" for cell in cells))
        np.savetxt(coordinates, places, fmt="%.17g")
        return mesh, coordinates

    def test_meshes(self) -> None:
        self.refused("cannot open", "--mesh", self.folder / "none.msh")
        self.refused("cannot open", "--mesh", self.folder / "none.vtk")
        graph = self.folder / "a.graph"
        graph.write_text("2 1\n2\n1\n")
        self.refused("a graph has neither tetrahedra nor places", "--mesh", graph)
        bad = self.folder / "bad.msh"
        bad.write_text("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n-3\n")
        self.refused("a bad count", "--mesh", bad)
        whole = (
            "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n"
            "$Elements\n1\n1 4 2 1 1 1 2 3 4\n$EndElements\n"
        )
        for words, text in (
            (whole[:-14], "$Elements does not end"),
            (whole[:-16], "a bad element"),
            (whole.replace("2 3 4\n", "2 x 4\n"), "a bad element"),
            (whole.replace("$Nodes\n4", "$Nodes\n3"), "$Nodes does not end"),
        ):
            bad.write_text(words)
            self.refused(text, "--mesh", bad)
        mesh, coordinates = self.write_metis("far", self.cells, self.places + 100)
        self.refused("--coordinates", "--mesh", mesh)
        self.refused("no node at the contact of the emitter", "--mesh", mesh, "--coordinates", coordinates)
        mesh, coordinates = self.write_metis(
            "lonely", np.delete(self.cells, np.any(self.cells == 1000, axis=1), axis=0), self.places
        )
        self.refused("node 1000 of the mesh belongs to no tetrahedron", "--mesh", mesh, "--coordinates", coordinates)
        mesh, coordinates = self.write_metis("flat", self.cells, self.places * [1, 1, 0])
        self.refused("has no volume", "--mesh", mesh, "--coordinates", coordinates)
        nodes, cells = np.unique(self.cells[:2], return_inverse=True)
        mesh, coordinates = self.write_metis("small", cells.reshape(2, 4), self.places[nodes])
        self.refused("cannot be cut into 3 parts", "--mesh", mesh, "--coordinates", coordinates)

    def test_checkpoints(self) -> None:
        self.refused("no such file", "--restart", self.folder / "none.h5")
        self.refused('no variable "step 7/potential"', "--restart", self.folder / "device.h5", "--from", 7)
        foreign = self.folder / "foreign.h5"
        with h5py.File(foreign, "w") as file:
            file["mesh/coordinates"] = self.places
        self.refused('no attribute "last_step"', "--restart", foreign)
        damaged = self.folder / "damaged.h5"
        shutil.copy(self.folder / "device.h5", damaged)
        with h5py.File(damaged, "r+") as file:
            file["mesh/tetrahedra"][17, 2] = len(self.places)
        self.refused("is damaged", "--restart", damaged)
        with h5py.File(damaged, "r+") as file:
            file["mesh/tetrahedra"][17, 2] = 0
            del file["step 1/potential"]
            file["step 1/potential"] = np.zeros(5)
        self.refused("no checkpoint of this program", "--restart", damaged)

    def test_options(self) -> None:
        self.refused('option "strategy"', "--option", "strategy=fast")
        self.refused("no such file or directory", "--output", self.folder / "nowhere" / "out.h5")
        self.assertNotEqual(start(RANKS, "--steps", "many").returncode, 0)

    def test_a_failed_solution_leaves_its_steps(self) -> None:
        output = self.folder / "failed.h5"
        done = start(RANKS, "--output", output, "--tolerance", 1e-300)  # below rounding
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("came to a halt", done.stderr)
        with h5py.File(output) as file:
            self.assertLess(file[f"step {file.attrs['last_step']}"].attrs["residual"], 1e-10)
        self.assertEqual([each for each in os.listdir(self.folder) if each.startswith(".failed")], [])

    def test_a_full_disk_leaves_whole_steps_and_nothing_else(self) -> None:
        output, kept = self.folder / "full.h5", set()
        for writes in (2, 6, 8, 10):
            fault = f"fault=rank=0,operation=write,after={writes},error=no_space"
            done = start(RANKS, "--steps", 3, "--output", output, "--option", "store=faulty", "--option", fault)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("no space left on device", done.stderr)
            self.assertEqual([each for each in os.listdir(self.folder) if each.startswith(".full")], [])
            kept.add(output.exists())
            if output.exists():
                with h5py.File(output) as file:
                    self.assertTrue(np.isfinite(file[f"step {file.attrs['last_step']}/potential"][()]).all())
                output.unlink()
        self.assertEqual(kept, {False, True})  # before the first whole step there is nothing to keep

    def test_a_mesh_of_metis(self) -> None:
        mesh, coordinates = self.write_metis("device", self.cells, self.places)
        run(RANKS, "--mesh", mesh, "--coordinates", coordinates, "--steps", 1, "--output", self.folder / "metis.h5")
        with h5py.File(self.folder / "metis.h5") as file, h5py.File(self.folder / "device.h5") as other:
            np.testing.assert_array_equal(file["mesh/tetrahedra"], self.cells)
            np.testing.assert_allclose(file["step 1/potential"], other["step 1/potential"], rtol=0, atol=1e-7)

    def test_what_meshio_reads(self) -> None:
        without = self.folder / "without meshio"
        without.mkdir()
        (without / "meshio.py").write_text("raise ImportError\n")
        bad = self.folder / "bad.vtk"
        bad.write_text("nothing\n")
        self.refused("no python3 has it", "--mesh", bad, PYTHONPATH=str(without))
        if not write_with_meshio(self.folder / "device.h5", self.folder):
            self.skipTest("no Python with meshio")
        self.refused('bad.vtk": meshio: ', "--mesh", bad)
        self.refused("no tetrahedra of four nodes", "--mesh", self.folder / "flat.vtk")
        for name in ("by meshio.vtk", "medit.mesh", "binary.msh"):
            with self.subTest(name):
                run(RANKS, "--mesh", self.folder / name, "--steps", 1, "--output", self.folder / "by.h5")
                with h5py.File(self.folder / "by.h5") as file, h5py.File(self.folder / "device.h5") as other:
                    np.testing.assert_array_equal(file["mesh/tetrahedra"], self.cells)
                    np.testing.assert_array_equal(file["mesh/coordinates"], self.places)
                    np.testing.assert_allclose(file["step 1/potential"], other["step 1/potential"], rtol=0, atol=1e-7)

    def test_a_graph_of_metis(self) -> None:
        nodes = len(self.places)
        pairs = np.unique(np.concatenate([self.cells[:, each] for each in itertools.permutations(range(4), 2)]), axis=0)
        neighbours = np.split(pairs[:, 1], np.searchsorted(pairs[:, 0], np.arange(1, nodes)))
        graph = self.folder / "device.graph"
        graph.write_text(
            f"{nodes} {len(pairs) // 2}\n" + "".join(" ".join(map(str, each + 1)) + "\n" for each in neighbours)
        )
        text = subprocess.run(
            [MESH_PROGRAM, graph, self.folder / "device", "--parts", "4"], capture_output=True, text=True, check=True
        ).stdout
        self.assertIn(f"{nodes} nodes, 4 parts", text)
        for words, said in (
            ("2 1\n2\n\n", "not as many edges"),
            ("3 1\n2\n3\n\n", "but not the other way"),
            ("2 1\n1 2\n\n", "its own neighbour"),
            ("2 1 7\n2\n1\n", "a bad format"),
            ("2 1 1\n2 5\n1\n", "no weight"),
            ("2 1\n2\n1\n1\n", "more lines"),
            ("2 9223372036854775807\n2\n1\n", "a bad number of edges"),
        ):
            (self.folder / "bad.graph").write_text(words)
            done = subprocess.run(
                [MESH_PROGRAM, self.folder / "bad.graph", self.folder / "bad", "--parts", "2"],
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertEqual(done.returncode, 1, words)
            self.assertIn(said, done.stderr)
        (self.folder / "weights.graph").write_text(
            "% all weights there are\n2 1 111 2\n9 7 7 2 5\n8 7 7 1 5\n% end\n\n"
        )
        subprocess.run(
            [MESH_PROGRAM, self.folder / "weights.graph", self.folder / "weights", "--parts", "2"],
            capture_output=True,
            check=True,
        )
        data = (self.folder / "device.4.parts").read_bytes()
        self.assertEqual(data[:8], b"WRPARTS1")
        offsets = np.frombuffer(data, "<i8", 5, 48)
        owners = np.zeros(nodes, int)
        for begin in offsets[:-1]:
            (count,) = np.frombuffer(data, "<i8", 1, begin)
            held = np.frombuffer(data, "<i8", count, begin + 8)
            owned = np.frombuffer(data, "u1", count, begin + 8 + 8 * count) == 1
            owners[held[owned]] += 1
            for node in held[owned][:50]:
                self.assertLessEqual(set(neighbours[node]), set(held))  # a part has all neighbours of what it owns
        np.testing.assert_array_equal(owners, 1)


if __name__ == "__main__":
    unittest.main()
