"""``publius doctor``: it tells what is there, and each of its checks fails when what it checks is broken."""

import hashlib
import hmac
import json
import re

import numpy as np
import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

from publius.cli import installation
from publius.cli import self_check as checks
from publius.errors import EntropyError, PubliusError, StorageError
from publius.mechanisms.mechanism import TOTAL
from publius.mechanisms.prototype import Prototype
from publius.noise.laplace import EuclideanLaplace
from publius.privacy.ledger import Ledger
from publius.vectors.kernel_choice import usable_kernels
from publius.vectors.nearest import NearestWords
from references import fitted


def run(publius):
    code, out, _ = publius("doctor", "--json")
    return code, json.loads(out)


def test_healthy(publius, stored):
    code, found = run(publius)
    assert code == 0
    assert found["healthy"]
    assert [each["name"] for each in found["checks"]][:8] == list(checks.CHECKS)
    assert all(each["passed"] for each in found["checks"])
    assert f"vectors {stored}" in [each["name"] for each in found["checks"]]
    assert found["blas"][0]["threads"] >= 1
    assert found["search"]["kernel"] in found["search"]["kernels"]
    assert found["search"]["kernels"] == list(usable_kernels())
    assert found["search"]["reason"]


def test_text_for_people(publius):
    code, out, _ = publius("doctor")
    assert code == 0
    assert re.search(r"^nearest word +passed", out, re.MULTILINE)
    assert "numpy" in out
    assert re.search(r"works with (sgemm|onnxruntime-int8|cupy-sgemm): \w+", out)


def test_extras_are_those_of_the_package():
    found = installation.extras(installation.dependencies())
    assert {"glove", "demo", "parquet", "evaluation", "spark"} <= set(found)
    assert found["parquet"]


def test_known_keystream():
    """The constant comes from an independent ChaCha20 under the key that seed 0 means."""
    run_key = hashlib.sha256(b"publius/experiment-seed/v1\0" + b"0").digest()
    key = hmac.digest(run_key, b"publius/document/v1\0", "sha256")
    stream = Cipher(algorithms.ChaCha20(key, bytes(16)), mode=None).encryptor().update(bytes(8))
    assert stream.hex() == checks.KEYSTREAM


def test_known_bits():
    """The constant comes from another SHAKE-256 under the key that seed 0 means."""
    run_key = hashlib.sha256(b"publius/experiment-seed/v1\0" + b"0").digest()
    stream = hashes.Hash(hashes.SHAKE256(8))
    stream.update((b"publius/bits/v1\0" + run_key).ljust(136, b"\0"))
    assert stream.finalize().hex() == checks.BITS


def test_a_reference_is_told_of(publius, tmp_path):
    reference = fitted().save(tmp_path / "reference")
    texts = ["meadow river qqqq", "judge", "zzzz qqqq", "the of"]
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
    code, out, _ = publius("doctor", "--reference", tmp_path / "reference", "--documents", path, "--json")
    assert code == 0
    told = json.loads(out)["reference"]
    assert told["sha256"] == reference.sha256
    prototypes = [each for each in told["promises"] if each["mechanism"] == "prototype"]
    assert {each["evidence"] for each in prototypes} == {"certified"}
    assert {each["bound"] for each in told["promises"]} == {3.0, 5.0, 7.0}
    known = told["documents"]
    assert (known["documents"], known["words"], known["hardly_known"]) == (4, 6, 1)
    assert known["known_share"] == pytest.approx(0.5)
    code, out, _ = publius("doctor", "--reference", tmp_path / "reference", "--documents", path)
    assert "It knows 50% of 6 words of 4 documents, and hardly 1" in out


def test_a_damaged_or_broken_reference_is_found(publius, home, monkeypatch):
    reference = fitted().save(home / "references" / "mine")
    assert publius("doctor")[0] == 0
    spoiled = np.eye(9, 3) * 0.9 + 0.03
    monkeypatch.setattr(Prototype, "weights", lambda self, documents: spoiled[: len(documents)] * TOTAL)
    code, out, _ = publius("doctor")
    assert code == 70
    assert "nats beyond the bound" in out
    monkeypatch.undo()
    monkeypatch.setenv("PUBLIUS_HOME", str(home))
    (file, *_) = sorted(reference.folder.glob("*.npy"))
    data = bytearray(file.read_bytes())
    data[-3] ^= 1
    file.chmod(0o600)
    file.write_bytes(data)
    code, out, _ = publius("doctor", "--reference", "mine", "--json")
    assert code == 65
    found = json.loads(out)
    assert [each["name"] for each in found["checks"] if not each["passed"]] == ["reference mine"]
    assert "reference" not in found


def test_documents_need_a_reference(publius, tmp_path):
    assert publius("doctor", "--documents", tmp_path / "texts.jsonl")[0] == 2


@pytest.mark.parametrize(
    ("version", "wanted", "within"),
    [("2.4.6", ">=2.0", True), ("2.0", ">=2.0.0", True), ("1.9.9", ">=2", False), ("2.10", ">=2.9", True),
     ("4.3.1", "==4.3.*", True), ("4.30", "==4.3.*", False), ("3.0.1", "<3,>=2.2", False),
     ("2.3", "<3,>=2.2", True), ("0.9.7.post1", ">=0.9.4", True), ("5", "", True)],
)  # fmt: skip
def test_versions(version, wanted, within):
    assert installation.within(version, wanted) is within


def _short_radius(self, rng, count):
    drawn = np.random.default_rng(1).standard_normal((count, self.dimension))
    radii = np.random.default_rng(2).gamma(self.dimension - 0.5, size=count)
    return drawn / np.linalg.norm(drawn, axis=1)[:, None] * radii[:, None]


def _one_direction(self, rng, count):
    drawn = np.abs(np.random.default_rng(1).standard_normal((count, self.dimension)))
    radii = np.random.default_rng(2).gamma(self.dimension, size=count)
    return drawn / np.linalg.norm(drawn, axis=1)[:, None] * radii[:, None]


def _always_first(self, points, *, threads=1):
    return np.zeros(len(points), np.int64)


@pytest.mark.parametrize(
    ("check", "owner", "name", "broken"),
    [
        (checks.noise, EuclideanLaplace, "sample", _short_radius),
        (checks.noise, EuclideanLaplace, "sample", _one_direction),
        (checks.nearest_word, NearestWords, "nearest", _always_first),
        (checks.random_source, checks, "entropy", lambda count: bytes(count)),
        (checks.generator, checks, "KEYSTREAM", "00" * 8),
        (checks.budget, Ledger, "spend", lambda self, charges: None),
        (checks.transport, checks, "earth_movers_distance", lambda a, b, embeddings: 1.0),
    ],
)
def test_a_broken_part_is_found(monkeypatch, check, owner, name, broken):
    check()
    monkeypatch.setattr(owner, name, broken)
    with pytest.raises(PubliusError):
        check()


def test_a_false_constant_is_found(monkeypatch):
    class Textbook(checks.Exponential):
        def __init__(self, embeddings, *, scale, threads):
            super().__init__(embeddings, scale=scale, threads=threads)
            self.__dict__["epsilon"] = 2 * scale

    monkeypatch.setattr(checks, "Exponential", Textbook)
    with pytest.raises(PubliusError, match="certified 3"):
        checks.certificate()


def test_changed_vectors_are_found(publius, stored, home):
    path = home / "embeddings" / stored / "vectors.npy"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.chmod(0o600)
    path.write_bytes(data)
    code, found = run(publius)
    assert code == 65
    assert not found["healthy"]
    assert [each["name"] for each in found["checks"] if not each["passed"]] == [f"vectors {stored}"]


def test_no_entropy(publius, monkeypatch):
    def fail(count=32):
        raise EntropyError("the operating system's entropy source failed")

    monkeypatch.setattr(checks, "entropy", fail)
    assert run(publius)[0] == EntropyError.exit_code


def test_a_store_that_cannot_be_written(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("PUBLIUS_HOME", str(tmp_path / "file"))
    with pytest.raises(StorageError, match="PUBLIUS_HOME"):
        checks.store()


def test_an_unexpected_error_is_a_failure_without_its_message(monkeypatch):
    def broken():
        raise ValueError("secret")

    monkeypatch.setattr(checks, "CHECKS", {"broken": broken})
    (finding, *_) = checks.self_check()
    assert not finding.passed
    assert "secret" not in finding.detail


def test_a_missing_need_is_an_error_and_a_missing_extra_is_none(publius, monkeypatch):
    needs = installation.Dependency("numpy", ">=2.0", None, None)
    optional = installation.Dependency("pandas", "<3", "3.0", "spark")
    monkeypatch.setattr(installation, "dependencies", lambda: [optional])
    assert run(publius)[0] == 0
    monkeypatch.setattr(installation, "dependencies", lambda: [needs])
    assert run(publius)[0] == 70
