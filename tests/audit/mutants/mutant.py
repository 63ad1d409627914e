"""What a mutant is: a subject with one broken part, and the check that must see it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

from publius.audit.implementation import GENUINE, Subject
from publius.audit.outcomes import Check
from publius.errors import PubliusError
from publius.noise.randomness import RunKey

Probe = Callable[[Subject, RunKey], Sequence[Check]]


@final
@dataclass(frozen=True)
class Mutant:
    """A broken version.

    Attributes:
        name: what is wrong with it, in words.
        subject: the genuine subject with one part replaced.
        probe: the checks that look at this part.
        caught_by: the name of the one among them that must fail.
        genuine: what it claims to be; the probe must not accuse that.

    """

    name: str
    subject: Subject
    probe: Probe
    caught_by: str
    genuine: Subject = GENUINE

    def caught(self, key: RunKey) -> bool:
        """Whether the named check fails on this version; `PubliusError` when the probe has no such check."""
        found = [check for check in self.probe(self.subject, key) if check.name == self.caught_by]
        if not found:
            raise PubliusError(
                f"the probe of the mutant {self.name!r} has no check called {self.caught_by!r}"
            )
        return not all(check.passed for check in found)
