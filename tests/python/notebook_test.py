# SPDX-License-Identifier: BSD-3-Clause
"""The notebook of examples/python runs from its first cell to its last, and shows tables and a picture. Exit code 77:
there is no nbclient, no kernel or no xarray (Debian: python3-nbclient python3-ipykernel python3-xarray)."""

import os
import sys
from pathlib import Path

try:
    import ipykernel  # noqa: F401
    import matplotlib  # noqa: F401
    import nbformat
    import xarray  # noqa: F401
    from nbclient import NotebookClient
except ImportError:
    sys.exit(77)

folder = Path(os.environ["WINDROW_TEST_FOLDER"])
folder.mkdir(parents=True, exist_ok=True)
notebook = nbformat.read(
    Path(__file__).resolve().parents[2] / "examples" / "python" / "first_steps.ipynb", as_version=4
)
if any(cell.get("outputs") for cell in notebook.cells):
    sys.exit("the notebook is kept without outputs")
NotebookClient(notebook, timeout=100, kernel_name="python3", resources={"metadata": {"path": str(folder)}}).execute()
shown = [kind for cell in notebook.cells for output in cell.get("outputs", []) for kind in output.get("data", {})]
if "text/html" not in shown or "image/png" not in shown:
    sys.exit(f"the notebook shows {sorted(set(shown))}")
