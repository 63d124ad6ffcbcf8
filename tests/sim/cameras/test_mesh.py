"""Simplified meshes stay near the whole ones."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sido.sim.cameras.mesh import merge_vertices


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), cell_m=st.sampled_from([1e-6, 0.05, 0.3, 5.0]))
def test_no_vertex_moves_further_than_its_cell(seed: int, cell_m: float):
    rng = np.random.default_rng(seed)
    vertices = rng.uniform(-1.0, 1.0, (60, 3))
    faces = np.array([rng.choice(60, 3, replace=False) for _ in range(90)])
    merged, new, kept = merge_vertices(vertices, faces, np.full(60, cell_m))
    assert len(new) == len(kept) <= len(faces)
    assert np.array_equal(kept, np.sort(kept))
    longest = np.sqrt(3) * 2 ** np.round(np.log2(cell_m))
    for face, old in zip(merged[new], vertices[faces[kept]], strict=True):
        assert np.linalg.norm(face - old, axis=1).max() <= longest + 1e-12
    assert all(len(set(face)) == 3 for face in new.tolist()), "none has collapsed"
    if cell_m < 1e-5:
        np.testing.assert_array_equal(merged[new], vertices[faces[kept]])
        assert len({tuple(sorted(face)) for face in faces.tolist()}) <= len(new)
    if cell_m == 5.0:
        assert len(new) <= 8 * 7 * 6


def test_a_thin_plate_keeps_both_sides():
    vertices = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1e-4], [1, 0, 1e-4], [0, 1, 1e-4]], dtype=float)
    faces = np.array([[0, 1, 2], [3, 5, 4], [0, 1, 2]])
    _, new, kept = merge_vertices(vertices, faces, np.full(6, 0.01))
    assert kept.tolist() == [0, 1], "the third is the first again"
    assert len(new) == 2
