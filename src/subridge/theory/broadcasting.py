"""The one shape that all parameters of a call broadcast to."""

import numpy as np

from subridge.model.errors import ParameterError


def common_shape(**shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape all parameters broadcast to, or an error that names them."""
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError as error:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items() if shape)
        raise ParameterError(f"leading shapes do not broadcast together: {listed}; add axes of length 1") from error
