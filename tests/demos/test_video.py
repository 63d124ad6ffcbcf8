"""Frames of a video by number, judged by decoding the whole video in sequence."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import av
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sido.demos.frames import Frames
from sido.demos.video import VideoFile, VideoWriter, write_video
from sido.errors import DataError, SettingError

COUNT = 40


def pictures(count: int = COUNT, height: int = 32, width: int = 48, seed: int = 0) -> np.ndarray:
    """Noisy images with a bar as long as their number: no two are alike, whatever the codec blurs."""
    images = np.random.default_rng(seed).integers(0, 30, size=(count, height, width, 3), dtype=np.uint8)
    for number in range(count):
        images[number, :, : number + 1] += 180
    return images


def in_sequence(path: Path) -> np.ndarray:
    with av.open(str(path)) as container:
        return np.stack([frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)])


def reordered(path: Path, params: str) -> Path:
    """H.264 with B-frames: shown in another order than decoded."""
    with av.open(str(path), mode="w") as container:
        options = {"x264-params": f"keyint=10:bframes=3:b-adapt=0:scenecut=0{params}"}
        stream = container.add_stream("libx264", rate=20, options=options)
        stream.width, stream.height, stream.pix_fmt = 48, 32, "yuv420p"
        for image in pictures():
            container.mux(stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))
        container.mux(stream.encode())
    return path


def uneven(path: Path) -> Path:
    """A camera that dropped frames, and whose clock does not begin at zero."""
    with av.open(str(path), mode="w") as container:
        stream = container.add_stream("libx264", rate=20, options={"g": "5"})
        stream.width, stream.height, stream.pix_fmt = 48, 32, "yuv420p"
        for number, image in enumerate(pictures()):
            frame = av.VideoFrame.from_ndarray(image, format="rgb24")
            frame.pts = 7 + number + number // 3
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


@pytest.fixture(scope="module")
def videos(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[VideoFile, np.ndarray]]:
    folder = tmp_path_factory.mktemp("videos")
    paths = [
        *(reordered(folder / f"reordered.{suffix}", "") for suffix in ("mp4", "mkv")),
        *(reordered(folder / f"open.{suffix}", ":open-gop=1") for suffix in ("mp4", "mkv")),
        *(uneven(folder / f"uneven.{suffix}") for suffix in ("mp4", "mkv")),
    ]
    for suffix in ("mp4", "mkv"):
        for interval in (2, 12, 250):
            paths.append(folder / f"h264-{interval}.{suffix}")
            write_video(paths[-1], pictures(), 20.0, keyframe_interval=interval)
    paths.append(folder / "vp9.mp4")
    write_video(paths[-1], pictures(), 20.0, codec="libvpx-vp9", keyframe_interval=7)
    return {path.name: (VideoFile(path), in_sequence(path)) for path in paths}


NAMES = [
    "vp9.mp4",
    *(f"{kind}.{suffix}" for kind in ("reordered", "open", "uneven") for suffix in ("mp4", "mkv")),
    *(f"h264-{interval}.{suffix}" for interval in (2, 12, 250) for suffix in ("mp4", "mkv")),
]


@pytest.mark.parametrize("name", NAMES)
def test_any_frames_in_any_order_are_those_of_a_sequential_decoding(videos, name: str):
    video, oracle = videos[name]
    assert len(oracle) == COUNT
    assert video.shape == oracle.shape

    @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.differing_executors])
    @given(st.lists(st.integers(0, COUNT - 1), max_size=8))
    def law(numbers: list[int]) -> None:
        np.testing.assert_array_equal(video.read(np.array(numbers, dtype=np.int64)), oracle[numbers])

    law()
    np.testing.assert_array_equal(video.read(np.arange(COUNT)), oracle)
    for number in range(COUNT):
        np.testing.assert_array_equal(video.read(np.array([number])), oracle[[number]])


def test_the_fixtures_exercise_what_they_claim(videos):
    for name in ("reordered.mp4", "reordered.mkv", "open.mp4", "open.mkv"):
        with av.open(str(videos[name][0].path)) as container:
            shown = [packet.pts for packet in container.demux(video=0) if packet.pts is not None]
        assert shown != sorted(shown), "no B-frames: nothing is reordered"
    assert np.ptp(np.diff(videos["uneven.mp4"][0].times_s)) > 0.01


def test_times_and_rate(videos):
    video, _ = videos["h264-12.mp4"]
    np.testing.assert_allclose(video.times_s, np.arange(COUNT) / 20.0, atol=1e-6)
    assert video.rate_hz == 20.0
    assert len(video) == video.frame_count == COUNT


def test_times_of_a_camera_that_dropped_frames(videos):
    for suffix in ("mp4", "mkv"):
        video, _ = videos[f"uneven.{suffix}"]
        expected = (7 + np.arange(COUNT) + np.arange(COUNT) // 3) / 20.0
        np.testing.assert_allclose(video.times_s, expected, atol=1e-3)


@pytest.mark.parametrize("interval", [1, 2, 5])
def test_every_so_many_frames_one_can_be_decoded_alone(tmp_path: Path, interval: int):
    path = tmp_path / "keys.mp4"
    still = np.tile(pictures(1), (20, 1, 1, 1))  # nothing changes: the encoder has no reason of its own for a keyframe
    write_video(path, iter(still), 20.0, keyframe_interval=interval)
    with av.open(str(path)) as container:
        packets = [packet for packet in container.demux(video=0) if packet.pts is not None]
    keys = [packet.is_keyframe for packet in sorted(packets, key=lambda packet: packet.pts)]
    assert keys == [number % interval == 0 for number in range(20)]


def test_frames_can_be_appended_in_batches(tmp_path: Path):
    images = pictures(9, 15, 17)
    with VideoWriter.create(tmp_path / "x.mp4", 20.0, pixel_format="yuv444p", crf=1) as writer:
        for start in (0, 4, 4, 8):
            writer.append(images[start : start + 4] if start != 8 else images[8:])
        assert writer.frame_count == 13
        assert not (tmp_path / "x.mp4").exists()
    read = VideoFile(tmp_path / "x.mp4").read(np.arange(13))
    close = np.abs(read.astype(int) - images[[0, 1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 7, 8]])
    assert close.mean() < 4.0


def test_a_lossless_codec_gives_back_what_was_written(tmp_path: Path):
    images = pictures(5, 31, 17)
    path = tmp_path / "lossless.mp4"
    count = write_video(path, iter(images), 29.97, codec="libx264rgb", crf=0, pixel_format="rgb24")
    video = VideoFile(path)
    assert count == 5
    assert video.rate_hz == pytest.approx(29.97)
    frames = Frames(video.shape, video.read)
    np.testing.assert_array_equal(frames[::-1], images[::-1])
    np.testing.assert_array_equal(frames[-1], images[-1])


def test_two_readers_of_one_file_agree_and_nothing_asked_is_nothing_read(videos):
    video, oracle = videos["vp9.mp4"]
    first, second = video.read(np.array([3])), VideoFile(str(video.path)).read(np.array([3]))
    np.testing.assert_array_equal(first, second)
    assert video.read(np.zeros(0, dtype=np.int64)).shape == (0, *oracle.shape[1:])


@pytest.mark.parametrize("number", [-1, COUNT])
def test_a_frame_that_is_not_there(videos, number: int):
    with pytest.raises(DataError, match=rf"vp9.mp4.*no such frame; found frame {number}; expected 0 to {COUNT - 1}"):
        videos["vp9.mp4"][0].read(np.array([0, number]))


def test_files_that_are_no_video(tmp_path: Path, videos):
    (tmp_path / "text.mp4").write_text("not a video" * 100)
    whole = videos["h264-12.mp4"][0].path.read_bytes()
    (tmp_path / "cut.mp4").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "empty.mp4").write_bytes(b"")
    for name in ("text.mp4", "cut.mp4", "empty.mp4", "absent.mp4"):
        with pytest.raises(DataError, match=rf"{name}: the video cannot be read"):
            _ = VideoFile(tmp_path / name).shape
    with av.open(str(tmp_path / "sound.mp4"), mode="w") as container:
        stream = container.add_stream("aac", rate=16000, layout="mono")
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 1024), dtype=np.float32), format="fltp", layout="mono")
        frame.sample_rate = 16000
        container.mux(stream.encode(frame))
        container.mux(stream.encode())
    with pytest.raises(DataError, match=r"sound.mp4: the file holds no video"):
        _ = VideoFile(tmp_path / "sound.mp4").frame_count


def test_a_video_that_fails_leaves_nothing_behind(tmp_path: Path):
    path = tmp_path / "new.mp4"

    def stopped() -> None:
        with VideoWriter.create(path, 20.0) as writer:
            writer.append(pictures(2))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    with pytest.raises(DataError, match="even height and width; found 33 x 48"):
        write_video(path, pictures(2, 33), 20.0)
    with pytest.raises(DataError, match="at least one frame"):
        write_video(path, [], 20.0)
    with pytest.raises(DataError, match="size of the frames changes; found 16 x 48 at frame 2; expected 32 x 48"):
        write_video(path, [*pictures(2), pictures(1, 16)[0]], 20.0)
    for codec in ("nonesuch", "aac"):
        with pytest.raises(SettingError, match=f"not a video codec; found '{codec}'"):
            write_video(path, pictures(2), 20.0, codec=codec)
    assert list(tmp_path.iterdir()) == []
    write_video(path, pictures(2), 20.0)
    with pytest.raises(SettingError, match="already exists"):
        write_video(path, pictures(3), 20.0)
    assert write_video(path, pictures(3), 20.0, overwrite=True) == VideoFile(path).frame_count == 3


def test_without_pyav_the_error_says_what_to_install():
    program = """
import sys
sys.modules["av"] = None
try:
    import sido.demos.video
except ImportError as error:
    print(error)
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert said.startswith("reading and writing video needs the package 'av', which is not installed; to mend it: pip")
