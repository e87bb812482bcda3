"""
Native kernels of bestdag; private, called in bulk by the Python layers.
"""

from collections.abc import Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray


def sample_network(keys: Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C', device='cpu', writable=False)], thresholds: Sequence[Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C', device='cpu', writable=False)]], parents: Sequence[Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]], strides: Sequence[Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]], columns: Sequence[Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')] | Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu')]], threads: int) -> None:
    """
    Draw all rows of a network, parents first, into the columns; see kernels/sampling.hpp.
    """
