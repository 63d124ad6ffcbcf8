"""The faster Mish is Mish."""

from __future__ import annotations

import torch

from sido.policies.mish import Mish

torch.set_num_threads(1)


def test_it_is_torchs_with_its_gradient():
    near = torch.linspace(-30, 30, 4001)
    x = torch.cat([near, torch.tensor([-1e4, -100.0, 19.99, 20.0, 20.01, 100.0, 1e4])]).requires_grad_()
    other = x.detach().double().requires_grad_()
    said, expected = Mish()(x), torch.nn.functional.mish(other)
    torch.testing.assert_close(said.double(), expected, atol=1e-6, rtol=1e-6)
    weights = torch.randn(len(x))
    (said * weights).sum().backward()
    (expected * weights.double()).sum().backward()
    assert x.grad is not None
    assert other.grad is not None
    torch.testing.assert_close(x.grad.double(), other.grad, atol=2e-6, rtol=2e-6)


def test_other_types_are_torchs_own():
    x = torch.randn(50, dtype=torch.bfloat16)
    assert torch.equal(Mish()(x), torch.nn.functional.mish(x))


def test_it_does_not_write_into_what_it_is_given():
    x = torch.randn(50, requires_grad=True)
    before = x.detach().clone()
    Mish()(x).sum().backward()
    assert torch.equal(x.detach(), before)
