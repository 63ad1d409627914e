"""Whether a language model is asked, what it is shown, and what is said before anything is sent."""

from __future__ import annotations

import os
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from publius.errors import UsageError
from publius.evaluation.attackers.language import AT_ONCE, TOKENS_A_WORD, LanguageAdversary
from publius.evaluation.data import Dataset
from publius.evaluation.encoding import EncodedDataset
from publius.evaluation.readings import length_with_reference
from publius.evaluation.rows import CLEAN
from publius.releases.writing.chat import PREFIX, ChatModel

if TYPE_CHECKING:
    from publius.evaluation.runner import Evaluation, EvaluationRequest

KEY: Final = "PUBLIUS_LLM_KEY"
"""The environment variable of a server's key: an argument would stand in the list of processes."""


def language_adversary(
    request: EvaluationRequest, dataset: Dataset, data: EncodedDataset
) -> LanguageAdversary | None:
    """The one that ``request`` asks for, once it can do what it is asked; None where it asks for none.

    Raises `PolicyError` for an address on another machine that was not allowed, `UsageError` for what cannot be asked.
    """
    if request.adversary is None:
        return None
    if not request.adversary.startswith(PREFIX):
        raise UsageError(
            f"--adversary names a language model, as {PREFIX}URL#MODEL; the others stand in --adversaries"
        )
    if "author" not in request.tasks or not dataset.known:
        raise UsageError(
            "a language model is asked for authors, and there are no known texts of any: leave it out"
        )
    model = ChatModel.named(
        request.adversary, remote_ok=request.remote_ok, timeout=request.timeout, key=os.environ.get(KEY)
    )
    model.check()
    own: dict[str, list[str]] = defaultdict(list)
    for text in dataset.known:
        own[text.author or ""].append(text.text)
    adversary = LanguageAdversary(model, dict(own) if request.i_own_these_texts else None, request.context)
    adversary.words_each(len(own), _largest(request, data))
    return adversary


def what_is_sent(evaluation: Evaluation) -> str | None:
    """Cost of the language model and the texts that it is sent, for people; None where none is asked."""
    request, data, adversary = evaluation.request, evaluation.setting.data, evaluation.setting.language
    if adversary is None:
        return None
    cells = [cell for cell in request.cells() if adversary.own is not None or cell.mechanism != CLEAN]
    size, authors = _largest(request, data), len({text.author for text in data.known})
    tokens = min(
        adversary.context, round((adversary.words_each(authors, size) * authors + size) * TOKENS_A_WORD) + 300
    )
    questions = len(cells) * len(data.unknown)
    if adversary.own is None:
        leaves = (
            "the protected bags, and known texts put through the same mechanism. The unprotected line is left out; "
            "--i-own-these-texts would send texts as they are"
        )
    else:
        leaves = (
            "the protected bags, the UNPROTECTED words of the attacked texts for the unprotected line, and the first "
            "words of the known texts AS THEY ARE (--i-own-these-texts)"
        )
    return (
        f"{adversary.name} at {adversary.model.url} is asked up to {questions:,} times ({len(cells)} settings and "
        f"repeats, {len(data.unknown):,} texts), {AT_ONCE} at once in each worker: at most about {tokens:,} tokens a "
        f"question, {questions * tokens:,} in all. What is sent: {leaves}. Authors go by numbers, without names."
    )


def _largest(request: EvaluationRequest, data: EncodedDataset) -> int:
    """Words of the largest bag that is asked about."""
    return max(data.size, length_with_reference(request) if "reference" in request.reads else 0)
