"""Meshes with as many faces as can be seen."""

from __future__ import annotations

import mujoco
import numpy as np
from jaxtyping import Bool, Float, Int

from sido.arrays import Array

__all__ = ["keep_faces", "merge_vertices", "triangles", "write_mesh"]

FACE_TABLES = ("mesh_face", "mesh_facenormal", "mesh_facetexcoord")

FloatMatrix = Float[Array, "n 3"]
IntMatrix = Int[Array, "m 3"]


def merge_vertices(
    vertices: FloatMatrix, faces: IntMatrix, cells_m: Float[Array, "n"]
) -> tuple[Float[Array, "k 3"], Int[Array, "l 3"], Int[Array, "l"]]:
    """Merge the vertices that share a cubic cell into their mean, and drop the faces that collapse or come twice.

    A vertex's cell has the power of two nearest to what is wished for it as its side, in metres, and only vertices
    with cells of one size are merged. No vertex moves further than the diagonal of its cell.

    Args:
        vertices: Metres.
        faces: Three vertices each, counter-clockwise seen from outside.
        cells_m: Side of the cell that is wished for each vertex; above 0.

    Returns:
        The new vertices, the new faces, and which of the old faces each of them was. A face that merging turned
        inside out stays so: see `write_mesh`.
    """
    levels = np.round(np.log2(cells_m))
    cells = np.floor((vertices - vertices.min(axis=0)) / np.exp2(levels)[:, None])
    keys = np.column_stack([cells, levels]).astype(np.int64)
    _, place, count = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    place = place.reshape(-1)  # numpy 2.0 gave it another shape
    sums = [np.bincount(place, weights=column, minlength=len(count)) for column in vertices.T]
    merged = place[faces]
    ordered = np.sort(merged, axis=1)
    kept = np.flatnonzero((ordered[:, 0] != ordered[:, 1]) & (ordered[:, 1] != ordered[:, 2]))
    turns = _turns(merged[kept])  # the two sides of a thin plate are two faces, not one twice
    _, first = np.unique(np.column_stack([ordered[kept], turns]), axis=0, return_index=True)
    kept = kept[np.sort(first)]
    return np.stack(sums, axis=1) / count[:, None], merged[kept], kept


def write_mesh(
    into: mujoco.MjModel, source: mujoco.MjModel, mesh: int, cells_m: Float[Array, "n"] | None = None
) -> None:
    """Write a mesh of `source`, simplified to cells of these sizes, where a copy of that model has it.

    Only what is drawn is written: positions, faces, and each corner's own normal and texture coordinates, which it
    keeps, so that shading stays as it was. The copy is for drawing only.
    """
    corner, count = int(source.mesh_vertadr[mesh]), int(source.mesh_vertnum[mesh])
    start, faces = int(source.mesh_faceadr[mesh]), int(source.mesh_facenum[mesh])
    rows = slice(start, start + faces)
    vertices = source.mesh_vert[corner : corner + count]
    into.mesh_vert[corner : corner + count] = vertices
    into.mesh_facenum[mesh] = faces
    for table in FACE_TABLES:
        getattr(into, table)[rows] = getattr(source, table)[rows]
    if cells_m is None:
        return
    old = source.mesh_face[rows]
    positions, merged, kept = merge_vertices(vertices, old, cells_m)
    turned = (_normals(positions, merged) * _normals(vertices, old[kept])).sum(axis=1) < 0
    into.mesh_vert[corner : corner + len(positions)] = positions
    into.mesh_facenum[mesh] = len(kept)
    drawn = slice(start, start + len(kept))
    for table, values in (
        ("mesh_face", merged),
        ("mesh_facenormal", source.mesh_facenormal[rows][kept]),
        ("mesh_facetexcoord", source.mesh_facetexcoord[rows][kept]),
    ):
        getattr(into, table)[drawn] = np.where(turned[:, None], values[:, ::-1], values)


def triangles(model: mujoco.MjModel, mesh: int) -> Float[Array, "m 3 3"]:
    """The corners of each face, in the frame of the mesh's geoms."""
    faces = model.mesh_face[model.mesh_faceadr[mesh] :][: model.mesh_facenum[mesh]]
    return model.mesh_vert[model.mesh_vertadr[mesh] :].astype(np.float64)[faces]


def keep_faces(model: mujoco.MjModel, mesh: int, kept: Bool[Array, "m"]) -> None:
    """Drop the other faces of a mesh."""
    start, count = int(model.mesh_faceadr[mesh]), int(np.count_nonzero(kept))
    for table in FACE_TABLES:
        rows = getattr(model, table)[start : start + len(kept)]
        rows[:count] = rows[kept]
    model.mesh_facenum[mesh] = count


def _turns(faces: IntMatrix) -> Array:
    """Whether a face lists its vertices in a rising cycle or in a falling one."""
    a, b, c = faces.T
    return (a < b).astype(np.int64) + (b < c) + (c < a) >= 2


def _normals(vertices: FloatMatrix, faces: IntMatrix) -> Float[Array, "m 3"]:
    """Along the outside of each face, twice its area long."""
    a, b, c = (vertices[faces[:, corner]] for corner in range(3))
    return np.cross(b - a, c - a)
