"""The ledger: exact, durable, shared by many processes, and never taken for what it is not."""

import math
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from publius.collections.authors import author_key
from publius.errors import BudgetError, DataError, EntropyError, PolicyError, StorageError, UsageError
from publius.privacy.guarantee import Guarantee, Unit
from publius.privacy.ledger import Charge, Ledger, exact_amount, price
from publius.privacy.ledger.amounts import from_text, to_text

CROWD = Path(__file__).parents[1] / "ledger_crowd.py"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "budget.ledger"


@pytest.fixture
def ledger(path):
    return Ledger.create(path, budget=10)


@pytest.fixture
def memory(tmp_path):
    """A folder whose flushes are fast: what is tested is dying processes, not dying disks."""
    if not Path("/dev/shm").is_dir():
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)


def crowd(*arguments):
    run = subprocess.run(
        [sys.executable, CROWD, *map(str, arguments)], capture_output=True, text=True, check=True
    )
    return run.stdout.strip()


def test_a_document_is_charged_up_to_its_budget(ledger):
    assert ledger.spend([Charge("a", 4), Charge("b", 10), Charge("a", 6)])
    assert (ledger.document("a").spent, ledger.document("a").remaining, ledger.document("c").remaining) == (
        10,
        0,
        10,
    )
    with pytest.raises(
        BudgetError, match=r"a document has 0 of its budget of 10.* is spent: leave it out"
    ) as spent:
        ledger.spend([Charge("a", Fraction(1, 10**300))])
    with pytest.raises(
        BudgetError, match=r"has 10 of its .*choose a smaller epsilon or length, or leave it out"
    ):
        ledger.spend([Charge("c", 11)])
    assert spent.value.account == "a"


def test_a_name_in_another_unicode_form_is_the_same_name(ledger, path):
    """File names come decomposed from some systems and composed from others."""
    composed, decomposed = "caf\u00e9.txt", "cafe\u0301.txt"
    assert ledger.spend([Charge(composed, 6)])
    assert ledger.document(decomposed).spent == 6
    with pytest.raises(BudgetError):
        ledger.spend([Charge(decomposed, 6)])
    with pytest.raises(BudgetError):
        ledger.spend([Charge("b", 10, composed), Charge("c", 10, decomposed)])


def test_one_overspent_document_refuses_the_whole_batch(ledger):
    with pytest.raises(BudgetError):
        ledger.spend([Charge("a", 4), Charge("b", 10.5)])
    assert (ledger.document("a").spent, ledger.counts()[2]) == (0, 0)


def test_an_author_is_charged_for_all_documents(path):
    ledger = Ledger.create(path, budget=10, subject_budget=15)
    ledger.spend([Charge("a", 8, "ann"), Charge("b", 7, "ann"), Charge("c", 9, "bob")])
    assert ledger.subject("ann").remaining == 0
    with pytest.raises(BudgetError, match="a subject has 0"):
        ledger.spend([Charge("d", 1, "ann")])
    assert ledger.subject("bob").spent == 9


@pytest.mark.parametrize(
    "name", ["Ann", " ANN", "An\u200bn", "\u2060Ann", "Ann\ufe0f", "A\u00adnn", "\uff21nn"]
)
def test_an_author_has_one_account_however_the_name_is_spelled(path, name):
    """As summaries count authors: what shows nothing makes no other person, and no second budget."""
    ledger = Ledger.create(path, budget=10, subject_budget=15)
    ledger.spend([Charge("a", 8, "ann")])
    with pytest.raises(BudgetError, match="a subject has 7"):
        ledger.spend([Charge("b", 8, name)])
    assert ledger.subject(name).name == author_key(name) == "ann"


def test_sums_are_exact(ledger):
    """A thousand small amounts that float64 would lose, and a tenth as the float it is."""
    ledger.spend([Charge("a", 1)])
    ledger.spend([Charge("a", 2.0**-60)] * 1000)
    assert ledger.document("a").spent == 1 + Fraction(1000, 2**60)
    ledger.spend([Charge("b", 0.1)] * 3)
    assert ledger.document("b").spent == 3 * Fraction(0.1)


def test_a_priced_release_costs_the_decimal_that_is_written(path):
    """Ten releases at epsilon 0.1 with N = 40 are 40, not a hair more."""
    ledger = Ledger.create(path, budget=40)
    cost = ledger.price(Guarantee(0.1, "euclidean", "proven", size=40))
    ledger.spend([Charge("a", cost)] * 10)
    assert ledger.document("a").remaining == 0


@pytest.mark.parametrize(
    ("promised", "costs"),
    [
        (
            Guarantee(0.5, "euclidean", "proven", size=40),
            {"epsilon-n": 20, "epsilon": 0.5, "epsilon-n-ordered": 20},
        ),
        (Guarantee(0.5, "euclidean", "proven", size=40).in_order(), {"epsilon-n-ordered": 20}),
        (Guarantee(2.0, "reference", "certified", size=40, bound=7.0), {"bound": 7}),
        (Guarantee(0.5, "euclidean", "none", size=40), {}),
        (Guarantee(0.5, "euclidean", "proven"), {}),
    ],
    ids=("bag", "in order", "bound", "no evidence", "one word"),
)
def test_a_release_is_charged_in_the_units_that_cover_it_and_refused_in_the_others(promised, costs):
    assert promised.prices == costs
    for unit in get_args(Unit):
        if unit in costs:
            assert price(promised, unit) == costs[unit]
            continue
        with pytest.raises(
            PolicyError, match="make a ledger with --unit" if costs else "no budget covers it"
        ):
            price(promised, unit)


def test_prices():
    lifted = Guarantee(0.5, "euclidean", "proven", size=40)
    assert (price(lifted, "epsilon-n"), price(lifted, "epsilon")) == (20, Fraction(1, 2))
    for free in (Guarantee(0.5, "euclidean", "none", size=40), Guarantee(0.5, "euclidean", "proven")):
        with pytest.raises(PolicyError):
            price(free, "epsilon-n")


BAD_AMOUNTS = [
    math.nan,
    math.inf,
    -math.inf,
    -1,
    0,
    0.0,
    -0.0,
    5e-324,
    2.0**-1023,
    "1",
    b"1",
    None,
    True,
    1j,
    [1],
]


@pytest.mark.parametrize("amount", BAD_AMOUNTS, ids=repr)
def test_amounts_that_are_none_are_refused(amount, ledger, tmp_path):
    with pytest.raises(UsageError):
        ledger.spend([Charge("a", amount)])
    with pytest.raises(UsageError):
        Ledger.create(tmp_path / "other", budget=amount)
    assert ledger.counts()[2] == 0
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    "name", ["", 7, None, "x" * 2000, "\ud800"], ids=["empty", "int", "none", "long", "half"]
)
def test_ids_that_are_none_are_refused(name, ledger):
    with pytest.raises(UsageError, match="id of a document"):
        ledger.spend([Charge(name, 1)])


def test_amounts_that_cannot_be_written_down_are_refused(ledger):
    with pytest.raises(UsageError, match="digits"):
        ledger.spend([Charge("a", Fraction(1, 3**9000) + 1)])


@given(st.fractions(min_value=Fraction(1, 10**9)))
def test_amounts_survive_being_stored(amount):
    assert from_text(to_text(amount), "here") == exact_amount(amount)


@pytest.mark.parametrize(
    "text", ["", "1", "1/0", "-1/2", "2/4", "0/1", "1 /2", "nan", None, 7, "1/" + "1" * 9000]
)
def test_stored_amounts_that_are_none_are_refused(text):
    with pytest.raises(DataError):
        from_text(text, "here")


def test_a_token_is_paid_for_once(ledger):
    batch = [Charge("a", 4), Charge("b", 4)]
    assert ledger.spend(batch, token="run1/0")
    assert not ledger.spend(batch, token="run1/0")
    assert ledger.spend(batch, token="run1/1")
    assert ledger.document("a").spent == 8
    with pytest.raises(PolicyError, match="other documents"):
        ledger.spend([Charge("c", 4)], token="run1/0")


def test_an_empty_batch_costs_nothing(ledger):
    assert not ledger.spend([])
    assert ledger.counts()[2] == 0


def test_admit_looks_and_leaves(ledger):
    ledger.admit([Charge("a", 10)])
    with pytest.raises(BudgetError):
        ledger.admit([Charge("a", 6), Charge("a", 6)])
    assert ledger.counts()[2] == 0


def test_ids_can_be_hidden(path):
    ledger = Ledger.create(path, budget=10, hide_ids=True)
    ledger.spend([Charge("alpha-doc", 4, "alpha-author")])
    assert Ledger(path).document("alpha-doc").spent == 4
    assert b"alpha" not in path.read_bytes()
    with pytest.raises(BudgetError) as caught:
        ledger.spend([Charge("alpha-doc", 7)])
    assert "alpha" not in str(caught.value)
    key = path.with_name(path.name + ".key")
    key.write_bytes(bytes(32))
    with pytest.raises(DataError, match="not the key"):
        Ledger(path)
    key.unlink()
    with pytest.raises(StorageError):
        Ledger(path)


def test_without_entropy_no_key_and_no_ledger(path, monkeypatch):
    monkeypatch.setattr(os, "urandom", lambda count: bytes(count))
    with pytest.raises(EntropyError):
        Ledger.create(path, budget=1, hide_ids=True)
    assert list(path.parent.iterdir()) == []


def test_files_are_the_owners_only(path):
    Ledger.create(path, budget=10, hide_ids=True)
    for file in path.parent.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert sorted(file.name for file in path.parent.iterdir()) == [path.name, path.name + ".key"]


def test_a_ledger_is_never_replaced(ledger, path):
    ledger.spend([Charge("a", 4)])
    with pytest.raises(UsageError, match="never replaced"):
        Ledger.create(path, budget=10)
    assert Ledger(path).document("a").spent == 4


def test_reprs_hold_no_id(ledger):
    ledger.spend([Charge("secret-id", 1)])
    assert "secret" not in repr([*ledger.accounts(), Charge("secret-id", 1, "secret-author")])


def test_a_missing_ledger_is_not_made(path):
    with pytest.raises(StorageError, match="cannot open"):
        Ledger(path)
    assert not path.exists()


def foreign_database(path):
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE settings (name, value)")
    connection.close()


def changed(statement):
    def change(path):
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute(statement)
        connection.close()

    return change


def cut(count):
    return lambda path: os.truncate(path, count)


HOSTILE = {
    "empty": cut(0),
    "header only": cut(100),
    "one page": cut(4096),
    "mid page": cut(10_000),
    "text": lambda path: path.write_text("a ledger\n" * 1000),
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "foreign": lambda path: (path.unlink(), foreign_database(path)),
    "other application": changed("PRAGMA application_id = 1"),
    "later version": changed("PRAGMA user_version = 3"),
    "debits beside the file": changed("PRAGMA journal_mode = WAL"),
    "no debits": changed("DROP TABLE debits"),
    "a trigger": changed("CREATE TRIGGER t AFTER INSERT ON accounts BEGIN DELETE FROM accounts; END"),
    "a view": changed("CREATE VIEW v AS SELECT 1"),
    "no budget": changed("DELETE FROM settings WHERE name = 'budget'"),
    "budget NaN": changed("UPDATE settings SET value = 'nan' WHERE name = 'budget'"),
    "budget negative": changed("UPDATE settings SET value = '-a/1' WHERE name = 'budget'"),
    "unit unknown": changed("UPDATE settings SET value = 'pounds' WHERE name = 'unit'"),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
}


@pytest.mark.parametrize("damage", HOSTILE)
def test_hostile_files_are_refused_and_left(damage, ledger, path):
    ledger.spend([Charge(f"doc{i}", 1) for i in range(100)])
    HOSTILE[damage](path)
    before = None if path.is_dir() else path.read_bytes()
    with pytest.raises(DataError):
        Ledger(path)
    with pytest.raises(DataError):
        ledger.spend([Charge("a", 1)])
    assert before is None or path.read_bytes() == before


def test_every_truncation_is_refused_or_harmless(ledger, path, tmp_path):
    """Cut at every 509th byte: refused on opening, or at the latest when it is checked or spent from."""
    ledger.spend([Charge(f"doc{i}", 1) for i in range(200)])
    size, copy = path.stat().st_size, tmp_path / "copy"
    for length in range(0, size, 509):
        shutil.copyfile(path, copy)
        os.truncate(copy, length)
        with pytest.raises(DataError):
            Ledger(copy).check()


@pytest.mark.parametrize(
    "statement",
    ["UPDATE accounts SET spent = '1/2' WHERE name = 'a'", "DELETE FROM accounts WHERE name = 'a'",
     "UPDATE accounts SET releases = 5 WHERE name = 'a'", "UPDATE accounts SET spent = 'b/1' WHERE name = 'a'",
     "DELETE FROM debits", "UPDATE accounts SET kind = 'other' WHERE name = 'a'"],
)  # fmt: skip
def test_a_check_finds_what_was_tampered_with(statement, ledger, path):
    ledger.spend([Charge("a", 4), Charge("b", 2)])
    ledger.check()
    changed(statement)(path)
    with pytest.raises(DataError, match=r"damaged|amount"):
        ledger.check()


def test_a_ledger_that_cannot_be_written_is_a_storage_error(ledger, path):
    lock = sqlite3.connect(path, isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("publius.privacy.ledger.ledger_file._BUSY_SECONDS", 0.05)
            with pytest.raises(StorageError, match="busy"):
                ledger.spend([Charge("a", 1)])
    finally:
        lock.close()
    assert ledger.document("a").spent == 0


@pytest.mark.long  # the audit tries it, too: spends at once end exactly at the cap
def test_sixteen_processes_end_exactly_at_the_cap(memory):
    """16 x 200 attempts to spend 1 against 3,000: 3,000 are admitted, 200 refused."""
    ledger = Ledger.create(memory / "ledger", budget=3000)
    assert crowd("spend", ledger.path, 16, 200) == "3000"
    assert (ledger.document("doc").spent, ledger.subject("author").spent, ledger.counts()[2]) == (
        3000,
        3000,
        3000,
    )
    ledger.check()


def test_no_release_without_its_debit_however_it_is_killed(memory):
    """A process that debits, then releases, killed at 80 random instants; the torture kills more."""
    ledger = Ledger.create(memory / "ledger", budget=10**9)
    released = memory / "released"
    released.touch()
    crowd("kill", ledger.path, released, 80)
    releases = len(released.read_bytes())
    assert 0 < releases <= ledger.document("doc").spent <= releases + 80
    ledger.check()


def test_symbolic_links_and_relative_names_are_one_ledger(ledger, path, tmp_path, monkeypatch):
    (tmp_path / "link").symlink_to(path)
    (tmp_path / "second").symlink_to("link")
    monkeypatch.chdir(tmp_path)
    for name in ("link", "second", f"../{tmp_path.name}/./link"):
        Ledger(name).spend([Charge("a", 3)])
    with pytest.raises(BudgetError):
        Ledger(tmp_path / "second").spend([Charge("a", 3)])
    assert ledger.document("a").spent == 9
    assert sorted(file.name for file in tmp_path.iterdir()) == [path.name, "link", "second"]


def test_a_key_is_found_through_a_symbolic_link(path, tmp_path):
    Ledger.create(path, budget=10, hide_ids=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "link").symlink_to(path)
    assert Ledger(tmp_path / "elsewhere" / "link").document("a").remaining == 10


def test_a_circle_of_links_is_a_storage_error(tmp_path):
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    with pytest.raises(StorageError, match="cannot open"):
        Ledger(tmp_path / "one")


def test_a_ledger_with_two_hard_links_is_refused_under_both(ledger, path):
    other = path.with_name("other")
    os.link(path, other)
    for use in (
        lambda: Ledger(other),
        lambda: Ledger(path),
        lambda: ledger.spend([Charge("a", 1)]),
        ledger.check,
    ):
        with pytest.raises(StorageError, match="2 names"):
            use()
    other.unlink()
    ledger.spend([Charge("a", 10)])


def test_a_debit_is_in_the_file_itself_when_spend_returns(ledger, path, tmp_path):
    """Not beside it, where another name or a copy would miss it, even while somebody else has the file open."""
    reader = sqlite3.connect(path)
    reader.execute("SELECT * FROM accounts").fetchall()
    ledger.spend([Charge("a", 4)])
    copy = tmp_path / "copy"
    shutil.copyfile(path, copy)
    reader.close()
    assert Ledger(copy).document("a").spent == 4


def test_what_another_ledger_left_behind_is_not_taken_over(path):
    path.with_name(path.name + "-journal").write_bytes(b"x")
    with pytest.raises(UsageError, match="exists"):
        Ledger.create(path, budget=1)


@pytest.mark.long
def test_sixteen_processes_over_mixed_names_end_exactly_at_the_cap(memory):
    """Path, symbolic link, relative name; a hard link comes and is refused with all the others until it goes."""
    ledger = Ledger.create(memory / "ledger", budget=1000)
    (memory / "link").symlink_to("ledger")
    (memory / "again").symlink_to(memory)
    names = [
        memory / "ledger",
        memory / "link",
        memory / "again" / "link",
        memory / "again" / ".." / memory.name / "ledger",
    ]
    assert crowd("names", 16, 80, *names) == "1000"
    os.link(memory / "ledger", memory / "hard")
    assert crowd("names", 4, 3, *names, memory / "hard") == "0"
    os.unlink(memory / "hard")
    assert (ledger.document("doc").spent, ledger.counts()[2]) == (1000, 1000)
    ledger.check()


def mounted(memory, script, *arguments):
    """Runs ``script`` where the ledger's folder is mounted a second time, and the ledger alone at ``alone``."""
    (memory / "folder").mkdir()
    (memory / "mounted").mkdir()
    (memory / "alone").touch()
    mounts = (
        'mount --bind "$0/folder" "$0/mounted" && mount --bind "$0/folder/ledger" "$0/alone" && exec "$@"'
    )
    Ledger.create(memory / "folder" / "ledger", budget=300)
    run = subprocess.run(
        ["unshare", "--mount", "sh", "-c", mounts, memory, sys.executable, script, *map(str, arguments)],
        capture_output=True, text=True,
    )  # fmt: skip
    if run.returncode and ("not permitted" in run.stderr or "denied" in run.stderr):
        pytest.skip(f"this machine lets nobody mount: {run.stderr.strip()}")
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


@pytest.mark.skipif(not shutil.which("unshare"), reason="there is no unshare here")
def test_mounts_are_one_ledger_or_refused(memory):
    """Sixteen processes: half by a second mount of the folder, some by a mount of the file alone, which is refused."""
    folder = memory / "folder"
    names = [folder / "ledger", memory / "mounted" / "ledger", memory / "alone"]
    assert mounted(memory, CROWD, "names", 16, 40, *names) == "300"
    ledger = Ledger(folder / "ledger")
    assert (ledger.document("doc").spent, ledger.counts()[2]) == (300, 300)
    ledger.check()


def test_a_mount_of_the_file_alone_is_refused(path, ledger, monkeypatch):
    """As far as it can be seen without a mount: by what the system lists as mounted, with its escapes."""
    listed = path.with_name("mount info")
    name = os.fsencode(path.resolve()).replace(b" ", rb"\040")
    listed.write_bytes(
        b"22 1 0:21 / /proc rw - proc proc rw\n" + b"36 35 98:0 /x " + name + b" rw - ext4 /dev/a rw\n"
    )
    monkeypatch.setattr("publius.privacy.ledger.one_name._MOUNTS", listed)
    with pytest.raises(StorageError, match="mount the folder"):
        ledger.spend([Charge("a", 1)])
