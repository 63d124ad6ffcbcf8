"""Many environments of one task, stepped together: the world in which policies and experts are run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import NamedTuple, final

import mujoco
import numpy as np
from jaxtyping import Bool, Float, Int, UInt8

from sido.arrays import Array, read_only
from sido.errors import SettingError, SidoError
from sido.geometry import Pose, rotate
from sido.motion import Trajectory
from sido.sim.commands import checked_actions, controller_commands, controller_spec
from sido.sim.ending import Ending
from sido.sim.episode import Episode, obstacle_in
from sido.sim.events import Events
from sido.sim.osc import OscSettings
from sido.sim.scenes import carry
from sido.sim.settings import EnvironmentSettings
from sido.sim.stepper import ContactPair, Drive, Stepper
from sido.sim.tasks import Task, TaskState

__all__ = ["Observation", "Render", "Step", "VectorEnvironment"]

Observation = dict[str, Array]
"""By name, one row for each environment; metres, radians, seconds, base frame.

| name | row |
|---|---|
| `eef_position`, `eef_quat_wxyz` | the grip site |
| `gripper` | the fingers' joints |
| `joint_position` | the arm's joints |
| `object_position` | where the moving object truly is |
| `object_position_estimated`, `estimate_time_s` | where the pose estimator saw it last, and when that was |
| `time_s` | since the episode began |

All but the estimate are of the same moment: the one at which MuJoCo's positions were recorded.
"""

Render = Callable[[mujoco.MjData], Mapping[str, UInt8[Array, "height width 3"]]]
"""Takes the pictures of one environment, by camera."""


class Step(NamedTuple):
    """What one step of all environments gives."""

    observation: Observation
    endings: tuple[Ending | None, ...]
    """Why each episode is over; None where it goes on."""
    events: Events


@final
class VectorEnvironment:
    """`envs` environments of a task, an action of each at a time, physics in native code.

    - Episodes are independent: the same seed and actions give the same episode to the last bit, whatever the number
      of environments and threads, and whatever the others do.
    - Nothing resets by itself. Where an episode is over, its row stays as it ended, and its actions are not looked at.
    - An object whose motion has a speed is driven until both finger pads touch it while the gripper closes. Then it is
      free. It is driven again, by a new plan from where it lies, once the grasp is lost (`lost_after_steps`).

    Args:
        task: What is done. Environments may share one.
        envs: How many.
        settings: How it is played.
        threads: How many of them are stepped at once.
        render: Takes pictures, where any are asked for.

    Raises:
        SettingError: a motion that the task's region does not allow, or actions that the controller cannot follow.
    """

    def __init__(
        self,
        task: Task,
        *,
        envs: int,
        settings: EnvironmentSettings | None = None,
        threads: int = 1,
        render: Render | None = None,
    ) -> None:
        self.task = task
        self.settings = settings = settings or EnvironmentSettings()
        self.scene = scene = task.scene
        self._base = scene.arm.base_pose
        self._base_inverse = self._base.inverse()
        self._render = render
        try:
            self._check_motion()
            self._stepper = Stepper(
                scene.physics,
                scene.arm,
                OscSettings(controller_spec(settings.action_spec)),
                envs=envs,
                threads=threads,
                rate_hz=settings.action_spec.rate_hz,
                contacts=_contacts(task),
                driven=scene.model.joint(scene[task.moving].joint).name,
                release=("left_pad", "right_pad"),
            )
        except SidoError as error:
            raise error.at(demo=f"environment of {task.name!r}") from None
        longest_s = min(task.horizon_s, settings.longest_s or task.horizon_s)
        self.horizon = round(longest_s * settings.action_spec.rate_hz)
        """Control steps after which an episode ends by time."""
        self._episodes: list[Episode | None] = [None] * envs
        self._sceneries: dict[int, mujoco.MjData] = {}  # the stepper's own data know nothing of what is only seen
        self._keep(self._read_state())

    def __enter__(self) -> VectorEnvironment:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self._stepper)

    def close(self) -> None:
        """End the threads; nothing is stepped afterwards. May be called again."""
        self._stepper.close()

    # --- what is known

    @property
    def period_s(self) -> float:
        """Of a control step."""
        return 1.0 / self.settings.action_spec.rate_hz

    @property
    def seeds(self) -> Int[Array, "N"]:
        """Of the episodes; -1 before the first reset."""
        return np.array([-1 if episode is None else episode.seed for episode in self._episodes])

    @property
    def steps(self) -> Int[Array, "N"]:
        """Control steps taken in each episode."""
        return np.array([0 if episode is None else episode.steps for episode in self._episodes])

    @property
    def endings(self) -> tuple[Ending | None, ...]:
        """Why each episode is over; None where it goes on."""
        return tuple(None if episode is None else episode.ending for episode in self._episodes)

    @property
    def live(self) -> Bool[Array, "N"]:
        """Where an episode goes on."""
        return np.array([episode is not None and episode.ending is None for episode in self._episodes])

    @property
    def observation(self) -> Observation:
        """What a policy may see; new arrays."""
        state = self._state
        latest = [episode.track.latest for episode in self._begun()]
        return {
            "eef_position": state.base_eef_position.copy(),
            "eef_quat_wxyz": state.base_eef_quat_wxyz.copy(),
            "gripper": state.qpos[:, self.scene.arm.gripper.joint_qpos],
            "joint_position": state.qpos[:, self.scene.arm.joint_qpos],
            "object_position": self._object_position.copy(),
            "object_position_estimated": np.stack([estimate.position for estimate in latest]),
            "estimate_time_s": np.array([estimate.time_s for estimate in latest]),
            "time_s": self.steps * self.period_s,
        }

    def fault_reason(self, i: int) -> str | None:
        """What went wrong in environment `i`, if its robot has a fault."""
        return self._stepper.fault_reason(i)

    # --- what only experts and logs know

    @property
    def state(self) -> TaskState:
        """All environments as they truly are, world frame."""
        return self._state

    @property
    def mujoco_states(self) -> Float[Array, "N D"]:
        """`[time, qpos, qvel]`, as robomimic records them; world frame."""
        time_s = self.steps[:, None] * self.period_s
        return np.concatenate([time_s, self._state.qpos, self._state.qvel], axis=1)

    @property
    def eef_pose(self) -> Pose:
        """Of the grip site, base frame."""
        return Pose(self._state.base_eef_position, self._state.base_eef_quat_wxyz)

    @property
    def object_position(self) -> Float[Array, "N 3"]:
        """Of the moving object; metres, base frame."""
        return read_only(self._object_position)

    @property
    def object_pose(self) -> Pose:
        """Of the moving object, base frame."""
        return self._base_inverse @ self._state.pose(self.task.moving)

    @property
    def object_velocity_mps(self) -> Float[Array, "N 3"]:
        """Of the moving object, driven or free, base frame."""
        return rotate(self._base_inverse.quat_wxyz, self._state.velocity(self.task.moving))

    @property
    def target_pose(self) -> Pose:
        """Where the task wants the moving object, base frame."""
        return self._base_inverse @ self.task.target(self._state)

    @property
    def driven(self) -> Bool[Array, "N"]:
        """Where the moving object is driven in the next step."""
        return np.array([episode is not None and episode.object.driven for episode in self._episodes])

    def object_future(self, i: int, ahead_s: float) -> Float[Array, "3"] | None:
        """Where the object of environment `i` will be if nobody grasps it: an oracle. None where it is not driven."""
        return self._begun()[i].object.future(ahead_s)

    def object_plan(self, i: int) -> Trajectory | None:
        """How the object of environment `i` moves if nobody grasps it, a whole episode long: an oracle.

        Its time runs since the object began to be driven. None where it is not.
        """
        return self._begun()[i].object.plan(self.task.horizon_s)

    def render(self, i: int) -> Mapping[str, UInt8[Array, "height width 3"]]:
        """Pictures of environment `i` as it is now, by camera; taken when asked for, and not before."""
        if self._render is None:
            raise SettingError(
                f"the environments of {self.task.name!r} have no cameras", fix="give VectorEnvironment a `render`"
            )
        return self._render(self.scenery(i))

    def scenery(self, i: int) -> mujoco.MjData:
        """Environment `i` as it is now, with all that is only seen in its place: to draw, not to change.

        It stays so until the next call for the same environment.
        """
        model, episode = self.scene.model, self._begun()[i]
        if i not in self._sceneries:
            self._sceneries[i] = mujoco.MjData(model)
        data = self._sceneries[i]
        data.time, data.qpos[:], data.qvel[:] = self._stepper.time_s[i], self._stepper.qpos[i], self._stepper.qvel[i]
        carry(self.task.carriers, model, data, episode.carried_m)
        mujoco.mj_camlight(model, data)
        return data

    # --- what it does

    def reset(
        self,
        seeds: Sequence[int],
        envs: Sequence[int] | None = None,
        *,
        starts_m: Sequence[tuple[float, float] | None] | None = None,
    ) -> Observation:
        """Begin new episodes.

        Args:
            seeds: Of the episodes: they alone decide where things are, how the object moves, and all noise.
            envs: In which environments; in all, if not given.
            starts_m: Where in the region the moving object begins, x and y, base frame; None leaves it to the task.

        Returns:
            The observation of all environments.
        """
        which = range(len(self)) if envs is None else envs
        if len(seeds) != len(which) or len(set(which)) != len(which):
            raise SettingError(
                "one seed for each environment",
                field=f"reset of {self.task.name!r}",
                found=f"{len(seeds)} seeds for environments {list(which)}",
            )
        for i, seed in zip(which, seeds, strict=True):
            if not 0 <= i < len(self):
                raise SettingError("no such environment", found=i, expected=f"0 to {len(self) - 1}")
            whole = isinstance(seed, (int, np.integer))  # pyright: ignore[reportUnnecessaryIsInstance]
            if not whole or not 0 <= seed < 2**63:
                raise SettingError(
                    "not a seed",
                    field=f"seed of environment {i}",
                    found=seed,
                    expected="a whole number, 0 or more, below 2^63",
                )
        substeps = self._stepper.substeps
        starts = [None] * len(seeds) if starts_m is None else starts_m
        if len(starts) != len(seeds):
            raise SettingError(
                "one start for each environment that begins, or None for the task's own",
                field="starts_m",
                found=f"{len(starts)} starts for {len(seeds)} environments",
            )
        fresh = [
            Episode(self.task, self.settings, int(seed), substeps=substeps, start_m=start)
            for seed, start in zip(seeds, starts, strict=True)
        ]
        for i, episode in zip(which, fresh, strict=True):
            self._episodes[i] = episode
            self._stepper.reset(i, episode.qpos, episode.qvel)
        begun = np.isin(np.arange(len(self)), list(which))
        self._keep(_merged(begun, self._read_state(), self._state))
        return self.observation

    def step(self, actions: Float[Array, "N A"]) -> Step:
        """Take one control step in every environment whose episode goes on.

        Raises:
            SettingError: closed; an environment that was never reset; actions of a wrong shape or not finite. Nothing
                is stepped.
        """
        episodes, live = self._begun(), self.live
        spec = self.settings.action_spec
        checked = checked_actions(actions, spec, live)
        resting = np.zeros((len(self), 6))
        if spec.kind == "absolute":
            resting[:, :3] = self._state.eef_position if spec.frame == "world" else self._state.base_eef_position
        commands = controller_commands(checked, spec, live, resting)
        self._stepper.step(commands, self._drive(live), live)
        self._keep(_merged(live, self._read_state(), self._state))
        for i in np.flatnonzero(live):
            episodes[i].steps += 1
        events = self._follow_objects(live, commands[:, 6] > 0)
        self._look(live)
        self._judge(live)
        return Step(self.observation, self.endings, events)

    # --- within

    def _check_motion(self) -> None:
        motion, region = self.settings.motion, self.task.region
        limit = motion.speed_limit_mps(region)
        if motion.speed_mps > limit:
            raise SettingError(
                "too fast for the region",
                field="speed_mps",
                found=f"{motion.speed_mps:g} m/s",
                expected=f"{limit:.3g} m/s at most in {region.size_m[0]:g} x {region.size_m[1]:g} m",
                fix="a lower speed",
            )

    def _begun(self) -> list[Episode]:
        begun = [episode for episode in self._episodes if episode is not None]
        if len(begun) < len(self):
            missing = self._episodes.index(None)
            raise SettingError(f"environment {missing} of {self.task.name!r} was never reset", fix="reset all of them")
        return begun

    def _keep(self, state: TaskState) -> None:
        self._state = state
        self._object_position = self._base_inverse.apply(state.position(self.task.moving))

    def _read_state(self) -> TaskState:
        stepper = self._stepper
        return TaskState(
            scene=self.scene,
            qpos=stepper.qpos.copy(),
            qvel=stepper.qvel.copy(),
            base_eef_position=stepper.eef_position.copy(),
            base_eef_quat_wxyz=stepper.eef_quat_wxyz.copy(),
            contact_names=stepper.contact_names,
            contacts=stepper.contacts[:, -1].copy(),
        )

    def _drive(self, live: Bool[Array, "N"]) -> Drive | None:
        episodes, active = self._begun(), self.driven & live
        if not active.any():
            return None
        position = np.zeros((len(self), self._stepper.substeps, 3))
        velocity, quat_wxyz = np.zeros_like(position), np.zeros((len(self), 4))
        for i in np.flatnonzero(active):
            position[i], velocity[i] = episodes[i].object.path()
            quat_wxyz[i] = episodes[i].object.quat_wxyz
        return Drive(position, velocity, quat_wxyz, active)

    def _follow_objects(self, live: Bool[Array, "N"], closing: Bool[Array, "N"]) -> Events:
        """Let go of what was grasped, drive again what was lost, and say what happened."""
        stepper, episodes = self._stepper, self._begun()
        finger = stepper.touched("finger") & live
        resumed = np.zeros(len(self), dtype=np.bool_)
        drivable = self.task.drivable(self._state)
        for i in np.flatnonzero(live & (stepper.faults == 0)):
            thing = episodes[i].object
            if thing.driven:
                thing.advance(driven=bool(stepper.driven[i]))
                if thing.driven:
                    episodes[i].carried_m = self._state.position(self.task.moving)[i].copy()
                continue
            thing.touch(touched=bool(finger[i]))
            if drivable[i] and thing.is_lost(self.settings.lost_after_steps):
                resumed[i] = thing.resume(
                    Pose(self._object_position[i], self.object_pose.quat_wxyz[i]),
                    obstacle_in(self.task, self.settings, self._state.qpos[i]),
                )
        return Events(
            left_pad=stepper.touched("left_pad") & live,
            right_pad=stepper.touched("right_pad") & live,
            finger=finger,
            table=stepper.touched("table") & live,
            closing=closing & live,
            held=self._state.held & live,
            driven=self.driven & live,
            released_at=np.where(live, stepper.released_at, -1),
            resumed=resumed,
        )

    def _look(self, live: Bool[Array, "N"]) -> None:
        episodes, positions = self._begun(), self._object_position
        for i in np.flatnonzero(live):
            episodes[i].track.advance(episodes[i].steps * self.period_s, positions[i])

    def _judge(self, live: Bool[Array, "N"]) -> None:
        reasons = (
            (Ending.ROBOT_FAULT, self._stepper.faults != 0),
            (Ending.SUCCESS, self.task.success(self._state)),
            (Ending.OBJECT_LOST, ~self.task.workspace.contains(self._object_position)),
            (Ending.TIME, self.steps >= self.horizon),
        )
        episodes = self._begun()
        for i in np.flatnonzero(live):
            episodes[i].ending = next((ending for ending, holds in reasons if holds[i]), None)


def _contacts(task: Task) -> tuple[ContactPair, ...]:
    gripper, geoms = task.scene.arm.gripper, task.scene[task.moving].geoms
    fingers = ContactPair("finger", (*gripper.left_finger, *gripper.right_finger), geoms)
    return (*task.scene.grasp_contacts(task.moving), fingers, *task.contacts)


def _merged(live: Bool[Array, "N"], new: TaskState, old: TaskState) -> TaskState:
    """The new state of those that are live, the old one of the others."""
    rows = live[:, None]
    return TaskState(
        scene=new.scene,
        qpos=np.where(rows, new.qpos, old.qpos),
        qvel=np.where(rows, new.qvel, old.qvel),
        base_eef_position=np.where(rows, new.base_eef_position, old.base_eef_position),
        base_eef_quat_wxyz=np.where(rows, new.base_eef_quat_wxyz, old.base_eef_quat_wxyz),
        contact_names=new.contact_names,
        contacts=np.where(rows, new.contacts, old.contacts),
    )
