"""A score without a native twin, which sees counts and nothing else."""

from dataclasses import dataclass
from typing import ClassVar

from bestdag.scores.bic import BIC


@dataclass(frozen=True)
class PlainBIC:
    """BIC by its formula."""

    name: ClassVar[str] = "plain_bic"
    is_score_equivalent: ClassVar[bool] = True

    def family(self, counts):
        return BIC().family(counts)

    def kernel(self):
        return None
