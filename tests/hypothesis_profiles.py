"""How many examples property tests draw, and how."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# Loading a profile keeps examples random in CI, where hypothesis would repeat the same ones. Machines are busy at
# times, which is neither a slow strategy nor a slow test. `pytest --hypothesis-profile=thorough` looks for longer, and
# `make test` takes a quick look.
settings.register_profile("kafkawire", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", settings.get_profile("kafkawire"), max_examples=25)
settings.register_profile("thorough", settings.get_profile("kafkawire"), max_examples=2000)
settings.load_profile("kafkawire")


def scaled(examples: int) -> int:
    """A number of examples that is right for a profile with 100, in the profile of this run."""
    return max(1, examples * settings().max_examples // 100)
