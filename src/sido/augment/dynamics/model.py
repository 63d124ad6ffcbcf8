"""`f_psi`: how the robot answers to a command, learnt from demonstrations."""

from __future__ import annotations

import hashlib
from typing import NamedTuple, final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from sido.augment.dynamics.motion import ROTATION, command_size, state_size
from sido.demos.action_spec import ActionSpec

__all__ = ["DynamicsModel", "Linearised"]

States = Float[Tensor, "S N"]
Commands = Float[Tensor, "C N"]


class Linearised(NamedTuple):
    """What it takes to differentiate a step: kept on the way forward, used on the way back."""

    slopes: tuple[Tensor, Tensor, Tensor]
    """Of the squashed inputs and of the two hidden layers."""
    free: Tensor | None
    """For relative actions: 1 where a position increment is within its range, 0 where the controller cuts it."""


@final
class DynamicsModel(nn.Module):
    """`s_{t+1} = s_t + f_psi(s_bar_t, a_t)`, with `s_bar = [p, omega, g, p', p'']`.

    `f_psi(x) = A x + b + MLP(squash(x))`: three layers, two of them hidden. Commands come in as the controller takes
    them: absolute goals as errors from where the hand is, increments cut to their range. The linear part (of `p'`,
    `p''` and the command only: a robot answers much the same wherever it is) carries the answer beyond the
    demonstrations, where counterfactuals lead; the network bends it within them. Its inputs are squashed to the range
    that the demonstrations have, since what a network says outside of it is arbitrary.

    Everything is laid out with features first, `[S, N]`: each feature a row of `N` samples, for speed.
    """

    def __init__(self, action_spec: ActionSpec, gripper_joints: int, width: int = 32) -> None:
        super().__init__()
        self.action_spec, self.gripper_joints, self.width = action_spec, gripper_joints, width
        self.states, self.commands = state_size(gripper_joints), command_size(action_spec)
        self.predicted = self.states - 6
        """`[p, omega, g]`: what the network predicts; velocity and acceleration follow from it."""
        inputs = self.states + self.commands
        self.slope = nn.Parameter(torch.zeros(self.predicted, inputs))
        self.offset = nn.Parameter(torch.zeros(self.predicted, 1))
        self.first, self.second = nn.Linear(inputs, width), nn.Linear(width, width)
        self.third = nn.Linear(width, self.predicted)
        self.register_buffer("centre", torch.zeros(inputs, 1))
        self.register_buffer("range", torch.ones(inputs, 1))
        self.centre: Tensor
        self.range: Tensor

    @property
    def absolute(self) -> bool:
        return self.action_spec.kind == "absolute"

    @property
    def digest(self) -> str:
        """Another one means other predictions."""
        digest = hashlib.sha256(self.action_spec.to_json().encode())
        for name, weight in self.state_dict().items():
            digest.update(f"{name}{tuple(weight.shape)}{weight.dtype}".encode())
            digest.update(weight.detach().cpu().contiguous().numpy().tobytes())
        return digest.hexdigest()

    def inputs(self, states: States, commands: Commands) -> Float[Tensor, "I N"]:
        """What the network is given: states, and commands as the controller takes them."""
        return torch.cat([states, self._taken(states, commands)])

    def forward(self, states: States, commands: Commands) -> States:
        """One control step."""
        return self._next(states, self.change(self.inputs(states, commands)))

    def change(self, inputs: Float[Tensor, "I N"]) -> Float[Tensor, "D N"]:
        """`f_psi`."""
        hidden = functional.silu(_affine(self.first, self._squashed(inputs)))
        hidden = functional.silu(_affine(self.second, hidden))
        linear = torch.addmm(self.offset, self.slope, inputs)
        return torch.addmm(linear + self.third.bias[:, None], self.third.weight, hidden)

    def rollout(self, start: States, commands: Float[Tensor, "H C N"]) -> Float[Tensor, "H S N"]:
        """The states that commands lead to, one after another."""
        states: list[Tensor] = []
        for command in commands:
            start = self(start, command)
            states.append(start)
        return torch.stack(states)

    # --- derivatives, by hand: the refinements need them for many chunks at a time

    def linearised(self, states: States, commands: Commands) -> tuple[States, Linearised]:
        """One control step, and what `pulled_back` needs of it."""
        inputs = self.inputs(states, commands)
        squashed = self._squashed(inputs)
        before_first = _affine(self.first, squashed)
        before_second = _affine(self.second, functional.silu(before_first))
        last = torch.addmm(self.third.bias[:, None], self.third.weight, functional.silu(before_second))
        change = last + torch.addmm(self.offset, self.slope, inputs)
        slopes = (squashed * (1 - squashed) / self.range, _silu_slope(before_first), _silu_slope(before_second))
        free = None if self.absolute else (commands[:3].abs() <= 1).to(commands.dtype)
        return self._next(states, change), Linearised(slopes, free)

    def pulled_back(
        self, gradient: Float[Tensor, "S R N"], at: Linearised
    ) -> tuple[Float[Tensor, "S R N"], Float[Tensor, "3 R N"]]:
        """The gradients of `R` functions of the next state, given by it: by this state, and by the position command."""
        outputs, (of_input, of_first, of_second) = self.predicted, at.slopes
        of_change = gradient[:outputs].clone()
        of_change[:3] += gradient[outputs : outputs + 3] + gradient[outputs + 3 :]
        shape = of_change.shape[1:]
        flat = of_change.reshape(outputs, -1)
        hidden = (self.third.weight.T @ flat).view(-1, *shape) * of_second[:, None]
        hidden = (self.second.weight.T @ hidden.view(len(hidden), -1)).view(-1, *shape) * of_first[:, None]
        by_input = (self.first.weight.T @ hidden.view(len(hidden), -1)).view(-1, *shape) * of_input[:, None]
        by_input += (self.slope.T @ flat).view(-1, *shape)
        by_state, by_taken = by_input[: self.states].clone(), by_input[self.states :]
        by_state[:outputs] += gradient[:outputs]
        by_state[outputs : outputs + 3] -= gradient[outputs + 3 :]
        by_position = by_taken[:3]
        if self.absolute:
            by_state[: self._errors] -= by_taken[: self._errors]
            return by_state, by_position
        assert at.free is not None
        return by_state, by_position * at.free[:, None] * self.action_spec.position_scale_m

    # --- within

    @property
    def _errors(self) -> int:
        """How many numbers of an absolute command are goals, to be reached from where the hand is."""
        return 3 if self.action_spec.rotation == "none" else 3 + ROTATION

    def _taken(self, states: Tensor, commands: Tensor) -> Tensor:
        if self.absolute:
            errors = self._errors
            return torch.cat([commands[:errors] - states[:errors], commands[errors:]])
        cut = commands[:-1].clamp(-1.0, 1.0)
        return torch.cat([cut[:3] * self.action_spec.position_scale_m, cut[3:], commands[-1:]])

    def _squashed(self, inputs: Tensor) -> Tensor:
        return torch.sigmoid((inputs - self.centre) / self.range)

    def _next(self, states: Tensor, change: Tensor) -> Tensor:
        outputs, velocity = self.predicted, change[:3]
        return torch.cat([states[:outputs] + change, velocity, velocity - states[outputs : outputs + 3]])


def _affine(layer: nn.Linear, x: Tensor) -> Tensor:
    return torch.addmm(layer.bias[:, None], layer.weight, x)


def _silu_slope(x: Tensor) -> Tensor:
    gate = torch.sigmoid(x)
    return gate * (1 + x * (1 - gate))
