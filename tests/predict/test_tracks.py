"""Tracks: simulated ones are the motion's, recorded ones the log's; how they are seen, and how answers are judged."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sido.errors import DataError, SettingError
from sido.motion import Region, motion_named
from sido.predict import Forecast, History, Hold, Track, Watching, read_tracks, simulated_tracks
from sido.predict.assessing import Exam, ExamSettings, examine, score, since_turn_bins, sit

REGION = Region((0.5, 0.0))


def simulated(name: str, **options) -> list[Track]:
    return list(simulated_tracks(motion_named(name), REGION, np.random.default_rng(0), name=name, **options))


def log(seconds: float = 3.0, rate_hz: float = 20.0) -> dict[str, np.ndarray]:
    times = np.arange(round(seconds * rate_hz)) / rate_hz
    return {"time_s": 5.0 + times, "x_m": 0.02 * times, "y_m": -0.01 * times, "z_m": 0.1 + 0.0 * times}


def write_csv(path: Path, columns: dict[str, np.ndarray]) -> None:
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n")


def write_parquet(path: Path, columns: dict[str, np.ndarray]) -> None:
    pq.write_table(pa.table(columns), path)


def write_hdf5(path: Path, columns: dict[str, np.ndarray]) -> None:
    with h5py.File(path, "w") as file:
        for name, values in columns.items():
            file[name] = values


FORMATS = {"poses.csv": write_csv, "poses.parquet": write_parquet, "poses.h5": write_hdf5}


@pytest.mark.parametrize("name", FORMATS)
def test_a_log_is_read_as_it_was_written(name: str, tmp_path: Path):
    columns = log()
    FORMATS[name](tmp_path / name, columns | {"temperature": np.zeros(60)})
    (track,) = read_tracks(tmp_path / name)
    np.testing.assert_allclose(track.times_s, columns["time_s"])
    np.testing.assert_allclose(track.positions, np.stack([columns[f"{axis}_m"] for axis in "xyz"], axis=-1))


def test_a_log_is_split_where_nothing_follows(tmp_path: Path):
    """At episodes, gaps and jumps; bad rows are left out."""
    columns = log(12.0)
    columns["episode"] = np.where(np.arange(240) < 60, 0, 1)
    columns["time_s"][120:] += 1.0
    columns["x_m"][180:] += 0.5
    columns["y_m"][10] = np.nan
    columns["time_s"][20] -= 3.0
    write_csv(tmp_path / "poses.csv", columns)
    tracks = read_tracks(tmp_path / "poses.csv")
    assert [len(track.times_s) for track in tracks] == [58, 60, 60, 60]


@pytest.mark.usefixtures("as_user")
def test_what_is_no_log_is_said(tmp_path: Path):
    with pytest.raises(DataError, match="no such file"):
        read_tracks(tmp_path / "none.csv")
    with pytest.raises(SettingError, match=r"no format of a log of poses; found \.txt; expected \.csv, \.parquet"):
        read_tracks(tmp_path / "poses.txt")
    columns = log()
    del columns["z_m"]
    write_csv(tmp_path / "short.csv", columns)
    with pytest.raises(DataError, match="columns are missing; found time_s, x_m, y_m; expected time_s, x_m, y_m, z_m"):
        read_tracks(tmp_path / "short.csv")
    write_csv(tmp_path / "slow.csv", log(10.0, rate_hz=1.0))
    with pytest.raises(DataError, match="no second of poses without a gap; found 10 rows"):
        read_tracks(tmp_path / "slow.csv")
    (tmp_path / "words.csv").write_text("time_s,x_m,y_m,z_m\n0,left,0,0\n")
    with pytest.raises(DataError, match="not numbers"):
        read_tracks(tmp_path / "words.csv")
    for name in ("broken.parquet", "broken.h5"):
        (tmp_path / name).write_bytes(b"nothing")
        with pytest.raises(DataError, match="that can be read"):
            read_tracks(tmp_path / name)
    write_hdf5(tmp_path / "uneven.h5", log() | {"x_m": np.zeros(3)})
    with pytest.raises(DataError, match="columns of different lengths"):
        read_tracks(tmp_path / "uneven.h5")


def test_turns_are_where_the_velocity_jumps():
    (track,) = simulated("x", duration_s=60.0)
    expected = 0.25 / 0.02  # from wall to wall
    np.testing.assert_allclose(np.diff(track.turns_s), expected, atol=1e-9)
    for turn in track.turns_s:
        before, after = (track.at(np.array(turn + s * 0.1))[0] - track.at(np.array(turn))[0] for s in (-1, 1))
        assert before == pytest.approx(after, abs=2e-4)
    assert len(simulated("circle", duration_s=60.0)[0].turns_s) == 0
    assert len(simulated("random", duration_s=60.0)[0].turns_s) >= 74


# --- watching


def test_watching_is_the_slow_loop():
    (track,) = simulated("circle", duration_s=10.0)
    watching = Watching(rate_hz=15.0, noise_m=0.001, latency_s=0.12, dropout=0.3)
    asked = np.arange(1.4, 9.0, 0.05)
    history = watching.episode(track, np.random.default_rng(3), 1.0, asked, 6)
    rng = np.random.default_rng(3)
    looks = int((asked.max() - 1.0) * 15 + 1e-6) + 1
    stamps = 1.0 + np.arange(looks) / 15.0
    rng.uniform(0.0, 1.0, looks)
    poses = track.at(stamps) + 0.001 * rng.standard_normal((looks, 3))
    seen = rng.random(looks) >= 0.3
    for i, now in enumerate(asked):
        known = [j for j in range(looks) if stamps[j] + 0.12 <= now + 1e-9][-watching.window(6) :]
        kept = [j for j in known if seen[j]]
        assert history.count[i] == len(kept)
        if kept:
            assert np.array_equal(history.positions[i, -len(kept) :], poses[kept])
            np.testing.assert_allclose(history.times_s[i, -len(kept) :], stamps[kept] - now)


def test_before_it_came_into_sight_nothing_is_seen():
    (track,) = simulated("x", duration_s=10.0)
    history = Watching().episode(track, np.random.default_rng(0), 5.0, np.array([5.0, 5.1, 5.4]), 40)
    assert history.count.tolist() == [1, 3, 9]


# --- judging


class Knows:
    """Answers with a fixed error."""

    observations = 1

    def __init__(self, exam: Exam, off_m: float) -> None:
        self.exam, self.off_m = exam, off_m

    def __call__(self, history: History, horizon_s) -> Forecast:
        return Forecast(self.exam.truth + np.array([self.off_m, 0.0, 0.0]))


def test_the_error_is_the_distance_from_where_it_will_be():
    exam = examine(simulated("x", tracks=5, duration_s=8.0), Watching(), 8, np.random.default_rng(0))
    assert len(exam.truth) == 5 * 137  # every 50 ms from 0.4 to 7.2 s
    assert score(exam, sit(exam, Knows(exam, 0.0))).fde_m == pytest.approx(0.0, abs=1e-12)
    told = score(exam, sit(exam, Knows(exam, 0.03)))
    assert told.fde_m == pytest.approx(0.03)
    assert told.error_m == pytest.approx(0.0, abs=1e-9)
    assert (told.questions, told.episodes) == (5 * 137, 5)
    straight = ~exam.turns
    held = score(exam, sit(exam, Hold()), straight)
    assert held.fde_m == pytest.approx(0.8 * 0.02)


def test_every_question_is_in_one_bin():
    exam = examine(simulated("random", tracks=3, duration_s=8.0), Watching(), 8, np.random.default_rng(0))
    bins = since_turn_bins(exam)
    assert sum(where.astype(int) for _, where in bins).tolist() == [1] * len(exam.truth)
    assert exam.turns.mean() > 0.9, "random turns every 0.8 s"
    exam = examine(simulated("x", tracks=3, duration_s=30.0), Watching(), 8, np.random.default_rng(0))
    assert len(np.unique(exam.episode)) == 12
    turned = np.isfinite(exam.since_turn_s)
    assert turned.any()
    assert (exam.since_turn_s[turned] >= 0.0).all()
    assert dict(bins).keys() == dict(since_turn_bins(exam)).keys()


def test_the_standard_error_is_that_of_independent_episodes():
    """Two hundred exams of twenty episodes, whose errors are alike within an episode: they spread as they say."""
    rng = np.random.default_rng(0)
    episode = np.repeat(np.arange(20), 30)
    exam = Exam(*[np.zeros(600)] * 3, episode, np.zeros(600), np.zeros(600, dtype=bool))  # type: ignore[arg-type]
    scores = [score(exam, np.repeat(rng.uniform(0.0, 0.02, 20), 30)) for _ in range(200)]
    assert np.std([one.fde_m for one in scores]) == pytest.approx(np.mean([one.error_m for one in scores]), rel=0.15)


@pytest.mark.usefixtures("as_user")
def test_messages():
    with pytest.raises(SettingError, match=r"Watching\.dropout: not a probability; found 1"):
        Watching(dropout=1.0)
    with pytest.raises(SettingError, match=r"ExamSettings\.grasp_s: not a usable number; found 1\.0"):
        ExamSettings(grasp_s=1.0)
    with pytest.raises(DataError, match="recorded: not finite positions at rising times"):
        Track(np.array([0.0, 0.0]), np.zeros((2, 3)))
    with pytest.raises(DataError, match="no track is long enough for a question"):
        examine([Track(np.array([0.0, 1.0]), np.zeros((2, 3)))], Watching(), 8, np.random.default_rng(0))
