"""Real ChaCha20 keyed by the operating system, sealed, safe under fork, spawn and threads."""

import copy
import multiprocessing
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

from publius.errors import EntropyError, PolicyError, UsageError
from publius.noise import randomness as rng_module
from publius.noise.randomness import RunKey, entropy, seeded_rng, system_rng


def test_is_chacha20_bit_for_bit(monkeypatch):
    """Against an independent ChaCha20: 64-bit words of the keystream with counter and nonce zero."""
    key = bytes(range(32))
    monkeypatch.setattr(os, "urandom", lambda count: key)
    words = system_rng().integers(0, 2**64, 512, np.uint64, endpoint=False)
    stream = Cipher(algorithms.ChaCha20(key, bytes(16)), mode=None).encryptor().update(bytes(512 * 8))
    assert words.tobytes() == stream


def test_key_is_what_the_operating_system_gave(monkeypatch):
    asked = []
    monkeypatch.setattr(os, "urandom", lambda count: asked.append(count) or bytes(range(count)))
    first = system_rng().random(4)
    assert asked == [32]
    np.testing.assert_array_equal(first, system_rng().random(4))


def _error(count):
    raise OSError("no entropy")


def _unsupported(count):
    raise NotImplementedError


@pytest.mark.parametrize(
    "source", [_error, _unsupported, lambda count: b"", lambda count: bytes(count - 1), lambda count: bytes(count)]
)
def test_entropy_failure_aborts(monkeypatch, source):
    monkeypatch.setattr(os, "urandom", source)
    with pytest.raises(EntropyError):
        system_rng()
    with pytest.raises(EntropyError):
        RunKey.fresh()


def test_entropy_is_the_operating_systems():
    assert len(entropy()) == 32
    assert entropy() != entropy()


@pytest.mark.parametrize("make", [system_rng, lambda: seeded_rng(1), RunKey.fresh, lambda: system_rng().bit_generator])
@pytest.mark.parametrize("leak", [pickle.dumps, copy.copy, copy.deepcopy])
def test_cannot_be_pickled_or_copied(make, leak):
    with pytest.raises(PolicyError):
        leak(make())


def test_state_is_sealed():
    with pytest.raises(PolicyError):
        _ = system_rng().bit_generator.state


def test_repr_shows_no_key():
    key = RunKey(bytes(range(32)))
    shown = repr(key) + repr(key.rng("a")) + str(key.rng("a")) + repr(key.rng("a").bit_generator)
    assert shown == "RunKey(secret)" + 3 * "ChaCha20(sealed)"


def test_documents_have_streams_of_their_own():
    key = RunKey.fresh()
    first = {document: key.rng(document).integers(0, 2**63) for document in map(str, range(2000))}
    again = {document: key.rng(document).integers(0, 2**63) for document in map(str, range(2000))}
    assert first == again
    assert len(set(first.values())) == 2000


def test_runs_have_streams_of_their_own():
    blocks = {RunKey.fresh().rng("same id").integers(0, 2**63) for _ in range(2000)}
    assert len(blocks) == 2000


def test_seeded_runs_repeat_and_differ_by_seed():
    assert RunKey.seeded(1).rng("a").random() == RunKey.seeded(1).rng("a").random()
    assert RunKey.seeded(1).rng("a").random() != RunKey.seeded(2).rng("a").random()


def _blocks(count):
    return [system_rng().integers(0, 2**63) for _ in range(count)]


@pytest.mark.parametrize("method", ["forkserver", pytest.param("spawn", marks=pytest.mark.long)])
def test_no_block_repeats_in_processes(method):
    _blocks(1)  # the parent has drawn before: a fork must not inherit anything
    with multiprocessing.get_context(method).Pool(2) as pool:
        blocks = [block for part in pool.map(_blocks, [250] * 8) for block in part]
    assert len(set(blocks)) == 2000


_FORKS = """
import os
from publius.noise.randomness import RunKey, seeded_rng, system_rng
for generator in (system_rng(), RunKey.fresh().rng("a"), seeded_rng(1)):
    for _ in range(3):
        if not (child := os.fork()):
            print(generator.integers(0, 2**63), flush=True)
            os._exit(0)
        os.waitpid(child, 0)
    print(generator.integers(0, 2**63), flush=True)
"""


def test_a_live_generator_starts_anew_after_a_fork():
    """In a process of its own: forking one that runs threads, as a test runner does, can hang by itself."""
    done = subprocess.run([sys.executable, "-c", _FORKS], capture_output=True, text=True, timeout=600, check=True)
    assert len(set(done.stdout.split())) == 12


def test_a_generator_takes_no_seed():
    with pytest.raises(PolicyError):
        system_rng().bit_generator.seed(5)


def test_no_block_repeats_in_threads():
    with ThreadPoolExecutor(8) as pool:
        blocks = [block for part in pool.map(_blocks, [250] * 8) for block in part]
    assert len(set(blocks)) == 2000


def test_seed_argument_is_never_used():
    """``seed=`` and no argument go through a 128-bit non-cryptographic pool of the generator's package."""
    source = Path(rng_module.__file__).read_text(encoding="utf-8")
    assert source.count("super().__init__(") == 1
    assert "super().__init__(key=" in source


def test_bits_are_shake_256_of_the_key_in_a_block_of_its_own_and_the_id():
    secret, ids, size = bytes(range(32)), ["a", "b", "", "Ω"], 168
    expected = []
    for name in ids:
        stream = hashes.Hash(hashes.SHAKE256(size))
        stream.update(b"publius/bits/v1\0" + secret + bytes(136 - 16 - 32) + name.encode())
        expected.append(stream.finalize())
    assert RunKey(secret).bits(ids, size) == expected
    assert RunKey(secret).bits(reversed(ids), 21) == [found[:21] for found in expected[::-1]]


def test_bits_are_each_documents_and_runs_own():
    key, ids = RunKey.fresh(), list(map(str, range(2000)))
    found = {*key.bits(ids, 32), *RunKey.fresh().bits(ids, 32), *(key.rng(name).bytes(32) for name in ids)}
    assert len(found) == 6000
    ones = sum(int.from_bytes(block).bit_count() for block in found)
    assert abs(ones - 6000 * 128) < 6 * (6000 * 256 / 4) ** 0.5
    with pytest.raises(UsageError):
        key.bits(["\ud800"], 8)
