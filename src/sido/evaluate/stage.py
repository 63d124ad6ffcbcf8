"""From the names in a `Setting` to a world and an agent in it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any, final

import mujoco
import numpy as np
from jaxtyping import Float, UInt8

from sido.arrays import Array
from sido.control import (
    ActionCompensation,
    Agent,
    AgentSettings,
    ChunkHorizon,
    ContactHorizon,
    Correction,
    Horizon,
    VelocityFeedForward,
)
from sido.errors import SettingError, SidoError
from sido.evaluate.landmarks import Landmarks
from sido.evaluate.oracle import TrueFuture
from sido.evaluate.setting import WALLS, Setting
from sido.geometry import rotate
from sido.motion import motion_named
from sido.policies import Actor, Policy
from sido.predict import Predictor, Reflected, predictor_named
from sido.sim.cameras import FAST, Cameras
from sido.sim.pose_estimator import PoseEstimator
from sido.sim.settings import EnvironmentSettings, obstacle_rule
from sido.sim.tasks import shared_task
from sido.sim.vector_environment import VectorEnvironment

__all__ = ["CORRECTIONS", "HORIZONS", "Stage", "predictor_for", "usual_predictor"]

CORRECTIONS: dict[str, Correction | None] = {
    "none": None,
    "ac": ActionCompensation(),
    "feed-forward": VelocityFeedForward(),
}
"""By the name that `--correction` takes."""

HORIZONS: dict[str, Horizon] = {"chunk": ChunkHorizon(), "contact": ContactHorizon()}
"""By the name that `--horizon` takes."""

_USUAL = {"none": "none", "current": "hold", "future": "finite-difference"}
_OTHERS_PX = (84, 84)
"""The images that a policy of another library gets."""


def predictor_for(setting: Setting, world: VectorEnvironment) -> Predictor | None:
    """What a setting's `predictor` means.

    "none" is none; "true-future" no predictor but the answer; the rest are `sido.predict`'s, each also with "+walls",
    which knows the region that reflects the object. A predictor that can be told the speed is told it, as the paper's.

    Raises:
        SettingError: there is none of that name.
    """
    name = setting.predictor
    if name == "none":
        return None
    if name == "true-future":
        return TrueFuture(world)
    predictor = predictor_named(name.removesuffix(WALLS), setting.speed_mps if setting.moves else 0.0)
    return Reflected(predictor, world.task.region) if name.endswith(WALLS) else predictor


def usual_predictor(actor: Actor) -> str:
    """What the policy's pose channel was made for."""
    return _USUAL[actor.config.observation.pose_channel] if isinstance(actor, Policy) else "hold"


@final
class Stage:
    """Environments of a setting, an agent that plays in them, and cameras if it looks through any.

    Args:
        actor: Whose policy.
        setting: What is played, and how the policy is used.
        envs: How many episodes at once.
        rows_per_call: The policy is always asked for so many at once: then a rollout is the same to the last bit,
            whatever is played beside it.
        device: Where the policy computes.

    Raises:
        SidoError: a name that there is not; a setting that does not fit the policy or the task.
    """

    def __init__(self, actor: Actor, setting: Setting, *, envs: int, rows_per_call: int, device: str = "cpu") -> None:
        self.setting = setting
        self.task = task = shared_task(setting.task)
        self._views: list[Cameras] = []
        self._sizes = _image_sizes(actor)
        self.world = VectorEnvironment(
            task, envs=envs, settings=_environment_settings(setting, actor), render=self._render
        )
        try:
            predictor = predictor_for(setting, self.world)
            self.agent = Agent(
                actor,
                predictor,
                AgentSettings(
                    action_horizon=setting.action_horizon,
                    reaching_action_horizon=setting.reaching_action_horizon,
                    horizon=_named("horizon", HORIZONS, setting.horizon),
                    correction=_named("correction", CORRECTIONS, setting.correction),
                    latency_s=setting.latency_s,
                    rows_per_call=rows_per_call,
                ),
                sessions=envs,
                device=device,
            )
            names = actor.config.observation.landmarks if isinstance(actor, Policy) else ()
            self.landmarks = Landmarks(task, names)
        except SidoError:
            self.close()
            raise

    def close(self) -> None:
        """Give threads and graphics memory back."""
        self.world.close()
        for view in self._views:
            view.close()

    def pictures(self, which: Iterable[int]) -> dict[str, UInt8[Array, "N height width 3"]]:
        """What the agent's cameras see in these environments; nothing in the others' rows."""
        images = {name: np.zeros((len(self.world), *size, 3), dtype=np.uint8) for name, size in self._sizes.items()}
        for i in which:
            for name, image in self.world.render(i).items():
                images[name][i] = image
        return images

    def pictures_displaced(self, i: int, shift_m: Float[Array, "3"]) -> dict[str, UInt8[Array, "1 height width 3"]]:
        """What the cameras would see in environment `i`, were its object so far from where it is; base frame."""
        scene = self.task.scene
        data, address = mujoco.MjData(scene.model), scene[self.task.moving].qpos_address
        data.qpos[:] = self.world.state.qpos[i]
        data.qpos[address : address + 3] += rotate(scene.arm.base_pose.quat_wxyz, shift_m)
        mujoco.mj_forward(scene.model, data)
        return {name: image[None] for name, image in self._render(data).items()}

    def _render(self, data: mujoco.MjData) -> Mapping[str, UInt8[Array, "height width 3"]]:
        """Cameras of one size share a canvas; they are made with the first picture, as they need OpenGL."""
        if not self._views:
            for size in sorted(set(self._sizes.values())):
                names = [name for name, its in self._sizes.items() if its == size]
                self._views.append(Cameras(self.task.scene, names, size=size, quality=FAST))
        images: dict[str, Any] = {}
        for view in self._views:
            images |= view.render(data)
        return images


def _image_sizes(actor: Actor) -> dict[str, tuple[int, int]]:
    if isinstance(actor, Policy):
        return {camera.name: (camera.height, camera.width) for camera in actor.config.observation.cameras}
    return dict.fromkeys(actor.cameras, _OTHERS_PX)


def _environment_settings(setting: Setting, actor: Actor) -> EnvironmentSettings:
    estimator = setting.estimator
    # The bias is said in the base frame, where its direction means something to people; the estimator has the camera's.
    camera = PoseEstimator().base_from_camera.pose.matrix[:3, :3]
    x, y, z = (camera.T @ np.array(estimator.bias_m)).tolist()
    right, down, depth = estimator.noise_m
    return EnvironmentSettings(
        action_spec=actor.action_spec,
        motion=motion_named(setting.motion, setting.speed_mps if setting.motion != "still" else None),
        obstacle_rule=obstacle_rule(setting.obstacle),
        pose_estimator=PoseEstimator(
            rate_hz=estimator.rate_hz,
            latency_s=estimator.latency_s,
            dropout=estimator.dropout,
            noise_m=(right, down, depth),
            bias_m=(x, y, z),
        ),
        longest_s=setting.longest_s,
    )


def _named(what: str, known: Mapping[str, Any], name: str) -> Any:
    if name not in known:
        close = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
        raise SettingError(
            f"unknown {what}",
            found=repr(name),
            expected=f"one of {', '.join(known)}",
            fix=f"did you mean {close[0]!r}?",
        )
    return known[name]
