"""`f_psi`: how the robot answers to a command, learnt from demonstrations."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
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
_NARROW = 16


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

    def __init__(self, action_spec: ActionSpec, gripper_joints: int, width: int = 8) -> None:
        super().__init__()
        self.action_spec, self.gripper_joints, self.width = action_spec, gripper_joints, width
        self.states, self.commands = state_size(gripper_joints), command_size(action_spec)
        self.predicted = self.states - 6
        """`[p, omega, g]`: what the network predicts; velocity and acceleration follow from it."""
        inputs = self.states + self.commands
        self.slope = nn.Parameter(torch.zeros(self.predicted, inputs - self.predicted - 1))
        """Of velocity, acceleration, position and rotation command."""
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
        linear = torch.addmm(self.offset + self.third.bias[:, None], self.slope, inputs[self.predicted : -1])
        return torch.addmm(linear, self.third.weight, hidden)

    def rollout(self, start: States, commands: Float[Tensor, "H C N"]) -> Float[Tensor, "H S N"]:
        """The states that commands lead to, one after another."""
        states: list[Tensor] = []
        for command in commands:
            start = self(start, command)
            states.append(start)
        return torch.stack(states)

    @torch.no_grad()
    def reached(
        self, start: States, positions: Float[Tensor, "H 3 N"], others: Float[Tensor, "H c N"], steps: Sequence[int]
    ) -> Float[Tensor, "K S N"]:
        """The states after so many `steps` (rising) of a rollout; commands are given in two parts.

        What `rollout` computes, without derivatives and without new memory at each step. Products of a narrow matrix
        and very many columns take the time that moving their rows takes, so rows of ones stand in for adding offsets,
        and the 28 columns of the first layer are multiplied in two parts: up to 16, a faster kernel serves.
        """
        states, outputs, count = self.states, self.predicted, start.shape[1]
        # From above: [p, omega, g], the gripper's command, [p', p''], the other commands, ones.
        order = [*range(outputs), states + self.commands - 1, *range(outputs, states + self.commands - 1)]
        inputs = start.new_ones(len(order) + 1, count)
        inputs[:outputs], inputs[outputs + 1 : states + 1] = start[:outputs], start[outputs:]
        still, gripper, moving = inputs[:outputs], inputs[outputs], inputs[outputs + 1 :]
        position, velocity, acceleration, taken = inputs[:3], moving[:3], moving[3:6], moving[6:-1]
        centre, scale = self.centre[order], 1 / self.range[order]
        squashed, first_hidden = torch.ones_like(inputs), start.new_ones(self.width + 1, count)
        first = torch.cat([self.first.weight[:, order], self.first.bias[:, None]], dim=1)
        left, right = first[:, :_NARROW].contiguous(), first[:, _NARROW:].contiguous()
        second = torch.cat([self.second.weight, self.second.bias[:, None]], dim=1)
        slope = torch.cat([self.slope, self.offset + self.third.bias[:, None]], dim=1)
        second_hidden, change = start.new_empty(self.width, count), start.new_empty(outputs, count)
        kept = start.new_empty(len(steps), states, count)
        for step in range(1, steps[-1] + 1):
            wanted, other = positions[step - 1], others[step - 1]
            gripper.copy_(other[-1])
            if self.absolute:
                errors = self._errors
                torch.sub(wanted, position, out=taken[:3])
                torch.sub(other[: errors - 3], still[3:errors], out=taken[3:errors])
                taken[errors:] = other[errors - 3 : -1]
            else:
                torch.clamp(wanted, -1.0, 1.0, out=taken[:3]).mul_(self.action_spec.position_scale_m)
                torch.clamp(other[:-1], -1.0, 1.0, out=taken[3:])
            torch.sub(inputs[:-1], centre, out=squashed[:-1]).mul_(scale).sigmoid_()
            torch.mm(left, squashed[:_NARROW], out=first_hidden[:-1]).addmm_(right, squashed[_NARROW:])
            functional.silu(first_hidden[:-1], inplace=True)
            functional.silu(torch.mm(second, first_hidden, out=second_hidden), inplace=True)
            torch.mm(slope, moving, out=change).addmm_(self.third.weight, second_hidden)
            torch.sub(change[:3], velocity, out=acceleration)
            velocity.copy_(change[:3])
            still += change
            if step in steps:
                at = kept[steps.index(step)]
                at[:outputs], at[outputs:] = still, moving[:6]
        return kept

    # --- derivatives, by hand: the refinements need them for many chunks at a time

    def linearised(self, states: States, commands: Commands) -> tuple[States, Linearised]:
        """One control step, and what `pulled_back` needs of it."""
        change, slopes = self._differentiated(self.inputs(states, commands))
        free = None if self.absolute else (commands[:3].abs() <= 1).to(commands.dtype)
        return self._next(states, change), Linearised(slopes, free)

    def typical(self) -> Linearised:
        """What `pulled_back` needs of a step from the middle of the demonstrations, with their mean command."""
        _, slopes = self._differentiated(self.centre)
        return Linearised(slopes, None if self.absolute else torch.ones_like(self.centre[:3]))

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
        by_input[self.predicted : -1] += (self.slope.T @ flat).view(-1, *shape)
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

    def _differentiated(self, inputs: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor, Tensor]]:
        """`f_psi`, and the slopes of its three nonlinearities."""
        squashed = self._squashed(inputs)
        before_first = _affine(self.first, squashed)
        before_second = _affine(self.second, functional.silu(before_first))
        last = torch.addmm(self.third.bias[:, None], self.third.weight, functional.silu(before_second))
        change = last + torch.addmm(self.offset, self.slope, inputs[self.predicted : -1])
        slopes = (squashed * (1 - squashed) / self.range, _silu_slope(before_first), _silu_slope(before_second))
        return change, slopes

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
