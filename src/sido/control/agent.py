"""The agent: a policy and a predictor, at the controls of any number of robots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np
import torch
from jaxtyping import Bool, Float, Int

from sido.arrays import Array
from sido.control.chunks import Chunks
from sido.control.grasp_gate import GraspPhases
from sido.control.insight import Insight
from sido.control.observation import Observation
from sido.control.pose_history import PoseHistory
from sido.control.settings import AgentSettings
from sido.control.window import Window
from sido.errors import DataError, SettingError
from sido.policies import Actor, ObservationWindow
from sido.predict import History, Predictor

__all__ = ["Agent"]

_SPARE_POSES = 4
"""Kept beside those that a predictor looks at, since some may not be believed."""
_NOISE_STREAM = 1


@final
class Agent:
    """Turns observations into actions, for `sessions` independent robots: one in life, many in simulation.

        agent = Agent(policy, FiniteDifference())
        agent.reset([seed])
        while True:
            action = agent.act(observation)[0]

    A session follows from its seed and its observations alone, whatever the others do; with
    `AgentSettings.rows_per_call`, to the last bit. docs/deployment.md draws what happens when.

    Args:
        actor: The policy.
        predictor: Where the object will be; `Hold` for a policy that is told where it is; None for one that is told
            nothing, which then needs no pose estimator.
        settings: How it acts.
        sessions: How many.
        device: Where the policy computes.

    Raises:
        SettingError: settings that do not fit the policy.
    """

    def __init__(
        self,
        actor: Actor,
        predictor: Predictor | None,
        settings: AgentSettings | None = None,
        *,
        sessions: int = 1,
        device: torch.device | str = "cpu",
    ) -> None:
        self.actor, self.predictor, self.settings = actor, predictor, settings or AgentSettings()
        _require_fit(actor, self.settings, sessions)
        self._device = device
        correction, spec = self.settings.correction, actor.action_spec
        looked_at = max(part.observations if part else 1 for part in (predictor, correction))
        self._poses = PoseHistory(sessions, looked_at + _SPARE_POSES, self.settings.belief)
        self._phases = GraspPhases(sessions, self.settings.gate)
        self._window = Window(sessions, actor.observation_steps, actor.cameras)
        self._chunks = Chunks(sessions, actor.prediction_horizon, spec.dim)
        self._noise: list[torch.Generator | None] = [None] * sessions
        self._idle = torch.Generator()
        self._channel, self._channel_time_s = np.full((sessions, 3), np.nan), np.full(sessions, np.nan)
        self._planned_at, self._shift_m = np.full((sessions, 3), np.nan), np.zeros((sessions, 3))
        self._insight: Insight | None = None

    def __len__(self) -> int:
        return len(self._noise)

    @property
    def wants_images(self) -> Bool[Array, "N"]:
        """Which sessions look at pictures in the next `act`: those that plan then, or need this moment to plan soon."""
        return self._looks if self.actor.cameras else np.zeros(len(self), dtype=np.bool_)

    @property
    def insight(self) -> Insight:
        """What it had in mind in the last `act`."""
        if self._insight is None:
            raise SettingError("the agent has not acted yet")
        return self._insight

    def reset(self, seeds: Sequence[int], sessions: Sequence[int] | None = None) -> None:
        """Begin new episodes; nothing of the old ones stays.

        Args:
            seeds: They decide the policy's noise.
            sessions: Which; all, if not given.
        """
        which = range(len(self)) if sessions is None else sessions
        if len(seeds) != len(which) or not set(which) <= set(range(len(self))):
            raise SettingError(
                "one seed for each session",
                field="Agent.reset",
                found=f"{len(seeds)} seeds for sessions {list(which)} of {len(self)}",
            )
        for i, seed in zip(which, seeds, strict=True):
            if seed < 0:
                raise SettingError("not a seed", field=f"seed of session {i}", found=seed, expected="0 or more")
            entropy = np.random.SeedSequence([int(seed), _NOISE_STREAM]).generate_state(1, np.uint64)
            self._noise[i] = torch.Generator().manual_seed(int(entropy[0]))
        for part in (self._poses, self._phases, self._window, self._chunks):
            part.forget(which)
        self._shift_m[list(which)] = 0.0

    def act(self, observation: Observation, live: Bool[Array, "N"] | None = None) -> Float[Array, "N A"]:
        """The next action of each session, in the policy's own spec.

        Args:
            observation: Of this step.
            live: Which sessions go on; the others keep their state, and their actions are 0. All, if not given.

        Raises:
            SidoError: an observation that cannot be used; an object that was never seen; an action that is not finite.
        """
        live = np.ones(len(self), dtype=np.bool_) if live is None else live
        self._require_begun(live)
        looks = self._looks & live
        observation.require(len(self), self.actor.cameras, looks)
        self._poses.add(observation.object_position, observation.object_time_s, observation.time_s)
        history = self._poses.at(observation.time_s)
        self._require_seen(history, live)
        height_m = np.where(history.count > 0, history.latest[:, 2], np.nan)
        self._phases.look(live, observation.time_s, observation.gripper, height_m)
        if looks.any():
            channel, channel_time_s = self._told(history, observation)
            self._window.push(np.flatnonzero(looks), observation, channel)
            plans = (self._chunks.remaining == 0) & live
            if plans.any():
                self._plan(np.flatnonzero(plans), history, channel, channel_time_s)
        chunk_step = self._chunks.executed
        actions = self._chunks.step(live)
        actions[:, :3] += self._shift(history, live)
        actions = self.settings.safety.checked(actions, live)
        self._insight = Insight(
            planned=(chunk_step == 0) & live,
            chunk_step=chunk_step,
            phase=self._phases.phases.copy(),
            channel=self._channel.copy(),
            channel_time_s=self._channel_time_s.copy(),
            shift_m=self._shift_m.copy(),
        )
        self._phases.command(live, observation.time_s, self.actor.action_spec.closes(actions))
        return actions

    # --- within

    @property
    def _looks(self) -> Bool[Array, "N"]:
        return self._chunks.remaining < self.actor.observation_steps

    def _told(self, history: History, observation: Observation) -> tuple[Float[Array, "N 3"], Float[Array, "N"]]:
        """The channel, and the time that it speaks of."""
        if self.predictor is None:
            return np.full((len(self), 3), np.nan), np.full(len(self), np.nan)
        chunk_s = self.actor.prediction_horizon / self.actor.action_spec.rate_hz
        horizon_s = self.settings.horizon(history.latest - observation.eef_position, chunk_s) + self.settings.latency_s
        forecast = self.predictor(history, horizon_s)
        reaching = self._phases.reaching
        return (
            np.where(reaching[:, None], forecast.positions, history.latest),
            observation.time_s + np.where(reaching, horizon_s, -history.age_s),
        )

    def _plan(
        self, rows: Int[Array, "K"], history: History, channel: Float[Array, "N 3"], channel_time_s: Float[Array, "N"]
    ) -> None:
        settings = self.settings
        reaching = settings.reaching_action_horizon or settings.action_horizon
        wanted = np.where(self._phases.reaching[rows], reaching, settings.action_horizon)
        self._chunks.plan(rows, self._ask(rows), wanted)
        self._channel[rows], self._channel_time_s[rows] = channel[rows], channel_time_s[rows]
        self._planned_at[rows], self._shift_m[rows] = history.latest[rows], 0.0

    def _ask(self, rows: Int[Array, "K"]) -> Float[Array, "K H A"]:
        """The policy's chunks for those sessions."""
        seen = self._window.of(rows)
        noise = [generator for i in rows if (generator := self._noise[i]) is not None]
        size = self.settings.rows_per_call or len(rows)
        chunks = [self._called(seen, noise, begin, size) for begin in range(0, len(rows), size)]
        return np.concatenate(chunks)

    def _called(self, seen: ObservationWindow, noise: list[torch.Generator], begin: int, size: int) -> Array:
        taken = min(size, len(noise) - begin)
        rows = torch.arange(begin, begin + taken)
        rows = torch.cat([rows, rows[-1:].expand(size - taken)])
        observations = {name: values[rows] for name, values in seen.observations.items()}
        window = ObservationWindow(observations, seen.object_position[rows]).to(self._device)
        made_up = [self._idle] * (size - taken)
        chunks = self.actor.predict(window, [*noise[begin : begin + taken], *made_up])
        expected = (size, self.actor.prediction_horizon, self.actor.action_spec.dim)
        if tuple(chunks.shape) != expected:
            raise DataError("the policy's chunks have a wrong shape", found=list(chunks.shape), expected=list(expected))
        return chunks[:taken].detach().cpu().numpy().astype(np.float64)

    def _shift(self, history: History, live: Bool[Array, "N"]) -> Float[Array, "N 3"]:
        """By how much this step's commands are moved after the object."""
        if self.settings.correction is not None:
            follows = (live & ~self._phases.holding)[:, None]
            shift_m = self.settings.correction.shift_m(history, self._planned_at)
            self._shift_m = np.where(follows, shift_m, self._shift_m)
        return np.where(live[:, None], self._shift_m, 0.0)

    def _require_begun(self, live: Bool[Array, "N"]) -> None:
        if live.shape != (len(self),):
            raise DataError("wrong shape", field="live", found=list(live.shape), expected=[len(self)])
        missing = [i for i in np.flatnonzero(live) if self._noise[i] is None]
        if missing:
            raise SettingError(f"session {missing[0]} was never reset", fix="reset it before it acts")

    def _require_seen(self, history: History, live: Bool[Array, "N"]) -> None:
        needed = self.predictor is not None or self.settings.correction is not None
        unseen = live & (history.count == 0) & needed
        if unseen.any():
            raise DataError(
                f"the object of session {int(np.argmax(unseen))} has not been seen yet",
                field="Observation.object_position",
                fix="wait for the pose estimator's first answer before the agent acts",
            )


def _require_fit(actor: Actor, settings: AgentSettings, sessions: int) -> None:
    spec, longest = actor.action_spec, actor.prediction_horizon
    if sessions < 1:
        raise SettingError("too few", field="sessions", found=sessions, expected="1 or more")
    for name in ("action_horizon", "reaching_action_horizon"):
        value = getattr(settings, name)
        if value is not None and value > longest:
            raise SettingError(
                "longer than a chunk", field=f"AgentSettings.{name}", found=value, expected=f"at most T_p = {longest}"
            )
    settings.safety.require(spec)
    if settings.correction is not None and (spec.kind, spec.frame) != ("absolute", "base"):
        raise SettingError(
            "commands can be shifted after an object only where they are goals in the base frame",
            field="AgentSettings.correction",
            found=f"{spec.kind} actions, {spec.frame} frame",
            fix="train on absolute actions, or leave the correction out",
        )
