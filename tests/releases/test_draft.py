"""A draft: the order of its end, what goes and what stays, and the register."""

import os
import stat

import pytest

from publius.errors import BudgetError, DataError, PolicyError, UsageError
from publius.releases import draft as module
from publius.releases.draft import Draft
from publius.releases.manifest import SummaryManifest, decoded, encoded
from publius.releases.register import (
    made_here,
    note,
    note_files,
    register_path,
    stands_in_register,
    were_released,
    whole,
)

MANIFEST = SummaryManifest(
    publius_version="1.0.0", private=True, promise="p", epsilon=1.0, authors=3, documents_per_author=1
)


class Spent:
    """A ledger that remembers."""

    unit = "epsilon"

    def __init__(self, error=None):
        self.calls, self.error = [], error

    def spend(self, charges):
        if self.error:
            raise self.error
        self.calls.append(dict(charges))


def drawn(path, ledger=None, **more):
    with Draft.open(path, ledger=ledger, charges={"ada": 1}, **more) as draft:
        (draft.folder / "counts.csv").write_text("x\r\n")
        (draft.work / "piece").write_text("private")
        assert stat.S_IMODE(os.stat(draft.folder).st_mode) == 0o700
        return draft.finish(MANIFEST)


def test_the_end_of_a_run_is_debit_key_register_rename(tmp_path, monkeypatch):
    order = []
    ledger = Spent()
    ledger.spend = lambda charges: order.append(("debit", (tmp_path / "out.publius-run" / "key").exists()))
    for name in ("remove_secret", "note", "place_folder"):
        original = getattr(module, name)

        def called(*arguments, name=name, original=original):
            left = tmp_path / "out.publius-run"
            paths = [left, *left.iterdir(), *left.glob("release/manifest.json")]
            assert {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in paths} == {0}
            original(*arguments)
            order.append((name, (tmp_path / "out.publius-run" / "key").exists()))

        monkeypatch.setattr(module, name, called)
    drawn(tmp_path / "out", ledger)
    begin = order.index(("debit", True))
    assert order[begin : begin + 4] == [
        ("debit", True),
        ("remove_secret", False),
        ("note", False),
        ("place_folder", False),
    ]
    assert sorted(os.listdir(tmp_path)) == ["out"]
    assert stat.S_IMODE(os.stat(tmp_path / "out").st_mode) & 0o055


def test_a_refused_debit_leaves_nothing(tmp_path):
    with pytest.raises(BudgetError):
        drawn(tmp_path / "a" / "b" / "out", Spent(BudgetError("spent")))
    with pytest.raises(RuntimeError), Draft.open(tmp_path / "out"):
        raise RuntimeError
    assert os.listdir(tmp_path) == []


def test_a_run_to_be_resumed_keeps_its_key_and_its_pieces(tmp_path):
    keys = []

    def cut_off():
        with Draft.open(tmp_path / "out", resume=True, fingerprint=lambda key: "f") as draft:
            keys.append(draft.key.expose())
            (draft.work / f"piece{len(keys)}").touch()
            raise RuntimeError

    for _ in range(2):
        with pytest.raises(RuntimeError):
            cut_off()
    assert keys[0] == keys[1]
    assert sorted(os.listdir(tmp_path / "out.publius-run" / "pieces")) == ["piece1", "piece2"]
    with (
        pytest.raises(DataError, match="another input"),
        Draft.open(tmp_path / "out", resume=True, fingerprint=lambda key: "g"),
    ):
        pass
    with pytest.raises(RuntimeError), Draft.open(tmp_path / "out") as draft:  # noqa: PT012  # anew
        keys.append(draft.key.expose())
        assert os.listdir(draft.work) == []
        raise RuntimeError
    assert keys[2] != keys[0]
    assert os.listdir(tmp_path) == []


def test_what_was_paid_for_is_only_given_its_place(tmp_path, monkeypatch):
    ledger = Spent()

    def failing(filled, path):
        raise OSError(28, "no space")

    with monkeypatch.context() as patch, pytest.raises(OSError):  # noqa: PT012
        patch.setattr(module, "place_folder", failing)
        drawn(tmp_path / "out", ledger)
    assert not (tmp_path / "out.publius-run" / "key").exists()
    with pytest.raises(UsageError, match="--resume"):
        drawn(tmp_path / "out", ledger)
    with Draft.open(tmp_path / "out", ledger=ledger, charges={"ada": 1}, resume=True) as draft:
        assert draft.placed is not None
    assert ledger.calls == [{"ada": 1}]
    assert made_here(tmp_path / "out").files.keys() == {"counts.csv"}
    assert sorted(os.listdir(tmp_path)) == ["out"]


def test_no_register_is_too_long_to_be_read(monkeypatch):
    note(b"one")
    note_files([f"{number:064x}" for number in range(2000)])
    assert register_path().stat().st_size < 45_000
    monkeypatch.setattr("publius.files.reading.WHOLE_LIMIT", 100)
    monkeypatch.setattr("publius.files.reading.read_bytes_limited.__defaults__", (100,))
    assert stands_in_register(b"one")
    assert were_released([f"{7:064x}"])


def test_the_register_knows_what_was_made_here(tmp_path, home):
    drawn(tmp_path / "out")
    content = (tmp_path / "out" / "manifest.json").read_bytes()
    assert decoded(content, "it") == whole(tmp_path / "out")[0]
    assert encoded(decoded(content, "it")) == content
    assert stat.S_IMODE(register_path().stat().st_mode) == 0o600
    assert stands_in_register(content)
    register_path().unlink()
    with pytest.raises(PolicyError, match="not made by this installation"):
        made_here(tmp_path / "out")
    (tmp_path / "out" / "link").symlink_to("counts.csv")
    with pytest.raises(DataError, match="no plain file"):
        whole(tmp_path / "out")


def test_a_seeded_run_repeats_and_others_do_not(tmp_path):
    keys = []
    for seed in (7, 7, None, None):
        with pytest.raises(RuntimeError), Draft.open(tmp_path / "out", seed=seed) as draft:  # noqa: PT012
            keys.append(draft.key.expose())
            assert draft.key.seeded_run == (seed is not None)
            raise RuntimeError
    assert keys[0] == keys[1]
    assert len({*keys}) == 3


@pytest.mark.parametrize("resume", [False, True])
def test_a_block_that_ends_without_a_release_keeps_what_a_run_to_be_resumed_needs(tmp_path, resume):
    with Draft.open(tmp_path / "out", resume=resume) as draft:
        (draft.work / "piece").touch()
        (draft.folder / "half a file").touch()
    kept = tmp_path / "out.publius-run"
    assert [*map(os.path.basename, kept.rglob("piece"))] == ["piece"] * resume
    assert kept.exists() == resume
    with Draft.open(tmp_path / "out", resume=resume) as draft:
        assert os.listdir(draft.work) == ["piece"] * resume
        assert os.listdir(draft.folder) == []
        draft.finish(MANIFEST)
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("noted", [True, False])
def test_a_run_that_was_killed_when_all_was_done_is_told_as_done(tmp_path, monkeypatch, noted):
    def killed(home):
        raise KeyboardInterrupt

    ledger = Spent()
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):  # noqa: PT012
        patch.setattr(module, "_remove", killed)
        drawn(tmp_path / "out", ledger, noted=noted)
    content = (tmp_path / "out" / "manifest.json").read_bytes()
    with Draft.open(tmp_path / "out", ledger=ledger, charges={"ada": 1}, resume=True, noted=noted) as draft:
        assert encoded(draft.placed) == content
    assert stands_in_register(content) == noted
    assert (ledger.calls, os.listdir(tmp_path)) == ([{"ada": 1}], ["out"])


def test_no_output_is_named_as_the_working_folder_of_a_run(tmp_path):
    with pytest.raises(UsageError, match="name another output"), Draft.open(tmp_path / "out.publius-run"):
        pass
    assert os.listdir(tmp_path) == []
