"""What is kept comes back; nobody else goes on with it; nothing half written is ever believed."""

from __future__ import annotations

import resource
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sido.errors import DataError, SettingError
from sido.sim.collect.attempt import NO_GRASP, Played
from sido.sim.collect.journal import Entry, open_journal

SETTINGS: dict[str, Any] = {
    "recipe": {"task": "stack", "expert": {"speed": 1.0}, "cameras": ()},
    "made_with": {"sido": "1"},
}


def played(number: int, ending: str = "success") -> Played:
    arrays = {
        "actions": np.random.default_rng(number).standard_normal((5, 7)),
        "recorded/events/held": np.arange(5) > 2,
    }
    return Played(number, 100 + number, 5, ending, arrays if ending == "success" else {})


def test_what_is_kept_comes_back(tmp_path: Path):
    output = tmp_path / "a.hdf5"
    with open_journal(output, SETTINGS) as journal:
        assert (journal.entries, journal.elapsed_s) == ({}, 0.0)
        journal.save(played(12), 1.5)
        journal.save(played(3, "time"), 2.5)
    with open_journal(output, SETTINGS) as journal:
        assert journal.entries == {3: Entry("time", 5, False), 12: Entry("success", 5, True)}
        assert journal.elapsed_s == 2.5
        again, before = journal.read(12), played(12)
        assert (again.number, again.seed, again.steps, again.ending) == (12, 112, 5, "success")
        assert set(again.arrays) == set(before.arrays)
        for name, array in before.arrays.items():
            np.testing.assert_array_equal(again.arrays[name], array)
            assert again.arrays[name].dtype == array.dtype
        journal.remove()
    assert list(tmp_path.iterdir()) == []
    assert not played(1, NO_GRASP).usable


def test_a_full_disk_is_told_and_what_was_kept_stays(tmp_path: Path):
    """Files that may not grow (RLIMIT_FSIZE) fail as on a full disk; with room again, it goes on."""
    output, large = tmp_path / "a.hdf5", played(2)
    large.arrays["pictures"] = np.zeros(100_000)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with (
        pytest.raises(DataError, match=r"a.hdf5: cannot be written; found .*; to mend it"),
        open_journal(output, SETTINGS) as journal,
    ):
        journal.save(played(1), 1.0)
        resource.setrlimit(resource.RLIMIT_FSIZE, (65536, limits[1]))
        try:
            journal.save(large, 2.0)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    with open_journal(output, SETTINGS) as journal:
        assert set(journal.entries) == {1}
        assert not list(journal.folder.glob(".attempt_*")), "it makes no full disk fuller"
        journal.save(large, 2.0)


def test_half_an_attempt_is_none(tmp_path: Path):
    with open_journal(tmp_path / "a.hdf5", SETTINGS) as journal:
        journal.save(played(1), 1.0)
        whole = (journal.folder / "attempt_000001.npz").read_bytes()
        (journal.folder / ".attempt_000002.npz").write_bytes(whole[:100])  # as a killed process leaves it
    with open_journal(tmp_path / "a.hdf5", SETTINGS) as journal:
        assert set(journal.entries) == {1}
        journal.save(played(2), 1.0)
        (journal.folder / "attempt_000001.npz").write_bytes(whole[: len(whole) // 2])
    with (
        pytest.raises(DataError, match=r"attempt_000001.npz: an attempt that was kept is damaged.*delete the file"),
        open_journal(tmp_path / "a.hdf5", SETTINGS),
    ):
        pass


def test_pickles_are_not_read(tmp_path: Path):
    with open_journal(tmp_path / "a.hdf5", SETTINGS) as journal:
        journal.save(played(1), 1.0)
        np.savez(journal.folder / "attempt_000001.npz", about=np.array([{"number": 1}], dtype=object))
    with pytest.raises(DataError, match="allow_pickle=False"), open_journal(tmp_path / "a.hdf5", SETTINGS):
        pass


def test_other_settings_are_refused_by_name(tmp_path: Path):
    output = tmp_path / "a.hdf5"
    other = {"recipe": {"task": "stack", "expert": {"speed": 0.5}, "cameras": ()}, "made_with": {"sido": "2"}}
    with open_journal(output, SETTINGS):
        pass
    with open_journal(output, other) as journal:  # nothing was played yet
        journal.save(played(1), 1.0)
    with pytest.raises(SettingError) as raised, open_journal(output, SETTINGS):
        pass
    folder = tmp_path / ".partial-a.hdf5"
    assert str(raised.value) == (
        f"{output} > recipe.expert.speed, made_with.sido: it was begun with other settings, and demonstrations of both "
        "cannot be mixed; found recipe.expert.speed = 1.0, made_with.sido = '1'; expected recipe.expert.speed = 0.5, "
        "made_with.sido = '2'; to mend it: go on with the settings as they were, choose another name, or begin anew: "
        f"rm -r {folder}"
    )


def test_only_one_at_a_time(tmp_path: Path):
    with (
        open_journal(tmp_path / "a.hdf5", SETTINGS),
        pytest.raises(SettingError, match="another process is collecting this"),
        open_journal(tmp_path / "a.hdf5", SETTINGS),
    ):
        pass


@pytest.mark.parametrize("folder", [False, True])
def test_the_dataset_is_moved_to_its_place(tmp_path: Path, folder: bool):
    output = tmp_path / "data"
    for content in ("first", "second"):
        with open_journal(output, SETTINGS) as journal:
            assert not journal.is_finished(output)
            built = journal.folder / "data"
            if folder:
                built.mkdir()
            (built / "x" if folder else built).write_text(content)
            journal.finish(built, output)
        assert (output / "x" if folder else output).read_text() == content
        assert list(tmp_path.iterdir()) == [output]
