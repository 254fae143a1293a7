"""What a device refuses by itself, told as the cause of a test that fails on it: parts of messages, by the device.

Each is an entry of docs/explanation/accelerators.md, where PyTorch's sources say so.
"""

from __future__ import annotations

_NO_FLOAT64 = "what a Mac refuses: float64"
_NO_KERNEL = "what a Mac refuses: an operator without an MPS kernel"
_NO_COMPLEX = "what a Mac refuses: factorizations of complex numbers"
REFUSED: dict[str, dict[str, str]] = {
    "mps": {
        "MPS framework doesn't support float64": _NO_FLOAT64,
        "to the MPS backend but it does not have support for that dtype": "what a Mac refuses: complex128 and float8",
        "not currently implemented for the MPS device": _NO_KERNEL,
        "with arguments from the 'MPS' backend": _NO_KERNEL,
        "FlexAttention does not support backward on MPS": "what a Mac refuses: gradients of FlexAttention",
        "Adaptive pool MPS: ": "what a Mac refuses: adaptive pooling of sizes that do not divide",
        "ConvTranspose 3D with BF16 or FP16": "what a Mac refuses: transposed 3D convolutions in half precision",
        "index_reduce for MPS does not support": "what a Mac refuses: `index_reduce` of 64-bit integers",
        "linalg_inv: not supported for complex": _NO_COMPLEX,
        "linalg.lu_factor(): MPS": _NO_COMPLEX,
        "linalg.solve.triangular(); Only float": _NO_COMPLEX,
        "cholesky_inverse: MPS only supports": _NO_COMPLEX,
        "Convolution is supported only for Floating types": "what a Mac refuses: convolutions of integers",
        "does not support linear for non-float inputs": "what a Mac refuses: `linear` of integers",
    },
}
