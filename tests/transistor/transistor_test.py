# SPDX-License-Identifier: BSD-3-Clause
"""windrow-transistor solves the same problem on any number of ranks, restarts from a checkpoint on another number, and
gives the potential of a semiconductor.   transistor_test.py box | NODES (meshed by gmsh)
"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy as np
from runs import EXAMPLE, run

THERMAL, INTRINSIC = 0.025852, 1e10  # V, cm^-3
EMITTER, BASE, COLLECTOR = 1e18, -2e16, 1e15  # donors minus acceptors, cm^-3
SAME = 1e-7  # V; the solver's tolerance leaves less


class Transistor(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        holder = tempfile.TemporaryDirectory(prefix="windrow transistor ")
        cls.addClassCleanup(holder.cleanup)
        cls.folder = Path(holder.name)
        cls.mesh = MESH
        if MESH != "box":
            cls.mesh = cls.folder / "device.msh"
            subprocess.run([sys.executable, EXAMPLE / "make_mesh.py", MESH, cls.mesh], check=True)
        for ranks in (1, 2, 3, 4):
            run(ranks, "--mesh", cls.mesh, "--output", cls.folder / f"on{ranks}.h5")

    def open(self, name: str) -> h5py.File:
        file = h5py.File(self.folder / f"{name}.h5")
        self.addCleanup(file.close)
        return file

    def last(self, file: h5py.File) -> h5py.Group:
        return file[f"step {file.attrs['last_step']}"]

    def test_every_number_of_ranks_writes_the_same(self) -> None:
        one = self.open("on1")
        self.assertLess(self.last(one).attrs["residual"], 1e-10)
        for ranks in (2, 3, 4):
            with self.subTest(ranks=ranks):
                other = self.open(f"on{ranks}")
                for name in ("coordinates", "tetrahedra", "doping"):
                    np.testing.assert_array_equal(other[f"mesh/{name}"], one[f"mesh/{name}"])
                self.assertEqual(other.attrs["last_step"], one.attrs["last_step"])
                for step in range(one.attrs["last_step"] + 1):
                    potential = one[f"step {step}/potential"][()]
                    np.testing.assert_allclose(other[f"step {step}/potential"], potential, rtol=0, atol=SAME)
                    np.testing.assert_allclose(
                        other[f"step {step}/electrons"], one[f"step {step}/electrons"], rtol=1e-5
                    )
                    np.testing.assert_allclose(other[f"step {step}/holes"], one[f"step {step}/holes"], rtol=1e-5)

    def test_the_residual_falls_at_each_step(self) -> None:
        file = self.open("on4")
        residuals = [file[f"step {step}"].attrs["residual"] for step in range(file.attrs["last_step"] + 1)]
        self.assertGreater(len(residuals), 4)  # otherwise there is nothing to go on from
        self.assertTrue(all(after < before for before, after in zip(residuals, residuals[1:])), residuals)

    def test_goes_on_on_another_number_of_ranks(self) -> None:
        text = run(4, "--mesh", self.mesh, "--steps", 2, "--output", self.folder / "part.h5")
        self.assertIn("not solved yet", text)
        self.assertEqual(self.open("part").attrs["last_step"], 2)
        for ranks in (1, 3, 5):
            run(ranks, "--restart", self.folder / "part.h5", "--output", self.folder / f"rest{ranks}.h5")
            rest, whole = self.open(f"rest{ranks}"), self.open("on1")
            np.testing.assert_array_equal(rest["mesh/tetrahedra"], whole["mesh/tetrahedra"])
            np.testing.assert_allclose(
                rest["step 2/potential"], self.open("part")["step 2/potential"], rtol=0, atol=1e-15
            )
            self.assertNotIn("step 1", rest)  # it continued and did not start again
            np.testing.assert_allclose(self.last(rest)["potential"], self.last(whole)["potential"], rtol=0, atol=SAME)

    def test_goes_on_into_the_same_file_from_an_earlier_step(self) -> None:
        path = self.folder / "again.h5"
        run(2, "--mesh", self.mesh, "--output", path)
        run(3, "--restart", path, "--from", 1, "--output", path)
        again = self.open("again")
        self.assertNotIn("step 0", again)
        np.testing.assert_allclose(
            self.last(again)["potential"], self.last(self.open("on1"))["potential"], rtol=0, atol=SAME
        )

    def values_at(self, file: h5py.File, name: str, low: "tuple[float, ...]", high: "tuple[float, ...]") -> np.ndarray:
        places = file["mesh/coordinates"][()]
        inside = np.all((places > low) & (places < high), axis=1)
        self.assertGreater(inside.sum(), 2, f"no nodes between {low} and {high}")
        return (file["mesh/doping"] if name == "doping" else self.last(file)[name])[()][inside]

    # Far from the junctions, and below the contacts: a contact's value is given, not solved for.
    DEEP = {
        "emitter": ((3.5, 4, -0.5), (5, 6, -0.01)),
        "base": ((6.2, 3.2, -1.5), (8, 6.9, -0.01)),
        "collector": ((1, 1, -5.5), (11, 9, -4.1)),
    }

    def test_the_potentials_of_the_junctions(self) -> None:
        file = self.open("on3")
        potential = {name: np.mean(self.values_at(file, "potential", *box)) for name, box in self.DEEP.items()}
        for side, doping in (("emitter", EMITTER), ("collector", COLLECTOR)):
            expected = THERMAL * np.log(doping * -BASE / INTRINSIC**2)
            self.assertAlmostEqual(potential[side] - potential["base"], expected, delta=0.03 * expected)

    def test_no_charge_far_from_the_junctions(self) -> None:
        file = self.open("on3")
        for name, box in self.DEEP.items():
            doping = self.values_at(file, "doping", *box)
            charge = self.values_at(file, "holes", *box) - self.values_at(file, "electrons", *box) + doping
            self.assertLess(np.abs(charge / doping).max(), 0.02, name)

    def test_carriers_are_boltzmanns_and_the_junctions_are_empty(self) -> None:
        file = self.open("on3")
        step = self.last(file)
        potential, electrons, holes = (step[name][()] for name in ("potential", "electrons", "holes"))
        np.testing.assert_allclose(electrons, INTRINSIC * np.exp(potential / THERMAL), rtol=1e-9)
        np.testing.assert_allclose(electrons * holes, INTRINSIC**2, rtol=1e-9)
        # Between base and collector there are places with less than a thousandth of the carriers on either side.
        between = ((4, 4, -2.75), (7, 6, -2.15))
        self.assertLess(
            (self.values_at(file, "electrons", *between) + self.values_at(file, "holes", *between)).min(),
            1e-3 * COLLECTOR,
        )

    def test_a_voltage_at_the_collector_widens_its_junction(self) -> None:
        run(3, "--mesh", self.mesh, "--voltages", 0, 2, "--output", self.folder / "bias.h5")
        bias, none = self.open("bias"), self.open("on3")
        np.testing.assert_allclose(bias.attrs["voltages"], [0, 0, 2])
        means = [np.mean(self.values_at(each, "potential", *self.DEEP["collector"])) for each in (bias, none)]
        self.assertAlmostEqual(means[0] - means[1], 2, delta=0.01)
        empty = [
            np.sum(self.last(each)["electrons"][()] + self.last(each)["holes"][()] < 1e-2 * COLLECTOR)
            for each in (bias, none)
        ]
        self.assertGreater(empty[0], empty[1])


if __name__ == "__main__":
    MESH = sys.argv[1]
    unittest.main(argv=sys.argv[:1])
