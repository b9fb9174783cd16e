"""Rewrites of C kernels for hardware: found in the typed tree, made in the text.

For example:

    kernel = read_kernel("gemm.c", text)
    for candidate in candidates_of(kernel):
        better = apply_candidates(text, [candidate])

Each rewrite is a module with its precondition and its law; `REWRITERS` lists them. A rewrite is
offered where the typed tree proves its precondition: subscripts are sums of variables with constant
factors, arrays of the host that have different names don't overlap (the hardware refuses those that
do), numbers of iterations and addresses are known. No rewrite looks at names or at the text.
"""

from cyclescope.hls.rewrites._candidates import Rewriter
from cyclescope.hls.rewrites._kernel import Kernel, read_kernel
from cyclescope.hls.rewrites._list import REWRITERS, candidates_of
from cyclescope.hls.rewrites._subject import KernelSubject, kernel_subject

__all__ = [
    "REWRITERS",
    "Kernel",
    "KernelSubject",
    "Rewriter",
    "candidates_of",
    "kernel_subject",
    "read_kernel",
]
