"""The boundary of the noise-dominated phase is where theory says, whatever the grid."""

import numpy as np
import pytest

import subridge as sr
from subridge.figures.drawing.phase_maps import plot_maps


@pytest.mark.parametrize("n_rows", [5, 22, 64])
def test_the_drawn_boundary_does_not_depend_on_the_grid(n_rows):
    diagram = sr.phase_diagram(np.linspace(0, 3, 7), readout_nsr=np.linspace(0, 2.1, n_rows))
    assert float(diagram.boundary_end) == pytest.approx(2.0, abs=1e-9)
    full = diagram.expand_dims(ridge=["0"], alignment=[0.0])
    (line,) = plot_maps(full, errors=False).axes[0].lines
    x, y = (np.asarray(values, dtype=float) for values in line.get_data())
    inside = (x > 0.01) & np.isfinite(x)
    np.testing.assert_allclose(y[inside], 2.0, atol=1e-9)  # horizontal at H = 2, where k* becomes infinite


def test_a_range_without_infinite_ensembles_has_no_end():
    diagram = sr.phase_diagram(np.linspace(0, 3, 4), readout_nsr=np.linspace(0, 1, 3))
    assert np.isnan(float(diagram.boundary_end))
