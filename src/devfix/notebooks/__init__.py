"""Jupyter notebooks as Python source: read, edited and run cell by cell.

The engine sees a notebook as its script: the code cells one below the other, each behind a separator line. Only the
standard library is imported, since the interpreter of the program runs `host` with the modules beside it.
"""

from pathlib import Path

HOST = Path(__file__).parent / "host" / "run.py"  # run by the interpreter of the program, with the notebook's path
KERNEL = "ipykernel.kernelapp"  # what it imports, and takes a while
