"""The system calls that this process may still make: a seccomp filter.

Landlock decides what may be opened. It says nothing of sockets other than TCP's, of the modes, owners, dates,
attributes and locks of files, of the machine, or of other processes and what they share; so calls for these are
refused here, with "operation not permitted", for good. New threads are let through, new processes are not; signals and
limits for this process alone; and of what can be asked of an open file, what Python asks. No file is emptied by being
opened to read.
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from typing import Final

_PR_SET_SECCOMP, _FILTER, _NO_NEW_PRIVILEGES, _SIGNAL_OF_DEATH = 22, 2, 38, 1
_KILLED: Final = 9
_ALLOW, _REFUSE, _NOT_THERE = 0x7FFF0000, 0x00050000 | 1, 0x00050000 | 38
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_NUMBER, _FIRST, _SECOND, _THIRD = 0, 16, 24, 32  # where a call's number stands, and its first arguments
_ARCHITECTURES: Final = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
_OTHER_NUMBERING: Final = 0x40000000  # x32: the same calls under other numbers
_SOCKET: Final = (41, 198)
_PAIR: Final = (53, 199)
"""Two sockets that are connected with each other. Streams stay so, and asyncio cannot do without them; a datagram of
any other kind of them goes to every socket of the machine that has a path."""
_LOCAL: Final = 1
_INTERNET: Final = (2, 10)
_KINDS: Final = (1, 2)  # a stream; and a datagram, which looks names up
_CLONE: Final = (56, 220)
_CLONE3: Final = 435  # its flags lie in memory: the C library takes `clone` where there is none
_THREAD: Final = 0x10000

_REFUSED: Final = {
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, None), "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54),
    "utime": (132, None), "utimes": (235, None), "futimesat": (261, None), "utimensat": (280, 88),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "setxattrat": (463, 463),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16), "removexattrat": (466, 466),
    "truncate": (76, 45), "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    "inotify_init": (253, None), "inotify_init1": (294, 26), "fanotify_init": (300, 262),
    "io_uring_setup": (425, 425), "ptrace": (101, 117), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "pidfd_open": (434, 434), "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424), "kill": (62, 129), "tkill": (200, 130), "rt_sigqueueinfo": (129, 138),
    "shmget": (29, 194), "msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180),
    "shmat": (30, 196), "shmctl": (31, 195), "shmdt": (67, 197), "msgsnd": (69, 189), "msgrcv": (70, 188),
    "msgctl": (71, 187), "semop": (65, 193), "semctl": (66, 191), "semtimedop": (220, 192), "mq_unlink": (241, 181),
    "getxattr": (191, 8), "lgetxattr": (192, 9), "fgetxattr": (193, 10), "getxattrat": (464, 464),
    "listxattr": (194, 11), "llistxattr": (195, 12), "flistxattr": (196, 13), "listxattrat": (465, 465),
    "file_getattr": (468, 468), "file_setattr": (469, 469), "mknod": (133, None), "mknodat": (259, 33),
    "fork": (57, None), "vfork": (58, None), "rt_tgsigqueueinfo": (297, 240), "process_madvise": (440, 440),
    "process_mrelease": (448, 448), "kcmp": (312, 272), "migrate_pages": (256, 238), "move_pages": (279, 239),
    "setpriority": (141, 140), "ioprio_set": (251, 30), "sched_setparam": (142, 118), "sched_setattr": (314, 274),
    "sched_setscheduler": (144, 119), "sethostname": (170, 161), "setdomainname": (171, 162),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171), "clock_adjtime": (305, 266),
    "chroot": (161, 51), "pivot_root": (155, 41), "open_tree": (428, 428), "move_mount": (429, 429),
    "fsopen": (430, 430), "fspick": (433, 433), "mount_setattr": (442, 442), "syslog": (103, 116),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219), "bpf": (321, 280),
    "perf_event_open": (298, 241), "mount": (165, 40), "umount2": (166, 39), "unshare": (272, 97),
    "setns": (308, 268), "execve": (59, 221), "execveat": (322, 281), "flock": (73, 32), "setpgid": (109, 154),
    "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225), "acct": (163, 89), "vhangup": (153, 58),
    "quotactl": (179, 60), "quotactl_fd": (443, 443), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "kexec_load": (246, 104), "kexec_file_load": (320, 294), "iopl": (172, None),
    "ioperm": (173, None), "setuid": (105, 146), "setgid": (106, 144), "setreuid": (113, 145), "setregid": (114, 143),
    "setgroups": (116, 159), "setresuid": (117, 147), "setresgid": (119, 149), "setfsuid": (122, 151),
    "setfsgid": (123, 152), "capset": (126, 91), "setsid": (112, 157), "open_tree_attr": (467, 467),
    "statmount": (457, 457),
    "listmount": (458, 458), "statfs": (137, 43), "fstatfs": (138, 44), "ustat": (136, None), "sysfs": (139, None),
}  # fmt: skip
"""Number of each call on the two architectures; None where it has none.

Whoever changes whose it is, as root can, no longer ends with its parent (`ends_with`): the kernel forgets that.
"""

_OF_ITSELF: Final = {"tgkill": (234, 131), "prlimit64": (302, 261), "sched_setaffinity": (203, 122)}
"""The same of calls that are let through for the process that makes them."""


_OF_FILES: Final = {
    "ioctl": ((16, 29), (0x5401, 0x802C542A, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)),
    "fcntl": ((72, 25), (0, 1, 2, 3, 4, 1030)),
}
"""Calls that do many things, and what may be asked by them: whether it is a terminal and of what size, how much can be
read, whether to wait, what a program that is started inherits, and a copy of a descriptor. Not its attributes and
locks, nor who is told of it: signals go to any process by that, before Landlock's version 6."""

_OPEN: Final = {"open": ((2, None), _SECOND), "openat": ((257, 56), _THIRD)}
"""Calls that open a file, and where their flags stand. Landlock before its version 3 lets whoever may read a file empty
it by them."""
_EMPTYING: Final = 0x200
_WAYS: Final = 3  # the bits that say whether to read or to write
_WRITING: Final = (1, 2)
_OPENAT2: Final = 437  # its flags lie in memory: libraries take `openat` where there is none

_PRCTL: Final = (157, 167)
"""It is not let through for what `ends_with` asked of it."""


class _Step(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint16), ("then", ctypes.c_uint8), ("otherwise", ctypes.c_uint8),
                ("value", ctypes.c_uint32)]  # fmt: skip


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_uint16), ("steps", ctypes.POINTER(_Step))]


def ends_with(parent: int) -> bool:
    """Let the kernel of Linux end this process when ``parent`` is gone, and be it killed; whether it is still there."""
    if sys.platform != "linux":
        return True
    ctypes.CDLL(None).prctl(_SIGNAL_OF_DEATH, _KILLED, 0, 0, 0)
    return os.getppid() == parent


def refuse_calls(*, internet: bool) -> bool:
    """Refuse these calls, and sockets but for the Internet's where ``internet``; whether the system can do that.

    To be called before there are other threads.
    """
    known = _ARCHITECTURES.get(platform.machine())
    if sys.platform != "linux" or known is None or sys.maxsize < 2**32:
        return False
    steps = _steps(*known, os.getpid(), internet=internet)
    program = _Program(len(steps), (_Step * len(steps))(*(_Step(*step) for step in steps)))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    return int(libc.prctl(_PR_SET_SECCOMP, _FILTER, ctypes.byref(program), 0, 0)) == 0


def _steps(
    architecture: int, column: int, process: int, *, internet: bool
) -> list[tuple[int, int, int, int]]:
    """The program: each jump is over a few of the steps that follow."""
    refuse, allow = (_RETURN, 0, 0, _REFUSE), (_RETURN, 0, 0, _ALLOW)
    steps = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, architecture), refuse, (_LOAD, 0, 0, _NUMBER)]
    if column == 0:
        steps += [(_AT_LEAST, 0, 1, _OTHER_NUMBERING), refuse]
    for numbers in _REFUSED.values():
        if (number := numbers[column]) is not None:
            steps += [(_EQUAL, 0, 1, number), refuse]
    own = [(_LOAD, 0, 0, _FIRST), (_EQUAL, 2, 0, 0), (_EQUAL, 1, 0, process), refuse, allow]
    for numbers in _OF_ITSELF.values():
        steps += [(_EQUAL, 0, len(own), numbers[column]), *own]
    for numbers, asked in _OF_FILES.values():
        some = [(_EQUAL, len(asked) - place, 0, value) for place, value in enumerate(asked)]
        own = [(_LOAD, 0, 0, _SECOND), *some, refuse, allow]
        steps += [(_EQUAL, 0, len(own), numbers[column]), *own]
    own = [(_LOAD, 0, 0, _FIRST), (_EQUAL, 0, 1, _SIGNAL_OF_DEATH), refuse, allow]
    steps += [(_EQUAL, 0, len(own), _PRCTL[column]), *own]
    thread = [(_LOAD, 0, 0, _FIRST), (_ANY_BIT, 1, 0, _THREAD), refuse, allow]
    steps += [(_EQUAL, 0, len(thread), _CLONE[column]), *thread]
    for numbers, flags in _OPEN.values():
        if (number := numbers[column]) is not None:
            own = [(_LOAD, 0, 0, flags), (_ANY_BIT, 0, 4, _EMPTYING), (_AND, 0, 0, _WAYS)]
            own += [(_EQUAL, 2, 0, _WRITING[0]), (_EQUAL, 1, 0, _WRITING[1]), refuse, allow]
            steps += [(_EQUAL, 0, len(own), number), *own]
    for number in (_CLONE3, _OPENAT2):
        steps += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _NOT_THERE)]
    pair = [(_LOAD, 0, 0, _FIRST), (_EQUAL, 1, 0, _LOCAL), refuse, *_kinds(_KINDS[:1])]
    steps += [(_EQUAL, 0, len(pair), _PAIR[column]), *pair]
    if not internet:
        return [*steps, (_EQUAL, 0, 1, _SOCKET[column]), refuse, allow]
    steps += [(_EQUAL, 1, 0, _SOCKET[column]), allow]
    steps += [(_LOAD, 0, 0, _FIRST), (_EQUAL, 2, 0, _INTERNET[0]), (_EQUAL, 1, 0, _INTERNET[1]), refuse]
    return [*steps, *_kinds(_KINDS)]


def _kinds(kinds: tuple[int, ...]) -> list[tuple[int, int, int, int]]:
    """The steps that let sockets of these kinds through; the second argument has other marks, too."""
    known = [(_EQUAL, len(kinds) - place, 0, kind) for place, kind in enumerate(kinds)]
    return [
        (_LOAD, 0, 0, _SECOND),
        (_AND, 0, 0, 0xF),
        *known,
        (_RETURN, 0, 0, _REFUSE),
        (_RETURN, 0, 0, _ALLOW),
    ]
