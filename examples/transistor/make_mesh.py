#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The transistor meshed by gmsh:   make_mesh.py SIZE FILE.msh   where SIZE is 1 to 4 or a number of nodes.

1 to 4 are 47 219, 32 888, 73 260 and 289 650 nodes. gmsh takes the size of elements, not the number of nodes; so the
size is looked for until the number is within 2 % of what was asked for. For 1 to 4 it is known.
"""

import argparse
import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path

GEOMETRY = Path(__file__).resolve().parents[1] / "mesh" / "transistor.geo"
SIZES = {"1": 47219, "2": 32888, "3": 73260, "4": 289650}
# Nodes that gmsh 4.8 makes of elements that are so fine at the junctions (um), the coarse ones in proportion.
KNOWN = ((47165, 0.1066), (32972, 0.1216), (73760, 0.09066), (289431, 0.0559))
COARSE = 1.2 / 0.1066
NEAR = 0.02
TRIES = 6


def mesh(fine: float, path: Path) -> int:
    """Runs gmsh; returns how many nodes there are."""
    command = [
        "gmsh",
        "-3",
        str(GEOMETRY),
        "-setnumber",
        "fine",
        f"{fine:.5g}",
        "-setnumber",
        "coarse",
        f"{fine * COARSE:.5g}",
    ]
    try:
        run = subprocess.run(
            [*command, "-format", "msh41", "-o", str(path)], capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        sys.exit("make_mesh.py: gmsh was not found (Debian: gmsh); windrow-transistor --mesh box needs none")
    found = re.search(r"(\d+) nodes \d+ elements", run.stdout)
    if run.returncode != 0 or not found:
        sys.exit(f"make_mesh.py: gmsh failed: {(run.stderr or run.stdout).strip()[-300:]}")
    return int(found[1])


def next_size(tried: "list[tuple[int, float]]", nodes: int) -> float:
    """Nodes are about a power of the size: through the two nearest that are known, or the cube of one."""
    near = sorted(tried, key=lambda each: abs(math.log(each[0] / nodes)))[:2]
    power = -2.5
    if len(near) == 2 and near[0][0] != near[1][0]:
        power = math.log(near[0][0] / near[1][0]) / math.log(near[0][1] / near[1][1])
    return near[0][1] * (nodes / near[0][0]) ** (1 / power)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("size", help="1, 2, 3, 4 or a number of nodes")
    parser.add_argument("output", type=Path, help="FILE.msh")
    arguments = parser.parse_args()
    if not arguments.size.isdigit() or arguments.output.suffix != ".msh":
        parser.error("the size is 1 to 4 or a number of nodes, the file is called .msh")
    wanted = SIZES.get(arguments.size, int(arguments.size))
    if wanted < 1000:
        parser.error("below 1000 nodes the device's parts are not resolved")
    tried = list(KNOWN)
    with tempfile.TemporaryDirectory(dir=arguments.output.resolve().parent, prefix=".mesh-") as folder:
        draft = Path(folder, "draft.msh")
        for _ in range(TRIES):
            fine = next_size(tried, wanted)
            nodes = mesh(fine, draft)
            tried.append((nodes, fine))
            if abs(nodes / wanted - 1) <= NEAR:
                draft.rename(arguments.output)
                print(
                    f"{arguments.output}: {nodes} nodes, {wanted} were asked for; elements of {fine:.4g} um at the "
                    "junctions"
                )
                return
    sys.exit(f"make_mesh.py: gmsh made {[nodes for nodes, _ in tried[1:]]} nodes, none within 2 % of {wanted}")


if __name__ == "__main__":
    main()
