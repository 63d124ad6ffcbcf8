"""Diffusion and flow matching: against `diffusers`, against closed forms, and with a network that knows the answer."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from diffusers.schedulers import DDIMScheduler, DDPMScheduler

from sido.policies import Diffusion, DiffusionConfig, FlowMatching, FlowMatchingConfig, Process
from sido.policies.diffusion import _kept

torch.set_num_threads(1)


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def wave(chunk: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
    """No network, but as bent as one."""
    return torch.sin(chunk + 0.1 * time[:, None, None]) + 0.2 * chunk.flip(1)


SCHEDULES = [("ddpm", 100, 100), ("ddpm", 100, 10), ("ddim", 100, 16), ("ddim", 100, 100), ("ddim", 50, 7)]


@pytest.mark.parametrize(("sampler", "train_steps", "sampling_steps"), SCHEDULES)
def test_sampling_is_that_of_diffusers(sampler, train_steps: int, sampling_steps: int):
    settings = {"beta_schedule": "squaredcos_cap_v2", "clip_sample": True, "prediction_type": "epsilon"}
    if sampler == "ddpm":
        scheduler = DDPMScheduler(train_steps, variance_type="fixed_small", **settings)
    else:
        scheduler = DDIMScheduler(train_steps, steps_offset=0, set_alpha_to_one=True, **settings)
    scheduler.set_timesteps(sampling_steps)
    noise = torch.randn(3, 16, 10, generator=seeded())
    theirs, rng = noise, seeded(1)
    for step in scheduler.timesteps:
        answer = wave(theirs, step.expand(3).float())
        theirs = scheduler.step(answer, step, theirs, generator=rng).prev_sample
    ours = Diffusion(DiffusionConfig(sampler, train_steps, sampling_steps)).sample(wave, noise, seeded(1))
    torch.testing.assert_close(ours, theirs, rtol=0, atol=2e-4)


def test_noising_is_that_of_diffusers():
    scheduler = DDPMScheduler(100, beta_schedule="squaredcos_cap_v2")
    torch.testing.assert_close(_kept(100).float(), scheduler.alphas_cumprod, rtol=1e-5, atol=1e-8)


PROCESSES: dict[str, Process] = {
    "flow matching": FlowMatching(FlowMatchingConfig(6)),
    "one step": FlowMatching(FlowMatchingConfig(1)),
    "ddpm": Diffusion(DiffusionConfig()),
    "ddpm in 20": Diffusion(DiffusionConfig("ddpm", 100, 20)),
    "ddim": Diffusion(DiffusionConfig("ddim", 100, 10)),
}

CLEAN = torch.linspace(-0.9, 0.9, 16 * 10).view(1, 16, 10)


def knows(clean: torch.Tensor, process: Process) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    """The perfect denoiser of data that are always `clean`."""

    def itself(noisy: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        return clean.expand_as(noisy)

    def noise(noisy: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        kept = _kept(100).float()[time.long()][:, None, None]
        return (noisy - kept.sqrt() * clean) / (1 - kept).sqrt()

    return itself if isinstance(process, FlowMatching) else noise


@pytest.mark.parametrize("name", PROCESSES)
def test_who_knows_the_answer_has_no_loss_and_says_it(name: str):
    process = PROCESSES[name]
    denoise = knows(CLEAN, process)
    assert process.loss(denoise, CLEAN.expand(64, 16, 10), seeded()) < 1e-6
    assert process.loss(lambda noisy, time: 0 * noisy, CLEAN.expand(64, 16, 10), seeded()) > 0.2
    said = process.sample(denoise, torch.randn(5, 16, 10, generator=seeded()), seeded(1))
    torch.testing.assert_close(said, CLEAN.expand(5, 16, 10), rtol=0, atol=1e-3)


@pytest.mark.parametrize("name", PROCESSES)
def test_training_and_sampling_look_at_the_same_times(name: str):
    process = PROCESSES[name]
    seen: list[torch.Tensor] = []

    def note(noisy: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        assert time.shape == (len(noisy),)
        seen.append(time)
        return 0 * noisy

    process.loss(note, CLEAN.expand(4000, 16, 10), seeded())
    drawn = seen.pop()
    assert 0 <= drawn.min() < 1
    assert 98 < drawn.max() < 100
    assert drawn.mean() == pytest.approx(49.75, abs=2)
    process.sample(note, CLEAN, seeded())
    assert all(0 <= time < 100 for time in seen)
    assert (seen[0] > seen[-1]) == isinstance(process, Diffusion) or len(seen) == 1


def test_flow_matching_goes_to_each_of_two_answers_as_often_as_there_are():
    """Data at +1 and, a third as often, at -1: the perfect guess is their mean, weighed by how near the noise is."""
    share = 0.75

    def guess(noisy: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        done = time[:, None, None] / 100
        log_odds = math.log(share / (1 - share)) + 2 * noisy * done / (1 - done) ** 2
        return torch.tanh(log_odds / 2)

    said = FlowMatching(FlowMatchingConfig(100)).sample(guess, torch.randn(4000, 1, 1, generator=seeded()), seeded())
    assert (said.abs() - 1).abs().quantile(0.98) < 0.02
    assert (said > 0).double().mean() == pytest.approx(share, abs=0.03)


@pytest.mark.parametrize("name", ["flow matching", "ddpm"])
def test_one_generator_for_each_sample_makes_batches_irrelevant(name: str):
    process = PROCESSES[name]
    noise = torch.randn(3, 16, 10, generator=seeded())
    together = process.sample(wave, noise, [seeded(seed) for seed in range(3)])
    alone = process.sample(wave, noise[1:2], [seeded(1)])
    torch.testing.assert_close(together[1:2], alone, rtol=0, atol=1e-5)


def test_diffusion_never_says_what_is_beyond_the_range():
    noise = torch.randn(4, 16, 10, generator=seeded())
    said = PROCESSES["ddpm"].sample(lambda noisy, time: 5 * noisy, noise, seeded())
    assert said.abs().max() <= 1
