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

import pytest
from hypothesis import given
from hypothesis import strategies as st

from publius.errors import BudgetError, DataError, StorageError, UsageError
from publius.privacy import ledger as module
from publius.privacy.ledger import Ledger

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
    run = subprocess.run([sys.executable, CROWD, *map(str, arguments)], capture_output=True, text=True, check=True)
    return run.stdout.strip()


def test_an_author_is_charged_up_to_the_budget(ledger):
    ledger.spend({"a": 4, "b": 10})
    ledger.spend({"a": 6})
    assert [(ledger.account(name).spent, ledger.account(name).remaining) for name in "abc"] == [
        (10, 0), (10, 0), (0, 10),
    ]  # fmt: skip
    with pytest.raises(BudgetError, match=r"an author has 0 of 10 .*Nothing was released and nothing debited") as spent:
        ledger.spend({"a": Fraction(1, 10**300)})
    assert spent.value.account == "a"
    with pytest.raises(BudgetError, match=r"an author has 10 of 10 .*smaller epsilon"):
        ledger.spend({"c": 11})


@pytest.mark.parametrize("name", ["Ann", " ANN\n", "\uff21nn", "\u1d2cnn"])
def test_an_author_has_one_account_however_the_name_is_spelled(path, name):
    """Compared after NFKC, case folding and trimming."""
    ledger = Ledger.create(path, budget=15)
    ledger.spend({"ann": 8})
    with pytest.raises(BudgetError, match="has 7 of"):
        ledger.spend({name: 8})
    assert ledger.account(name).author == "ann"


def test_spellings_of_one_author_are_added_in_one_debit(ledger):
    with pytest.raises(BudgetError):
        ledger.spend({"caf\u00e9": 6, "cafe\u0301": 6})
    ledger.spend({"caf\u00e9": 6, "cafe\u0301": 4})
    assert (ledger.account("CAF\u00c9").spent, ledger.account("caf\u00e9").releases) == (10, 1)


def test_labels_and_summaries_of_an_author_share_one_account(ledger):
    """0.3 kept two: seven of seven were spent on rows, and a summary of the same people went through."""
    ledger.spend({"ann": 7, "bob": 7})  # rows
    with pytest.raises(BudgetError):
        ledger.spend({"ann": 4})  # a summary


def test_it_is_checked_at_one_moment(ledger, path, monkeypatch):
    """Between two looks somebody else may have spent."""
    ledger.spend({"Ann": 1})
    moments, opened = [], module._opened
    monkeypatch.setattr(module, "_opened", lambda path: moments.append(path) or opened(path))
    assert (ledger.check(), moments) == (1, [path])


def test_an_amount_beyond_all_floats_is_refused_as_any_other(ledger):
    with pytest.raises(BudgetError, match="would cost inf"):
        ledger.spend({"Ann": 10**400})


def test_one_overspent_author_refuses_the_whole_release(ledger):
    with pytest.raises(BudgetError):
        ledger.spend({"a": 4, "b": 10.5})
    assert (ledger.account("a").spent, ledger.check()) == (0, 0)


def test_sums_are_exact(ledger):
    """Small amounts that float64 would lose; a float is the decimal number that it is written as."""
    ledger.spend({"a": 1})
    for _ in range(20):
        ledger.spend({"a": Fraction(1, 2**60)})
    assert ledger.account("a").spent == 1 + Fraction(20, 2**60)
    for _ in range(3):
        ledger.spend({"b": 0.1})
    assert ledger.account("b").spent == Fraction(3, 10)


def test_a_ledger_counts_one_of_two_units(path, tmp_path):
    assert Ledger.create(path, budget=10, unit="exponent").unit == Ledger(path).unit == "exponent"
    with pytest.raises(UsageError, match="epsilon"):
        Ledger.create(tmp_path / "other", budget=10, unit="pounds")


BAD_AMOUNTS = [math.nan, math.inf, -math.inf, -1, 0, 0.0, -0.0, "x", b"1", None, True, 1j, [1]]


@pytest.mark.parametrize("amount", BAD_AMOUNTS, ids=repr)
def test_amounts_that_are_none_are_refused(amount, ledger, tmp_path):
    with pytest.raises(UsageError):
        ledger.spend({"a": amount})
    with pytest.raises(UsageError):
        Ledger.create(tmp_path / "other", budget=amount)
    assert ledger.check() == 0
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("name", ["", " ", None], ids=["empty", "blank", "none"])
def test_names_that_are_none_are_refused(name, ledger):
    with pytest.raises(UsageError, match="an author is a text"):
        ledger.spend({name: 1})


def test_amounts_that_cannot_be_written_down_are_refused(ledger):
    with pytest.raises(UsageError, match="digits"):
        ledger.spend({"a": Fraction(1, 3**9000) + 1})


@given(st.fractions(min_value=Fraction(1, 10**9)))
def test_amounts_survive_being_stored(amount):
    assert module._amount_of(module._text(amount), Path("here")) == amount


@pytest.mark.parametrize("text", ["", "1", "1/0", "-1/2", "2/4", "0/1", "1 /2", "nan", None, 7, "1/" + "1" * 9000])
def test_stored_amounts_that_are_none_are_refused(text):
    with pytest.raises(DataError):
        module._amount_of(text, Path("here"))


def test_an_empty_release_costs_nothing(ledger):
    ledger.spend({})
    assert ledger.check() == 0


def test_admit_looks_and_leaves(ledger):
    ledger.admit({"a": 10})
    with pytest.raises(BudgetError):
        ledger.admit({"a": 6, "A": 6})
    assert ledger.check() == 0


def test_files_are_the_owners_only(path):
    Ledger.create(path, budget=10)
    for file in path.parent.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert sorted(file.name for file in path.parent.iterdir()) == [path.name]


def test_a_ledger_is_never_replaced(ledger, path):
    ledger.spend({"a": 4})
    with pytest.raises(UsageError, match="never replaced"):
        Ledger.create(path, budget=10)
    assert Ledger(path).account("a").spent == 4


def test_no_name_stands_in_a_repr_or_an_error(ledger):
    ledger.spend({"secret-id": 1})
    assert "secret" not in repr(ledger)
    with pytest.raises(BudgetError) as error:
        ledger.spend({"secret-id": 10})
    assert "secret" not in str(error.value)


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
    "empty": cut(0), "header only": cut(100), "one page": cut(4096), "mid page": cut(10_000),
    "text": lambda path: path.write_text("a ledger\n" * 1000),
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "foreign": lambda path: (path.unlink(), foreign_database(path)),
    "other application": changed("PRAGMA application_id = 1"),
    "later version": changed("PRAGMA user_version = 99"),
    "debits beside the file": changed("PRAGMA journal_mode = WAL"), "no debits": changed("DROP TABLE debits"),
    "a trigger": changed("CREATE TRIGGER t AFTER INSERT ON accounts BEGIN DELETE FROM accounts; END"),
    "a view": changed("CREATE VIEW v AS SELECT 1"),
    "no budget": changed("DELETE FROM settings WHERE name = 'budget'"),
    "budget NaN": changed("UPDATE settings SET value = 'nan' WHERE name = 'budget'"),
    "budget negative": changed("UPDATE settings SET value = '-a/1' WHERE name = 'budget'"),
    "unit unknown": changed("UPDATE settings SET value = 'pounds' WHERE name = 'unit'"),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
}  # fmt: skip


@pytest.mark.parametrize("damage", HOSTILE)
def test_hostile_files_are_refused_and_left(damage, ledger, path):
    ledger.spend({f"doc{i}": 1 for i in range(100)})
    HOSTILE[damage](path)
    before = None if path.is_dir() else path.read_bytes()
    with pytest.raises(DataError):
        Ledger(path)
    with pytest.raises(DataError):
        ledger.spend({"a": 1})
    assert before is None or path.read_bytes() == before


def test_every_truncation_is_refused_or_harmless(ledger, path, tmp_path):
    """Cut at every 509th byte: refused on opening, or at the latest when it is checked or spent from."""
    ledger.spend({f"doc{i}": 1 for i in range(200)})
    size, copy = path.stat().st_size, tmp_path / "copy"
    for length in range(0, size, 509):
        shutil.copyfile(path, copy)
        os.truncate(copy, length)
        with pytest.raises(DataError):
            Ledger(copy).check()


@pytest.mark.parametrize(
    "statement",
    ["UPDATE accounts SET spent = '1/2' WHERE author = 'a'", "DELETE FROM accounts WHERE author = 'a'",
     "UPDATE accounts SET releases = 5 WHERE author = 'a'", "UPDATE accounts SET spent = 'b/1' WHERE author = 'a'",
     "DELETE FROM debits", "UPDATE debits SET authors = 7"],
)  # fmt: skip
def test_a_check_finds_what_was_tampered_with(statement, ledger, path):
    ledger.spend({"a": 4, "b": 2})
    ledger.check()
    changed(statement)(path)
    with pytest.raises(DataError, match=r"damaged|amount"):
        ledger.check()


def test_a_ledger_that_cannot_be_written_is_a_storage_error(ledger, path):
    lock = sqlite3.connect(path, isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("publius.privacy.ledger._BUSY_SECONDS", 0.05)
            with pytest.raises(StorageError, match="busy"):
                ledger.spend({"a": 1})
    finally:
        lock.close()
    assert ledger.account("a").spent == 0


@pytest.mark.long  # the audit tries it, too: spends at once end exactly at the cap
def test_sixteen_processes_end_exactly_at_the_cap(memory):
    """16 x 200 attempts to spend 1 against 3,000: 3,000 are admitted, 200 refused."""
    ledger = Ledger.create(memory / "ledger", budget=3000)
    assert crowd("spend", ledger.path, 16, 200) == "3000"
    assert (ledger.account("doc").spent, ledger.check()) == (3000, 3000)


def test_no_release_without_its_debit_however_it_is_killed(memory):
    """A process that debits, then releases, killed at 80 random instants; the torture kills more."""
    ledger = Ledger.create(memory / "ledger", budget=10**9)
    released = memory / "released"
    released.touch()
    crowd("kill", ledger.path, released, 80)
    releases = len(released.read_bytes())
    assert 0 < releases <= ledger.account("doc").spent <= releases + 80
    ledger.check()


def test_symbolic_links_and_relative_names_are_one_ledger(ledger, path, tmp_path, monkeypatch):
    (tmp_path / "link").symlink_to(path)
    (tmp_path / "second").symlink_to("link")
    monkeypatch.chdir(tmp_path)
    for name in ("link", "second", f"../{tmp_path.name}/./link"):
        Ledger(name).spend({"a": 3})
    with pytest.raises(BudgetError):
        Ledger(tmp_path / "second").spend({"a": 3})
    assert ledger.account("a").spent == 9
    assert sorted(file.name for file in tmp_path.iterdir()) == [path.name, "link", "second"]


def test_a_circle_of_links_is_a_storage_error(tmp_path):
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    with pytest.raises(StorageError, match="cannot open"):
        Ledger(tmp_path / "one")


def test_a_ledger_with_two_hard_links_is_refused_under_both(ledger, path):
    other = path.with_name("other")
    os.link(path, other)
    for use in (lambda: Ledger(other), lambda: Ledger(path), lambda: ledger.spend({"a": 1}), ledger.check):
        with pytest.raises(StorageError, match="2 names"):
            use()
    other.unlink()
    ledger.spend({"a": 10})


def test_a_debit_is_in_the_file_itself_when_spend_returns(ledger, path, tmp_path):
    """Not beside it, where another name or a copy would miss it, even while somebody else has the file open."""
    reader = sqlite3.connect(path)
    reader.execute("SELECT * FROM accounts").fetchall()
    ledger.spend({"a": 4})
    copy = tmp_path / "copy"
    shutil.copyfile(path, copy)
    reader.close()
    assert Ledger(copy).account("a").spent == 4


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
        memory / "ledger", memory / "link", memory / "again" / "link",
        memory / "again" / ".." / memory.name / "ledger",
    ]  # fmt: skip
    assert crowd("names", 16, 80, *names) == "1000"
    os.link(memory / "ledger", memory / "hard")
    assert crowd("names", 4, 3, *names, memory / "hard") == "0"
    os.unlink(memory / "hard")
    assert (ledger.account("doc").spent, ledger.check()) == (1000, 1000)
    ledger.check()


def mounted(memory, script, *arguments):
    """Runs ``script`` where the ledger's folder is mounted a second time, and the ledger alone at ``alone``."""
    (memory / "folder").mkdir()
    (memory / "mounted").mkdir()
    (memory / "alone").touch()
    mounts = 'mount --bind "$0/folder" "$0/mounted" && mount --bind "$0/folder/ledger" "$0/alone" && exec "$@"'
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
    assert (ledger.account("doc").spent, ledger.check()) == (300, 300)
    ledger.check()


def test_a_mount_of_the_file_alone_is_refused(path, ledger, monkeypatch):
    """As far as it can be seen without a mount: by what the system lists as mounted, with its escapes."""
    listed = path.with_name("mount info")
    name = os.fsencode(path.resolve()).replace(b" ", rb"\040")
    listed.write_bytes(b"22 1 0:21 / /proc rw - proc proc rw\n" + b"36 35 98:0 /x " + name + b" rw - ext4 /dev/a rw\n")
    monkeypatch.setattr("publius.privacy.ledger._MOUNTS", listed)
    with pytest.raises(StorageError, match="mount the folder"):
        ledger.spend({"a": 1})
