"""The calls that a writer's process may not make, each tried in a process that refused them."""

import errno
import json
import subprocess
import sys

import pytest

TRIED = """
import ctypes, json, os, platform, resource, signal, sys, threading
from publius.releases.writing import system_calls as calls
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
if not calls.refuse_calls(internet=False):
    sys.exit(7)
column = calls._ARCHITECTURES[platform.machine()][1]
def ask(number, *given):
    ctypes.set_errno(0)
    numbers = [number, *given, -1, -1, -1, -1, -1, -1][:7]
    answer = libc.syscall(*map(ctypes.c_long, numbers))
    return ctypes.get_errno() if answer < 0 else 0
refused = {name: ask(each[column]) for name, each in calls._REFUSED.items() if each[column] is not None}
own, parent = os.getpid(), os.getppid()
of = {name: [ask(each[column], parent), ask(each[column], own)] for name, each in calls._OF_ITSELF.items()}
def child():
    try:
        return "forked" if os.fork() >= 0 else ""
    except PermissionError:
        return "refused"
clone3, fork = ask(calls._CLONE3, 0, 0), child()
done = []
threads = [threading.Thread(target=done.append, args=(each,)) for each in range(4)]
for each in threads: each.start()
for each in threads: each.join()
got = []
signal.signal(signal.SIGUSR1, lambda *told: got.append(1))
signal.raise_signal(signal.SIGUSR1)
resource.setrlimit(resource.RLIMIT_CORE, resource.getrlimit(resource.RLIMIT_CORE))
os.sched_setaffinity(0, os.sched_getaffinity(0))
print(json.dumps([refused, of, clone3, fork, len(done), len(got)]))
"""


@pytest.fixture(scope="module")
def tried():
    ended = subprocess.run(
        [sys.executable, "-c", TRIED], capture_output=True, text=True, timeout=60, check=False
    )
    if ended.returncode == 7:
        pytest.skip("this system cannot refuse calls")
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def test_every_call_is_refused(tried):
    assert {name: found for name, found in tried[0].items() if found != errno.EPERM} == {}
    assert len(tried[0]) > 60


def test_others_are_not_signalled_limited_or_moved_and_it_is_itself(tried):
    """With arguments that make no sense, so that nothing is done: another error than "not permitted" for its own."""
    assert {name: each[0] for name, each in tried[1].items()} == dict.fromkeys(tried[1], errno.EPERM)
    assert errno.EPERM not in {each[1] for each in tried[1].values()}


def test_it_starts_no_process_and_as_many_threads_as_it_likes(tried):
    assert tried[2:4] == [errno.ENOSYS, "refused"]
    assert tried[4:] == [4, 1]
