"""Camera images in video files: any frame by its number, exactly."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int, Int64, UInt8

from sido.arrays import Array
from sido.atomic import atomic_path
from sido.errors import DataError, MissingExtraError, SettingError

try:
    import av
    from av.codec.codec import Codec, UnknownCodecError
    from av.container import InputContainer, OutputContainer
    from av.error import FFmpegError
    from av.video.frame import VideoFrame
    from av.video.stream import VideoStream
except ImportError as error:
    raise MissingExtraError("reading and writing video", "av", "data") from error

__all__ = ["VideoFile", "VideoWriter", "write_video"]


class VideoFile:
    """A video to read by frame number; the file is open only while something is read from it.

    Frames are numbered from 0 in the order in which they are shown. The numbers are exact for any codec and any
    frame rate, constant or not: they come from the time stamps of the file's packets, which are listed once,
    without decoding, when they are first needed.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def __len__(self) -> int:
        return self.frame_count

    @property
    def frame_count(self) -> int:
        return len(self._index.shown_at)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Frames, height, width, 3."""
        return (self.frame_count, self._index.height, self._index.width, 3)

    @property
    def rate_hz(self) -> float:
        """The mean frame rate that the file announces."""
        return self._index.rate_hz

    @property
    def times_s(self) -> Float[Array, " T"]:
        """When each frame is shown, in seconds on the file's own clock; increasing."""
        return self._index.shown_at * self._index.tick_s

    def read(self, frame_indices: Int[Array, " N"]) -> UInt8[Array, "N height width 3"]:
        """The frames with these numbers, RGB, in the order asked for; a number may repeat.

        Each stretch is decoded from the last keyframe before it, and only the frames that were asked for are kept.
        """
        length, height, width, _ = self.shape
        wanted, places = np.unique(frame_indices, return_inverse=True)
        if len(wanted) and (wanted[0] < 0 or wanted[-1] >= length):
            raise DataError(
                "the video has no such frame",
                file=self.path,
                found=f"frame {wanted[0] if wanted[0] < 0 else wanted[-1]}",
                expected=f"0 to {length - 1}",
                fix="the video is cut short, or belongs to another recording",
            )
        images = np.empty((len(wanted), height, width, 3), dtype=np.uint8)
        for place, image in enumerate(self._decode(wanted)):
            images[place] = image
        return images if np.array_equal(places, np.arange(len(wanted))) else images[places]

    def _decode(self, wanted: Int[Array, " N"]) -> Iterator[UInt8[Array, "height width 3"]]:
        """The frames with these increasing numbers, one by one."""
        with _opened(self.path) as (container, stream):
            decoded: Iterator[tuple[int, VideoFrame]] = iter(())
            at = -1  # the frame decoded last
            for number in wanted.tolist():
                keyframe = self._index.keyframe_before(number)
                if at < 0 or keyframe > at + 1:  # what lies between can be jumped over
                    decoded = self._decode_from(keyframe, container, stream)
                for at, frame in decoded:
                    if at == number:
                        yield frame.to_ndarray(format="rgb24")
                        break
                else:
                    raise DataError("a frame of the video cannot be decoded", file=self.path, found=f"frame {number}")

    def _decode_from(
        self, keyframe: int, container: InputContainer, stream: VideoStream
    ) -> Iterator[tuple[int, VideoFrame]]:
        """Number and content of every frame from a keyframe on (and perhaps of some before it)."""
        index = self._index
        # A container seeks as well as its own index lets it: where it lands too late, begin at the beginning.
        for tick in (int(index.decoded_at[keyframe]), int(index.decoded_at.min())):
            container.seek(tick, stream=stream)
            late = True
            for frame in container.decode(stream):
                number = index.number_at(frame.pts)
                if late and number is not None:
                    late = number > keyframe
                    if late:
                        break
                if number is not None:
                    yield number, frame
            if not late:
                return

    @cached_property
    def _index(self) -> _Index:
        with _opened(self.path) as (container, stream):
            packets = [
                (packet.pts, packet.pts if packet.dts is None else packet.dts, packet.is_keyframe)
                for packet in container.demux(stream)
                if packet.pts is not None and packet.size and not packet.is_discard
            ]
            if not packets or stream.time_base is None:
                raise DataError("the video has no frames", file=self.path, fix="record it again")
            shown_at, decoded_at, keys = (np.array(column) for column in zip(*sorted(packets), strict=True))
            if len(np.unique(shown_at)) != len(shown_at):
                raise DataError("two frames of the video are shown at the same time", file=self.path)
            tick_s, rate = float(stream.time_base), stream.average_rate
            rate_hz = (
                float(rate) if rate else 1 / (tick_s * float(np.diff(shown_at).mean())) if len(packets) > 1 else 1.0
            )
            return _Index(shown_at, decoded_at, np.flatnonzero(keys), tick_s, rate_hz, stream.height, stream.width)


class _Index(NamedTuple):
    """Where each frame stands in the file, by its number; ticks are the stream's own unit of time."""

    shown_at: Int64[Array, " T"]
    decoded_at: Int64[Array, " T"]
    keyframes: Int64[Array, " K"]
    tick_s: float
    rate_hz: float
    height: int
    width: int

    def keyframe_before(self, number: int) -> int:
        """The last frame, up to `number`, that can be decoded without those before it."""
        place = int(np.searchsorted(self.keyframes, number, side="right")) - 1
        return 0 if place < 0 else int(self.keyframes[place])

    def number_at(self, tick: int | None) -> int | None:
        """Which frame is shown at that very tick."""
        if tick is None:
            return None
        number = int(np.searchsorted(self.shown_at, tick))
        return number if number < len(self.shown_at) and self.shown_at[number] == tick else None


@contextmanager
def _opened(path: Path) -> Generator[tuple[InputContainer, VideoStream]]:
    """The first video stream of a file; what goes wrong in it is told as a DataError."""
    try:
        with av.open(str(path)) as container:
            if not container.streams.video or not getattr(container.streams.video[0], "height", 0):
                # Without a height the stream's codec is unknown, or its description is lost.
                raise DataError("the file holds no video that can be decoded", file=path, fix="record it again")
            yield container, container.streams.video[0]
    except (FFmpegError, UnicodeDecodeError) as error:  # the latter of metadata, on opening
        raise DataError(
            "the video cannot be read", file=path, found=str(error), fix="copy or record the file again"
        ) from error


class VideoWriter:
    """A video being written frame by frame. `VideoWriter.create` opens one."""

    def __init__(
        self, path: Path, container: OutputContainer, rate: Fraction, codec: str, pixel_format: str, **options: str
    ) -> None:
        self.path = path
        """The name that the file will have."""
        self.frame_count = 0
        self._container, self._rate, self._pixel_format = container, rate, pixel_format
        stream: Any = container.add_stream(_require_video(codec, path), rate=rate, options=options)
        self._stream: VideoStream = stream

    @classmethod
    @contextmanager
    def create(
        cls,
        path: str | Path,
        rate_hz: float,
        *,
        codec: str = "libx264",
        crf: int = 18,
        keyframe_interval: int = 2,
        pixel_format: str = "yuv420p",
        overwrite: bool = False,
    ) -> Generator[VideoWriter]:
        """Write a video at `path`, whose suffix chooses the container; it appears when the block ends well.

        `crf` is the encoder's quality: 0 is the best; up to 23, H.264 looks like the original. Every
        `keyframe_interval`-th frame can be decoded alone: 2, as in LeRobot's videos, makes random reading cheap.
        """
        path, rate = Path(path), Fraction(rate_hz).limit_denominator(1001)  # 30000/1001 and its like included
        with atomic_path(path, overwrite=overwrite) as partial:
            try:
                with av.open(str(partial), mode="w") as container:
                    writer = cls(path, container, rate, codec, pixel_format, crf=str(crf), g=str(keyframe_interval))
                    yield writer
                    writer._finish()
            except FFmpegError as error:
                if (error.errno or 0) > 0:  # the system's own, and not one of FFmpeg's
                    raise OSError(error.errno, error.strerror) from error
                raise DataError("the video cannot be written", file=path, found=str(error)) from error

    def append(self, images: UInt8[Array, "N height width 3"]) -> None:
        """Add frames, RGB, all of one size."""
        for image in images:
            if self.frame_count == 0:
                self._begin(*image.shape[:2])
            if image.shape[:2] != (self._stream.height, self._stream.width):
                raise DataError(
                    "the size of the frames changes",
                    file=self.path,
                    found=f"{image.shape[0]} x {image.shape[1]} at frame {self.frame_count}",
                    expected=f"{self._stream.height} x {self._stream.width}",
                )
            frame = VideoFrame.from_ndarray(np.ascontiguousarray(image), format="rgb24")
            frame.pts, frame.time_base = self.frame_count, 1 / self._rate
            self._container.mux(self._stream.encode(frame))
            self.frame_count += 1

    def _begin(self, height: int, width: int) -> None:
        if "420" in self._pixel_format and (height % 2 or width % 2):
            raise DataError(
                "this pixel format needs an even height and width",
                file=self.path,
                found=f"{height} x {width}",
                fix="cut or resize the images, or choose the pixel format 'yuv444p'",
            )
        self._stream.height, self._stream.width, self._stream.pix_fmt = height, width, self._pixel_format

    def _finish(self) -> None:
        if self.frame_count == 0:
            raise DataError("a video needs at least one frame", file=self.path)
        self._container.mux(self._stream.encode())


def _require_video(codec: str, path: Path) -> str:
    try:
        kind = Codec(codec, "w").type
    except UnknownCodecError:
        kind = "unknown"
    if kind != "video":
        raise SettingError("not a video codec", file=path, found=repr(codec), expected="for example 'libx264'")
    return codec


def write_video(
    path: str | Path,
    frames: Iterable[UInt8[Array, "height width 3"]],
    rate_hz: float,
    *,
    codec: str = "libx264",
    crf: int = 18,
    keyframe_interval: int = 2,
    pixel_format: str = "yuv420p",
    overwrite: bool = False,
) -> int:
    """Write RGB frames as a video, one at a time, and say how many there were; see `VideoWriter.create`."""
    with VideoWriter.create(
        path,
        rate_hz,
        codec=codec,
        crf=crf,
        keyframe_interval=keyframe_interval,
        pixel_format=pixel_format,
        overwrite=overwrite,
    ) as writer:
        for frame in frames:
            writer.append(frame[None])
        return writer.frame_count
