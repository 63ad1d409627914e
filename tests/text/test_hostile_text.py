"""Hostile text takes a time linear in its length: of what is long enough, a square would take hours.

Quick tests beside these count what is worked on. Here the work itself is done, in a process that may take a minute of
a processor, where seconds are enough; how busy the machine is changes nothing.
"""

import os
import resource
from collections import deque

import pytest

from hostile_text import HOSTILE, unspaced
from publius.text.bag import Encoding, tokens_of
from publius.text.tokenizer import StopWords, tokenize

pytestmark = pytest.mark.long
CHARACTERS = 2_000_000


def ends(call, seconds=60):
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        deque(call(), maxlen=0)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("kind", HOSTILE)
def test_words_of_hostile_text(kind):
    text = HOSTILE[kind] * (CHARACTERS // len(HOSTILE[kind]))
    assert ends(lambda: tokenize("x" + text))
    asked = Encoding(None, "unk", StopWords.load("english"), "glove")
    assert ends(lambda: tokens_of(text, frozenset("ab"), asked))


@pytest.mark.parametrize("run", range(len(unspaced())))
def test_words_of_hostile_text_without_spaces(run):
    pytest.importorskip("icu4py", reason="the extra segmentation is not installed")
    assert ends(lambda: tokenize(unspaced()[run] * 60, "icu"))


def test_work_without_an_end_is_seen():
    assert not ends(lambda: iter(int, 1), seconds=1)
