"""The two ways in which LeRobot keeps images: encoded in parquet rows, and as stretches of video files."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from jaxtyping import Int64, UInt8

from sido.arrays import Array
from sido.demos.frames import Frames
from sido.demos.lerobot.parquet import ParquetRows
from sido.demos.video import VideoFile
from sido.errors import DataError, MissingExtraError

try:
    import imagecodecs
except ImportError as error:
    raise MissingExtraError("reading and writing the images of LeRobot datasets", "imagecodecs", "data") from error

__all__ = ["encode_png", "frames_in_rows", "frames_in_video"]

_FRAME_TOLERANCE = 0.25  # of a frame's duration: between two frames nothing tells which one is meant
_SIGNATURES = ((b"\x89PNG", imagecodecs.png_decode), (b"\xff\xd8", imagecodecs.jpeg8_decode))


def encode_png(image: UInt8[Array, "height width 3"]) -> bytes:
    """An image without loss."""
    return bytes(imagecodecs.png_encode(image))


def frames_in_rows(rows: ParquetRows, column: str, start: int, shape: tuple[int, int, int, int]) -> Frames:
    """The images of an episode whose first row is `start`; step `t` is row `start + t`."""

    def read(steps: Int64[Array, " N"]) -> UInt8[Array, "N height width 3"]:
        images = np.empty((len(steps), *shape[1:]), dtype=np.uint8)
        if not len(steps):
            return images
        for first, batch in rows.batches([column], start + int(steps.min()), start + int(steps.max()) + 1):
            encoded = batch.column(column)
            for place in np.flatnonzero((steps + start >= first) & (steps + start < first + batch.num_rows)).tolist():
                step = int(steps[place])
                try:
                    images[place] = _decode(encoded[start + step - first].as_py(), shape[1:])
                except DataError as error:
                    raise error.at(file=rows.path, field=f"{column}, row {start + step}") from error.__cause__
        return images

    return Frames(shape, read)


def frames_in_video(video: VideoFile, start_s: float, rate_hz: float, shape: tuple[int, int, int, int]) -> Frames:
    """The images of an episode that begins `start_s` into a video; step `t` is shown at `start_s + t/rate`."""

    def read(steps: Int64[Array, " N"]) -> UInt8[Array, "N height width 3"]:
        shown_s, wanted_s = video.times_s, start_s + steps / rate_hz
        after = np.clip(np.searchsorted(shown_s, wanted_s), 1, max(len(shown_s) - 1, 1))
        before = after - 1
        after = np.minimum(after, len(shown_s) - 1)
        nearest = np.where(wanted_s - shown_s[before] <= shown_s[after] - wanted_s, before, after)
        late_s = np.abs(shown_s[nearest] - wanted_s)
        if len(steps) and late_s.max() > _FRAME_TOLERANCE / rate_hz:
            worst = int(late_s.argmax())
            raise DataError(
                "the video has no frame for a step",
                file=video.path,
                found=f"step {steps[worst]} at {wanted_s[worst]:.4f} s, the nearest frame {late_s[worst]:.4f} s away",
                expected=f"{rate_hz:g} frames a second, without gaps",
                fix="the video is cut short or belongs to another dataset: download it again",
            )
        return video.read(nearest)

    return Frames(shape, read)


def _decode(cell: Any, shape: tuple[int, ...]) -> UInt8[Array, "height width 3"]:
    """An image of a cell `{"bytes": ..., "path": ...}`, as Hugging Face's `Image` is stored."""
    parts = cast("dict[str, object]", cell) if isinstance(cell, dict) else {}
    encoded = parts.get("bytes")
    if not isinstance(encoded, bytes):
        found = f"path {parts.get('path')!r}" if parts or cell is None else f"{cell!r:.80}"
        raise DataError(
            "the image is not in the file",
            found=found,
            expected="PNG bytes",
            fix="download the dataset with its images",
        )
    for signature, decode in _SIGNATURES:
        if encoded.startswith(signature):
            try:
                image = decode(encoded)
            except (RuntimeError, ValueError) as error:
                raise DataError(
                    "the image cannot be decoded", found=str(error), fix="download the file again"
                ) from error
            break
    else:
        raise DataError("unknown kind of image", found=f"bytes {encoded[:4]!r}", expected="PNG or JPEG")
    if image.shape != shape or image.dtype != np.uint8:
        raise DataError(
            "the image is not as announced", found=f"{image.dtype}{list(image.shape)}", expected=f"uint8{list(shape)}"
        )
    return image
