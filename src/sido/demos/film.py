"""Frames as a film for people to look at: MP4, or GIF where only pictures are shown."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import UInt8

from sido.arrays import Array
from sido.atomic import atomic_path, require_replaceable
from sido.demos.video import write_video
from sido.errors import DataError, MissingExtraError, SettingError

try:
    import av
    from av.error import FFmpegError
    from av.filter import Graph
    from av.video.format import VideoFormat
    from av.video.frame import VideoFrame
except ImportError as error:
    raise MissingExtraError("writing films", "av", "data") from error

__all__ = ["check_film", "write_film"]

GIF_TICKS_HZ = 100
"""A GIF counts time in hundredths of a second; viewers slow down what is faster than 50 frames a second."""
FASTEST_GIF_HZ = 50


def write_film(
    path: str | Path, frames: Iterable[UInt8[Array, "height width 3"]], rate_hz: float, *, overwrite: bool = False
) -> int:
    """Write RGB frames, all of one size, as a film, and say how many there were. It appears when it is whole.

    Args:
        path: Ends in `.mp4` (even height and width; frames are taken one at a time) or `.gif` (one palette of 256
            colours for the whole film, which is made of all of them at once).
        frames: The first row on top.
        rate_hz: Frames per second; for a GIF up to 50, and shown to the nearest hundredth of a second.
        overwrite: Replace an existing file.

    Raises:
        SettingError: another suffix, a rate that a GIF cannot have, or the file exists.
        DataError: no frames, sizes that change, or an odd size in an MP4.
    """
    path = Path(path)
    check_film(path, rate_hz)
    if overwrite:
        require_replaceable(path)
    if path.suffix == ".mp4":
        return write_video(path, frames, rate_hz, crf=20, keyframe_interval=50, overwrite=overwrite)
    with atomic_path(path, overwrite=overwrite) as partial:
        try:
            return _write_gif(partial, path, frames, rate_hz)
        except FFmpegError as error:
            raise DataError("the film cannot be written", file=path, found=str(error)) from error


def check_film(path: str | Path, rate_hz: float) -> None:
    """Raise what `write_film` would raise of such a name and rate: before the frames are made, if they cost much.

    Raises:
        SettingError: another suffix, or a rate that a GIF cannot have.
    """
    path = Path(path)
    if path.suffix not in (".mp4", ".gif"):
        raise SettingError("not the name of a film", found=repr(path.name), expected="a name that ends in .mp4 or .gif")
    if path.suffix == ".gif" and not 0 < rate_hz <= FASTEST_GIF_HZ:
        raise SettingError("a GIF cannot have this rate", file=path, found=rate_hz, expected="up to 50 frames a second")


def _write_gif(partial: Path, path: Path, frames: Iterable[UInt8[Array, "height width 3"]], rate_hz: float) -> int:
    tick = Fraction(1, GIF_TICKS_HZ)
    count, height, width, graph = 0, 0, 0, Graph()
    for image in frames:
        if count == 0:
            height, width = image.shape[:2]
            graph = _palette_graph(height, width, tick)
        if image.shape[:2] != (height, width):
            raise DataError(
                "the size of the frames changes",
                file=path,
                found=f"{image.shape[0]} x {image.shape[1]} at frame {count}",
                expected=f"{height} x {width}",
            )
        frame = VideoFrame.from_ndarray(np.ascontiguousarray(image), format="rgb24")
        frame.pts, frame.time_base = round(count * GIF_TICKS_HZ / rate_hz), tick
        graph.push(frame)
        count += 1
    if count == 0:
        raise DataError("a film needs at least one frame", file=path)
    graph.push(None)
    with av.open(str(partial), mode="w", format="gif") as container:
        stream: Any = container.add_stream("gif", rate=Fraction(GIF_TICKS_HZ))
        stream.height, stream.width, stream.pix_fmt = height, width, "pal8"
        stream.codec_context.time_base = tick
        for _ in range(count):
            container.mux(stream.encode(graph.pull()))
        container.mux(stream.encode())
    return count


def _palette_graph(height: int, width: int, tick: Fraction) -> Graph:
    """Frames in, the same frames with the 256 colours that suit all of them out."""
    graph = Graph()
    source = graph.add_buffer(width=width, height=height, format=VideoFormat("rgb24"), time_base=tick)
    split, palette = graph.add("split"), graph.add("palettegen", "stats_mode=full:reserve_transparent=0")
    use, sink = graph.add("paletteuse", "dither=bayer:bayer_scale=4"), graph.add("buffersink")
    source.link_to(split)
    split.link_to(use, 0, 0)
    split.link_to(palette, 1, 0)
    palette.link_to(use, 0, 1)
    use.link_to(sink)
    graph.configure()
    return graph
