"""A rollout follows from policy, setting and seed, and from nothing else; what there is is not played again."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch

from sido.errors import DataError, SettingError
from sido.evaluate import (
    Cell,
    Estimator,
    Player,
    Portion,
    Rollout,
    Setting,
    Stage,
    Standing,
    Wanted,
    cell_of,
    play,
    roll_out,
    roll_out_all,
)
from sido.evaluate.rollout import MOMENTS, STEPS
from sido.jobs import Here, Processes
from sido.predict import MLP, save_learned
from sources import Hasty, Reaching, Untrained

torch.set_num_threads(1)

MOVING = Setting(motion="x", speed_mps=0.06, predictor="finite-difference")
SETTINGS = {
    "feed-forward, noise": (
        Reaching(),
        dataclasses.replace(
            MOVING,
            predictor="hold",
            correction="feed-forward",
            reaching_action_horizon=2,
            estimator=Estimator(noise_m=(0.002, 0.002, 0.004), latency_s=0.1),
        ),
    ),
    "oracle": (Reaching(), dataclasses.replace(MOVING, motion="random", predictor="true-future", horizon="contact")),
    "network": (Untrained(), MOVING),
    "no channel": (Untrained(channel="none"), dataclasses.replace(MOVING, predictor="none")),
}


def assert_same(one: Sequence[Rollout], other: Sequence[Rollout]) -> None:
    assert [rollout.seed for rollout in one] == [rollout.seed for rollout in other]
    for mine, yours in zip(one, other, strict=True):
        assert (mine.ending, mine.fault, mine.period_s) == (yours.ending, yours.fault, yours.period_s)
        for name in ("turns_s", *MOMENTS, *STEPS):
            np.testing.assert_array_equal(getattr(mine, name), getattr(yours, name), err_msg=f"{mine.seed} {name}")


@pytest.mark.parametrize("name", SETTINGS)
def test_a_rollout_is_the_same_alone_and_among_others(quick: None, name: str):
    source, setting = SETTINGS[name]
    alone = Player(source(), envs=1)(Portion(setting, (3, 1, 4)))
    assert not np.array_equal(alone[0].action, alone[1].action)
    together = {rollout.seed: rollout for rollout in Player(source(), envs=3)(Portion(setting, (9, 4, 3, 5, 1)))}
    assert_same(alone, [together[seed] for seed in (3, 1, 4)])


def test_processes_make_no_difference(quick: None, tmp_path: Path):
    cells = [
        roll_out(tmp_path / name, Hasty(), [MOVING], [5, 6], crew, envs=envs)
        for name, crew, envs in (("here", Here(), 2), ("there", Processes(2), 1))
    ]
    assert_same(*(list(cell.rollouts()) for (cell,) in cells))


def test_the_log_is_of_the_episode(quick: None):
    (rollout,) = Player(Reaching()(), envs=1)(Portion(MOVING, (3,)))
    assert len(rollout) == 24
    assert rollout.ending == "time"
    np.testing.assert_allclose(np.linalg.norm(rollout.object_velocity_mps[:5], axis=1), 0.06, rtol=1e-6)
    way = np.diff(rollout.object_position[:6], axis=0)
    np.testing.assert_allclose(way, 0.05 * rollout.object_velocity_mps[:5], atol=1e-6)
    assert np.flatnonzero(rollout.planned).tolist()[:3] == [0, 8, 16]
    ahead = rollout.channel[0] - rollout.object_position[0]
    np.testing.assert_allclose(ahead, 0, atol=1e-6)  # nothing is known of its way yet
    ahead = rollout.channel[8] - rollout.object_position[8]
    np.testing.assert_allclose(ahead, 0.8 * rollout.object_velocity_mps[8], atol=1e-6)
    np.testing.assert_allclose(rollout.channel_time_s[8], 0.4 + 0.8, atol=1e-6)
    np.testing.assert_array_equal(rollout.seen_position, rollout.object_position)


def test_cells_of_the_same_seed_have_the_same_episode(quick: None):
    """Placement and motion do not hang on how the policy is used; at another speed only the speed differs."""
    player = Player(Reaching()(), envs=1)

    def first(setting: Setting) -> Rollout:
        return player(Portion(setting, (3,)))[0]

    mine, yours = first(MOVING), first(dataclasses.replace(MOVING, correction="ac", predictor="hold"))
    np.testing.assert_array_equal(mine.object_position[:3], yours.object_position[:3])
    np.testing.assert_array_equal(mine.turns_s, yours.turns_s)
    still, faster = first(Setting()), first(dataclasses.replace(MOVING, speed_mps=0.1))
    np.testing.assert_array_equal(mine.object_position[0, :2], faster.object_position[0, :2])
    np.testing.assert_allclose(mine.object_position[0], still.object_position[0], atol=1e-3)
    assert (np.sign(mine.object_velocity_mps[0]) == np.sign(faster.object_velocity_mps[0])).all()


def test_a_bias_is_added_in_the_base_frame(quick: None):
    setting = dataclasses.replace(MOVING, estimator=Estimator(bias_m=(0.01, -0.02, 0.003)))
    (rollout,) = Player(Reaching()(), envs=1)(Portion(setting, (3,)))
    difference = rollout.seen_position - rollout.object_position
    np.testing.assert_allclose(difference, np.tile([0.01, -0.02, 0.003], (25, 1)), atol=1e-6)


def test_pictures_are_taken_only_where_they_are_looked_at(quick: None):
    stage = Stage(Reaching(cameras=("agentview",))(), MOVING, envs=2, rows_per_call=2)
    taken: list[int] = []
    render = stage.world.render
    stage.world.render = lambda i: (taken.append(i), render(i))[1]
    rollouts = list(play(stage, [1, 2]))
    # Plans at 0, 8, 16; the window's other picture is of the step before, and 23 is the step before 24.
    assert sorted(taken) == [0] * 6 + [1] * 6
    assert sum(int(rollout.planned.sum()) for rollout in rollouts) == 6
    stage.close()


# --- on disk


def test_what_there_is_is_not_played_again(quick: None, tmp_path: Path):
    told: list[Standing] = []
    roll_out(tmp_path, Reaching(), [MOVING], [1, 2], Here(), progress=told.append)
    (cell,) = roll_out(tmp_path, Reaching(), [MOVING], [1, 2, 3], Here(), progress=told.append)
    assert [(standing.done, standing.played) for standing in told] == [(0, 0), (2, 2), (2, 0), (3, 1)]
    (fresh,) = roll_out(tmp_path / "fresh", Reaching(), [MOVING], [3, 2, 1], Here())
    assert_same(list(cell.rollouts()), list(fresh.rollouts()))
    assert [rollout.seed for rollout in cell.rollouts([2, 1])] == [2, 1]
    with pytest.raises(SettingError, match="has not been played"):
        list(cell.rollouts([7]))


def test_what_was_played_is_what_is_read(quick: None, tmp_path: Path):
    (cell,) = roll_out(tmp_path, Reaching(), [MOVING], [1, 2], Here())
    assert_same(list(cell.rollouts()), Player(Reaching()(), envs=2)(Portion(MOVING, (1, 2))))
    table = pq.read_table(cell.files()[0])
    assert table.num_rows == 2 * 25
    assert table.column("closing").null_count == 2


def test_cells_are_kept_apart(tmp_path: Path):
    usual = cell_of(tmp_path, Reaching(), MOVING)
    others = [
        cell_of(tmp_path, Reaching("another"), MOVING),
        cell_of(tmp_path, Reaching(), dataclasses.replace(MOVING, speed_mps=0.04)),
        cell_of(tmp_path, Reaching(), dataclasses.replace(MOVING, latency_s=0.1)),
        cell_of(tmp_path, Reaching(), dataclasses.replace(MOVING, estimator=Estimator(dropout=0.1))),
    ]
    assert len({cell.folder for cell in [usual, *others]}) == 5
    assert usual == cell_of(tmp_path, Reaching(), dataclasses.replace(MOVING))
    assert usual.folder.name.startswith("stack-x-6cm-finite-difference-")


def test_a_learned_predictor_is_known_by_what_it_learnt(tmp_path: Path):
    """Wherever its folder lies; another one is another cell."""
    setting = dataclasses.replace(MOVING, predictor=str(learned(tmp_path / "a", 1.0)))
    here = cell_of(tmp_path, Reaching(), setting)
    assert here.folder.name.startswith("stack-x-6cm-a-")
    moved = dataclasses.replace(setting, predictor=str(learned(tmp_path / "deep" / "a", 1.0)))
    assert cell_of(tmp_path, Reaching(), moved).folder == here.folder
    other = dataclasses.replace(setting, predictor=str(learned(tmp_path / "other" / "a", 2.0)))
    assert cell_of(tmp_path, Reaching(), other).folder != here.folder
    walls = dataclasses.replace(setting, predictor=f"{setting.predictor}+walls")
    assert cell_of(tmp_path, Reaching(), walls).folder != here.folder
    assert setting.deployment == "a"


def learned(folder: Path, weight: float) -> Path:
    weights = {name: np.full(shape, weight, dtype=np.float32) for name, shape in MLP.shapes(8).items()}
    save_learned(MLP(weights, 8), folder)
    return folder


def test_several_policies_are_played_as_each_alone(quick: None, tmp_path: Path):
    wanted = [
        Wanted(tmp_path / "both" / str(number), source, [MOVING, Setting()])
        for number, source in enumerate((Reaching(), Untrained(), Reaching("again")))
    ]
    told: list[Standing] = []
    cells = roll_out_all(wanted, [4, 5], Here(), envs=2, progress=told.append)
    assert (told[-1].done, told[-1].wanted) == (12, 12)
    for number, source in enumerate((Reaching(), Untrained())):
        alone = roll_out(tmp_path / "alone" / str(number), source, [MOVING, Setting()], [4, 5], Here())
        for one, other in zip(cells[2 * number : 2 * number + 2], alone, strict=True):
            assert_same(list(one.rollouts()), list(other.rollouts()))


def test_episodes_can_be_cut_short(tmp_path: Path):
    (rollout,) = Player(Reaching()(), envs=1)(Portion(dataclasses.replace(MOVING, longest_s=0.5), (3,)))
    assert (len(rollout), rollout.ending) == (10, "time")
    usual = cell_of(tmp_path, Reaching(), MOVING)
    assert cell_of(tmp_path, Reaching(), dataclasses.replace(MOVING, longest_s=0.5)).folder != usual.folder
    with pytest.raises(SettingError, match="longest_s"):
        Player(Reaching()(), envs=1)(Portion(dataclasses.replace(MOVING, longest_s=0.0), (3,)))


def test_a_killed_writer_leaves_nothing_that_is_read(quick: None, tmp_path: Path):
    (cell,) = roll_out(tmp_path, Reaching(), [MOVING], [1], Here())
    (cell.folder / ".partial-0badcafe-000000002-000000002.parquet").write_bytes(b"half")
    (again,) = roll_out(tmp_path, Reaching(), [MOVING], [1, 2], Here())
    assert again.seeds() == {1, 2}
    assert not list(cell.folder.glob(".partial*"))


def test_a_damaged_file_is_named(quick: None, tmp_path: Path):
    (cell,) = roll_out(tmp_path, Reaching(), [MOVING], [1], Here())
    cell.files()[0].write_bytes(b"PAR1 no more")
    with pytest.raises(DataError, match=r"the rollouts cannot be read.*played again"):
        Cell(cell.folder, MOVING, "reaching").seeds()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"predictor": "finite-diference"}, "unknown predictor.*'finite-diference'.*did you mean 'finite-difference'"),
        ({"correction": "feedforward"}, "unknown correction.*did you mean 'feed-forward'"),
        ({"horizon": "contract"}, "unknown horizon.*did you mean 'contact'"),
        ({"motion": "y", "speed_mps": 9.0}, "too fast for the region"),
        ({"action_horizon": 17}, "longer than a chunk"),
    ],
)
def test_settings_that_cannot_be_are_refused(quick: None, as_user: None, change: dict, message: str):
    with pytest.raises(SettingError, match=message):
        Stage(Reaching()(), dataclasses.replace(MOVING, **change), envs=1, rows_per_call=1)


def test_settings_survive_json():
    setting = dataclasses.replace(MOVING, reaching_action_horizon=2, estimator=Estimator(bias_m=(0.01, 0.0, 0.0)))
    assert Setting.from_json(setting.to_json()) == setting
