"""What every policy must satisfy, as one function; `test_policy.py` runs it on each."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import torch

from sido.demos.chunks import ChunkBatch
from sido.errors import SidoError
from sido.policies import Actor, ObservationConfig, ObservationWindow, Policy

Change = Callable[[torch.Tensor], torch.Tensor]


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def check_policy(policy: Policy, batch: ChunkBatch, *, atol: float = 1e-5) -> None:
    """Any policy: repeatable, each sample for itself, deaf to all randomness but what it is given, watchful at its
    door; and its loss has gradients and counts every draw.

    The batch must be of what the policy sees, 6 samples or more.
    """
    check_actor(policy, batch, policy.config.observation, atol=atol)
    assert policy.cameras == tuple(camera.name for camera in policy.config.observation.cameras)
    check_mode(policy, batch)
    check_loss(policy, batch)
    check_attention(policy, batch)
    check_state(policy)


def check_actor(actor: Actor, batch: ChunkBatch, observation: ObservationConfig, *, atol: float = 1e-5) -> None:
    """What deployment relies on, of another library's policy, too. `observation` says what it sees."""
    assert isinstance(actor, Actor)
    assert actor.observation_steps == observation.observation_steps
    seen = ObservationWindow.of(batch)
    before = copied(seen)
    world = torch.random.get_rng_state()
    chunk = actor.predict(seen, seeded(1))
    assert torch.equal(torch.random.get_rng_state(), world), "all randomness comes from the generator"
    assert same(before, seen), "what is given is not written to"
    assert chunk.shape == (len(seen), actor.prediction_horizon, actor.action_spec.dim), "[B, H, A]"
    assert chunk.isfinite().all(), "numbers"
    assert not chunk.requires_grad, "without gradients"
    assert torch.equal(chunk, actor.predict(seen, seeded(1))), "the same seed says the same"
    each = actor.predict(seen, [seeded(seed) for seed in range(len(seen))])
    for rows in ([2], [4, 2]):
        alone = actor.predict(rows_of(seen, rows), [seeded(seed) for seed in rows])
        torch.testing.assert_close(
            alone, each[rows], rtol=0, atol=atol, msg=lambda text: f"each sample is for itself\n{text}"
        )
    check_door(actor, seen, observation)


def check_door(actor: Actor, seen: ObservationWindow, observation: ObservationConfig) -> None:
    """What it was not trained to see is refused, in words."""
    for name in ("eef_position", *(f"landmark.{name}" for name in observation.landmarks)):
        refuses(actor, changed(seen, name, lambda x: torch.full_like(x, torch.nan)), f"NaN in {name}")
        refuses(actor, without(seen, name), f"no {name}")
    for name in actor.cameras:
        refuses(actor, without(seen, f"image.{name}"), f"no camera {name}")
        refuses(actor, changed(seen, f"image.{name}", lambda x: x[:, :, 1:]), f"{name} of another size")
        refuses(actor, changed(seen, f"image.{name}", torch.Tensor.float), f"{name} as floats")
    longer = {name: torch.cat([x[:, :1], x], dim=1) for name, x in seen.observations.items()}
    more = ObservationWindow(longer, torch.cat([seen.object_position[:, :1], seen.object_position], dim=1))
    refuses(actor, more, "one observation step more")
    if observation.pose_channel != "none":
        lost = dataclasses.replace(seen, object_position=torch.full_like(seen.object_position, torch.nan))
        refuses(actor, lost, "an object that was never seen")


def refuses(actor: Actor, seen: ObservationWindow, what: str) -> None:
    said = ""
    try:
        actor.predict(seen, seeded(1))
    except SidoError as error:
        said = str(error)
    assert said, f"the door is open: {what}"
    assert "\n" not in said, what


def check_mode(policy: Policy, batch: ChunkBatch) -> None:
    seen = ObservationWindow.of(batch)
    said = {}
    for training in (True, False):
        policy.train(training)
        said[training] = policy.predict(seen, seeded(1))
        assert policy.training is training, "predicting does not change the mode"
    assert torch.equal(said[True], said[False]), "it says the same in either mode"


def check_loss(policy: Policy, batch: ChunkBatch) -> None:
    policy.train()
    before = {name: tensor.clone() for name, tensor in policy.state_dict().items()}
    copy, world = copied(ObservationWindow.of(batch)), torch.random.get_rng_state()
    loss = policy.loss([batch], seeded(2))
    assert torch.equal(torch.random.get_rng_state(), world), "all randomness comes from the generator"
    assert same(copy, ObservationWindow.of(batch)), "what is given is not written to"
    assert loss.shape == ()
    assert loss.isfinite()
    assert torch.equal(loss, policy.loss([batch], seeded(2))), "the same seed says the same"
    assert not torch.equal(loss, policy.loss([batch], seeded(3))), "training is noisy"
    loss.backward()
    learning = [weight for weight in policy.parameters() if weight.requires_grad]
    assert any(weight.grad is not None and weight.grad.any() for weight in learning), "the loss has gradients"
    policy.zero_grad(set_to_none=True)
    moved = dataclasses.replace(
        batch, actions=batch.actions + torch.tensor([0.05, *[0.0] * (batch.actions.shape[2] - 1)])
    )
    two = policy.loss([batch, batch], seeded(2))
    assert not torch.equal(policy.loss([batch, moved], seeded(2)), two), "every draw counts"
    assert not torch.equal(policy.loss([moved, batch], seeded(2)), two), "every draw counts"
    after = policy.state_dict()
    assert all(torch.equal(tensor, after[name]) for name, tensor in before.items()), "a loss changes no weight"


def check_attention(policy: Policy, batch: ChunkBatch) -> None:
    """The pose channel is heard where there is one, and only there; so is each camera."""
    seen = ObservationWindow.of(batch)
    said = policy.predict(seen, seeded(1))
    moved = dataclasses.replace(seen, object_position=seen.object_position + 0.1)
    heard = not torch.equal(policy.predict(moved, seeded(1)), said)
    assert heard == (policy.config.observation.pose_channel != "none"), "the pose channel is heard if there is one"
    for name in (*(f"image.{name}" for name in policy.cameras), "eef_position", "gripper"):
        other = changed(seen, name, lambda x: 255 - x if x.dtype == torch.uint8 else x + 0.01)
        assert not torch.equal(policy.predict(other, seeded(1)), said), f"{name} is heard"


def check_state(policy: Policy) -> None:
    """The state dict is all there is: numbers, the normaliser's among them."""
    state = policy.state_dict()
    assert all(tensor.isfinite().all() for tensor in state.values() if tensor.is_floating_point())
    assert any(name.startswith("normaliser.") for name in state), "the normaliser is in the state dict"


def rows_of(seen: ObservationWindow, rows: Sequence[int]) -> ObservationWindow:
    picked = {name: tensor[list(rows)] for name, tensor in seen.observations.items()}
    return ObservationWindow(picked, seen.object_position[list(rows)])


def changed(seen: ObservationWindow, name: str, change: Change) -> ObservationWindow:
    return ObservationWindow({**seen.observations, name: change(seen.observations[name])}, seen.object_position)


def without(seen: ObservationWindow, name: str) -> ObservationWindow:
    kept = {other: tensor for other, tensor in seen.observations.items() if other != name}
    return ObservationWindow(kept, seen.object_position)


def copied(seen: ObservationWindow) -> ObservationWindow:
    return ObservationWindow({name: x.clone() for name, x in seen.observations.items()}, seen.object_position.clone())


def same(one: ObservationWindow, other: ObservationWindow) -> bool:
    pairs: list[tuple[Any, Any]] = [(one.object_position, other.object_position)]
    pairs += [(x, other.observations[name]) for name, x in one.observations.items()]
    return all(torch.equal(x, y) for x, y in pairs)
