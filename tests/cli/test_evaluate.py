"""`sido evaluate`, where it refuses; what it does is in tests/evaluate."""

from __future__ import annotations

import pytest

from sido.cli.main import main


@pytest.mark.parametrize("motions", [(), ("still",)])
def test_a_speed_of_nothing_is_refused_before_a_policy_is_read(motions: tuple[str, ...], capsys: pytest.CaptureFixture):
    named = ["--motion", *motions] if motions else []
    assert main(["evaluate", "no-such-run", *named, "--speed", "0.02", "0.04"]) == 2
    assert "a still object has no speed; found motion 'still' at 0.04 m/s" in capsys.readouterr().err


def test_beside_a_motion_a_still_object_is_played_too(capsys: pytest.CaptureFixture):
    assert main(["evaluate", "no-such-run", "--motion", "still", "x", "--speed", "0.04"]) == 2
    assert "no policy here" in capsys.readouterr().err
