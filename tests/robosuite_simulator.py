"""robosuite as a judge: the simulator that the data formats describe."""

from __future__ import annotations

import logging
import warnings
from typing import Any

import pytest


def make_environment(name: str, **settings: Any) -> Any:
    """A robosuite environment with a Panda under OSC_POSE at 20 Hz, seeded, without cameras."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # robosuite's and its dependencies' own
        logging.getLogger("robosuite_logs").setLevel(logging.CRITICAL)
        robosuite = pytest.importorskip("robosuite")
        from robosuite.controllers import load_composite_controller_config

        controller = load_composite_controller_config(controller="BASIC", robot="Panda")
        controller["body_parts"]["right"].update(settings.pop("controller", {}))
        return robosuite.make(
            name,
            robots="Panda",
            controller_configs=controller,
            has_renderer=False,
            has_offscreen_renderer=False,
            use_camera_obs=False,
            control_freq=20,
            seed=0,
            **settings,
        )


def model_of(environment: Any) -> str:
    """The MJCF of an environment, as files keep it in `model_file`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # robosuite leaves a file open here
        return environment.sim.model.get_xml()
