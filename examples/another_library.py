"""A policy of another library at sido's controls: LeRobot's Diffusion Policy, behind an adapter of ten lines.

    python examples/another_library.py            (where lerobot is installed)

Whatever predicts chunks of actions can be deployed and evaluated like sido's own policies: it has to be an `Actor`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from sido.control import Agent, Observation
from sido.demos import ACTION_SPECS
from sido.policies import Actor, Generators, ObservationWindow, standard_normal
from sido.predict import FiniteDifference


# adapter
class LeRobotActor:
    action_spec, prediction_horizon, observation_steps, cameras = ACTION_SPECS["osc-absolute"], 15, 2, ()

    def __init__(self, sample: Callable[..., torch.Tensor]) -> None:
        self.sample = sample

    def predict(self, seen: ObservationWindow, generator: Generators) -> torch.Tensor:
        state = torch.cat([seen.observations["eef_position"], seen.observations["gripper"]], dim=-1)
        batch = {"observation.state": state, "observation.environment_state": seen.object_position}
        with torch.no_grad():
            return self.sample(batch, noise=standard_normal((len(seen), 16, 7), generator))


# end of adapter


def lerobot_policy() -> Callable[..., torch.Tensor]:
    """LeRobot's, with random weights, as it samples chunks: 16 steps, of which the first is in the past."""
    from lerobot.configs.types import FeatureType, PolicyFeature
    from lerobot.policies.diffusion.configuration_diffusion import DiffusionConfig
    from lerobot.policies.diffusion.modeling_diffusion import DiffusionModel

    config = DiffusionConfig(
        input_features={
            "observation.state": PolicyFeature(FeatureType.STATE, (5,)),
            "observation.environment_state": PolicyFeature(FeatureType.ENV, (3,)),
        },
        output_features={"action": PolicyFeature(FeatureType.ACTION, (7,))},
        horizon=16, n_obs_steps=2, n_action_steps=15, drop_n_last_frames=0, down_dims=(32, 64),
        noise_scheduler_type="DDIM", num_inference_steps=4, device="cpu",
    )  # fmt: skip
    torch.manual_seed(0)
    return DiffusionModel(config).eval().generate_actions


def main() -> None:
    actor = LeRobotActor(lerobot_policy())
    assert isinstance(actor, Actor)
    agent = Agent(actor, FiniteDifference())
    agent.reset([0])
    for step in range(20):
        now = np.array([0.05 * step])
        observation = Observation(
            time_s=now,
            eef_position=np.array([[0.5, 0.0, 0.2]]),
            eef_quat_wxyz=np.array([[0.0, 1.0, 0.0, 0.0]]),
            gripper=np.array([[0.04, -0.04]]),
            object_position=np.array([[0.5 + 0.001 * step, 0.1, 0.02]]),
            object_time_s=now,
        )
        action = agent.act(observation)[0]
    print(f"after 20 steps, the hand is sent to {np.round(action[:3], 3)}")


if __name__ == "__main__":
    main()
