"""What may be asked of an expert."""

from __future__ import annotations

import pytest

from sido.errors import SettingError
from sido.sim.experts import ExpertSettings


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"reaction_delay_s": -0.1}, "ExpertSettings.reaction_delay_s: not usable; found -0.1; expected seconds, 0"),
        ({"action_noise_m": float("nan")}, "ExpertSettings.action_noise_m: not usable; found nan; expected metres, 0"),
        ({"grasp_offset_m": -1.0}, "ExpertSettings.grasp_offset_m: not usable; found -1.0; expected metres, 0 or more"),
        ({"speed": 0.0}, "ExpertSettings.speed: not usable; found 0.0; expected 0.1 to 2"),
        ({"speed": 2.5}, "ExpertSettings.speed: not usable; found 2.5; expected 0.1 to 2"),
    ],
)
def test_what_makes_no_sense_is_refused(settings: dict[str, float], complaint: str):
    with pytest.raises(SettingError) as caught:
        ExpertSettings(**settings)
    assert str(caught.value).startswith(complaint)


def test_by_default_it_plays_as_well_as_it_can():
    assert ExpertSettings() == ExpertSettings(0.0, 0.0, 0.0, 1.0)
