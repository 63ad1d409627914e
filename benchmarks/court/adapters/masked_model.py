"""DP-MLM: its word step and its rewriting, on the logits of a language model of ours over a few words.

No weights are to be had where this runs, so modules of a few lines stand for torch and transformers. What is tried is
the tool's own code: what it replaces, how it clips, scales and draws.
"""

import hashlib
import sys
import types
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import language_data
from serve import main

MASK = "<mask>"


class Tokenizer:
    """A word is a token."""

    mask_token, mask_token_id, model_max_length = MASK, 0, 512

    def __init__(self, words):
        self.tokens = [MASK, "<other>", *words]

    @classmethod
    def from_pretrained(cls, words):
        return cls(words)

    def encode(self, text, second=None, add_special_tokens=True, **_):
        words = f"{text} {second or ''}".split()
        return [self.tokens.index(word) if word in self.tokens else 1 for word in words]

    def decode(self, ids, **_):
        return " ".join(self.tokens[each] for each in np.atleast_1d(ids))


class Tensor:
    def __init__(self, values):
        self.values = np.asarray(values)

    def __getitem__(self, place):
        return Tensor(self.values[place])

    def reshape(self, *shape):
        return Tensor(self.values.reshape(shape))

    def to(self, device):
        return self

    squeeze = cpu = lambda self: self

    def numpy(self):
        return self.values


class Model:
    """Logits from a digest of all tokens: any context may change every one of them, far beyond the clip."""

    def __init__(self, words):
        self.size = len(words) + 2

    @classmethod
    def from_pretrained(cls, words):
        return cls(words)

    def to(self, device):
        return self

    def eval(self):
        return self

    def __call__(self, ids):
        seed = int.from_bytes(hashlib.sha256(ids.values.tobytes()).digest()[:8], "little")
        logits = np.random.default_rng(seed).uniform(-20, 40, (1, ids.values.shape[1], self.size))
        return types.SimpleNamespace(logits=Tensor(logits))


class _NoGrad:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


def _stand_ins():
    torch = types.ModuleType("torch")
    torch.backends = types.SimpleNamespace(cuda=types.SimpleNamespace(matmul=types.SimpleNamespace()))
    torch.cuda = types.SimpleNamespace(is_available=lambda: False)
    torch.device, torch.tensor, torch.no_grad = str, Tensor, _NoGrad
    torch.set_grad_enabled = lambda on: None
    transformers = types.ModuleType("transformers")
    transformers.AutoTokenizer, transformers.AutoModelForMaskedLM = Tokenizer, Model
    transformers.logging = types.SimpleNamespace(set_verbosity_warning=lambda: None)
    transformers.pipeline = None
    presidio = types.ModuleType("presidio_analyzer")
    presidio.AnalyzerEngine = None
    sys.modules.update({"torch": torch, "transformers": transformers, "presidio_analyzer": presidio})


def tool(world):
    language_data.provide()
    _stand_ins()
    from dpmlm.core import DPMLM

    return DPMLM(MODEL=world.words)


def word_step(world, epsilon):
    mechanism = tool(world)
    return lambda words: next(iter(mechanism.privatize(words, words[1], 1, epsilon=epsilon).values()))


def rewriting(world, epsilon):
    mechanism = tool(world)
    return lambda words: mechanism.dpmlm_rewrite(" ".join(words), epsilon)[0]


main({"word-step": word_step, "rewriting": rewriting})
