"""Gymnasium's view of the tasks: `gymnasium.make("sido/Stack-v0", motion="circle", speed_mps=0.04)`.

Importing this module registers the ids, as is the custom with Gymnasium's environments; it builds nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, final

import numpy as np
from jaxtyping import Float

from sido.arrays import Array
from sido.demos.action_spec import ActionSpec, action_spec
from sido.errors import MissingExtraError, SettingError
from sido.motion import motion_named
from sido.sim.cameras import FAST, PRETTY, Cameras
from sido.sim.ending import Ending
from sido.sim.pose_estimator import PoseEstimator
from sido.sim.settings import EnvironmentSettings, obstacle_rule
from sido.sim.tasks import TASKS, task_named
from sido.sim.vector_environment import Observation, VectorEnvironment

try:
    import gymnasium
    from gymnasium import spaces
except ImportError as error:
    raise MissingExtraError("sido's Gymnasium environments", "gymnasium", "sim") from error

__all__ = ["Environment", "environment_id", "register_environments"]

_ROOM_M = 100.0
"""Far beyond any place in a scene: the bounds of positions say nothing."""
_PICTURE_SIZE = (480, 640)


@final
class Environment(gymnasium.Env[Any, Array]):
    """One environment of a task; `VectorEnvironment` with `N = 1` and Gymnasium's manners.

    The reward is 1 on success, else 0. Success, an object out of the workspace and a robot's fault terminate; time
    truncates. `info["ended"]` says which, empty while the episode goes on. `reset(seed=7)` begins the episode that
    `VectorEnvironment.reset([7])` begins; without a seed, the next one of the environment's own generator.
    With cameras, every observation has an image of each, `uint8 [image_size, image_size, 3]`, as `agentview_image`.
    To take images only where a policy plans, which is much cheaper, use `VectorEnvironment.render`.

    Args:
        task: Of `sido.sim.tasks.TASKS`.
        motion: Of `sido.motion.MOTIONS`.
        speed_mps: By default, the motion's own.
        actions: Of `sido.demos.action_spec.ACTION_SPECS`, or an `ActionSpec`. The default's numbers lie in [-1, 1],
            as learners like them, and its rotations have no seam where the hand points down, as axis angles have.
        obstacle: Of `sido.sim.settings.OBSTACLE_RULES`.
        pose_estimator: By default, a perfect one.
        cameras: Of the scene: agentview, robot0_eye_in_hand, spectator, ...
        image_size: Height and width of their images in pixels.
        render_mode: `"rgb_array"` for pictures by `render`, of the agent's camera.

    Raises:
        SettingError: an unknown name, or a speed that the task's region does not allow.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array"], "render_fps": 20}  # pyright: ignore[reportIncompatibleVariableOverride]

    def __init__(
        self,
        task: str,
        *,
        motion: str = "still",
        speed_mps: float | None = None,
        actions: str | ActionSpec = "rot6d-absolute",
        obstacle: str = "reverse",
        pose_estimator: PoseEstimator | None = None,
        cameras: Sequence[str] = (),
        image_size: int = 84,
        render_mode: str | None = None,
    ) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise SettingError("unknown render mode", found=repr(render_mode), expected="None or 'rgb_array'")
        spec = actions if isinstance(actions, ActionSpec) else action_spec(actions)
        settings = EnvironmentSettings(
            action_spec=spec,
            motion=motion_named(motion, speed_mps),
            obstacle_rule=obstacle_rule(obstacle),
            pose_estimator=pose_estimator or PoseEstimator(),
        )
        self.render_mode = render_mode
        self._world = VectorEnvironment(task_named(task), envs=1, settings=settings)
        scene, size = self._world.scene, (image_size, image_size)
        self._eyes = Cameras(scene, cameras, size=size, quality=FAST) if len(cameras) else None
        self._spectator: Cameras | None = None
        self.action_space = _action_space(spec)
        self.observation_space = self._observation_space()

    @property
    def world(self) -> VectorEnvironment:
        """What it is played in: for experts, who may know what a policy may not."""
        return self._world

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, Any]:
        """Begin an episode; there are no options."""
        super().reset(seed=seed)
        if options:
            raise SettingError("there are no options", field="reset(options=...)", found=sorted(options))
        episode = int(self.np_random.integers(2**63)) if seed is None else seed
        self._world.reset([episode])
        return self._observe(), self._info()

    def step(self, action: Array) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take one control step."""
        before = self._world.endings[0]
        if before is not None:
            raise SettingError(f"the episode is over: {before}", fix="call reset()")
        events = self._world.step(np.asarray(action)[None]).events
        ending = self._world.endings[0]
        info = self._info()
        info |= {name: getattr(events, name)[0].item() for name in ("closing", "finger", "held", "released", "resumed")}
        over = ending is not None
        truncated = over and ending.truncates
        return self._observe(), float(ending is Ending.SUCCESS), over and not truncated, truncated, info

    def render(self) -> Any:
        """The agent's view, `uint8 [height, width, 3]`; None without a render mode."""
        if self.render_mode is None:
            return None
        if self._spectator is None:  # it needs OpenGL, which not everybody who names a render mode has
            self._spectator = Cameras(self._world.scene, ["agentview"], size=_PICTURE_SIZE, quality=PRETTY)
        return self._spectator.render(self._world.scenery(0))["agentview"]

    def close(self) -> None:
        """Give memory and threads back; may be called again."""
        self._world.close()
        for cameras in (self._eyes, self._spectator):
            if cameras is not None:
                cameras.close()

    # --- within

    def _observe(self) -> Observation:
        seen = {name: np.array(rows[0]) for name, rows in self._world.observation.items()}
        if self._eyes is None:
            return seen
        images = self._eyes.render(self._world.scenery(0))
        return seen | {f"{camera}_image": image for camera, image in images.items()}

    def _info(self) -> dict[str, Any]:
        world, ending = self._world, self._world.endings[0]
        return {
            "ended": "" if ending is None else ending.value,
            "success": ending is Ending.SUCCESS,
            "fault": world.fault_reason(0) or "",
            "seed": int(world.seeds[0]),
            "driven": bool(world.driven[0]),
        }

    def _observation_space(self) -> Any:  # a spaces.Dict, whose own types runtime checkers warn of
        arm = self._world.scene.arm
        bounds: dict[str, tuple[float, tuple[int, ...]]] = {
            "eef_position": (_ROOM_M, (3,)),
            "eef_quat_wxyz": (1.0, (4,)),
            "gripper": (2 * np.pi, (len(arm.gripper.joint_qpos),)),
            "joint_position": (4 * np.pi, (arm.joints,)),
            "object_position": (_ROOM_M, (3,)),
            "object_position_estimated": (_ROOM_M, (3,)),
            "estimate_time_s": (1e6, ()),
            "time_s": (1e6, ()),
        }
        numbers = {name: spaces.Box(-most, most, shape, np.float64) for name, (most, shape) in bounds.items()}
        eyes = self._eyes
        names, size = ((), (0, 0)) if eyes is None else (eyes.names, eyes.size)
        images = {f"{camera}_image": spaces.Box(0, 255, (*size, 3), np.uint8) for camera in names}
        return spaces.Dict({**numbers, **images})


def environment_id(task: str) -> str:
    """`"sido/Stack-v0"` of `"stack"`."""
    return f"sido/{task.capitalize()}-v0"


def register_environments() -> None:
    """Make the ids known to `gymnasium.make`; those that it knows already are left as they are."""
    for task in TASKS:
        if environment_id(task) not in gymnasium.registry:
            gymnasium.register(environment_id(task), entry_point=f"{__name__}:Environment", kwargs={"task": task})


def _action_space(spec: ActionSpec) -> spaces.Box[np.float64]:
    """Goals within a metre of the base, along each axis, and any rotation; or increments of one unit."""
    high: Float[Array, "A"] = np.ones(spec.dim)
    if spec.kind == "absolute" and spec.rotation in ("axis_angle", "euler_xyz"):
        high[spec.rotation_slice] = np.pi
    low = -high
    low[-1], high[-1] = spec.gripper_range
    return spaces.Box(low, high, dtype=np.float64)


register_environments()
