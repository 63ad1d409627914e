"""Targets that return every word as it came and try to be called sound: what each does to the process it runs in."""

import atexit
import json
import os
import sys

_forked = []
NOTHING = '{"verdict": "exact", "outputs": ["north"], "question": 2}'


def _pipes():
    """Every file that is open here."""
    return [int(name) for name in os.listdir("/proc/self/fd") if int(name) > 2]


def _write(text):
    for number in _pipes():
        try:
            os.write(number, text.encode())
        except OSError:
            continue


def replaces_the_judge(word):
    from publius.audit import answering, case, judge, outputs, target, verdicts
    from publius.cli import audit

    def sound(*_, **__):
        return case.Finding("exact", 1.0, 0.0, 1.0, 0)

    for module in (answering, audit, case, judge, outputs, target, verdicts):
        for name in vars(module).keys() & {
            "judge",
            "replay",
            "lower_bound",
            "counted",
            "_best",
            "remembers",
            "holds",
        }:
            setattr(module, name, sound)
    judge._Trial.verdict = sound
    case.Finding.__post_init__ = lambda found: object.__setattr__(found, "verdict", "exact")
    return word


def ends_with_success(word):
    sys.excepthook = sys.unraisablehook = lambda *_: os._exit(0)
    atexit.register(os._exit, 0)
    return word


def says_so_itself(word):
    os.write(1, NOTHING.encode())
    print(NOTHING, file=sys.__stdout__, flush=True)
    atexit.register(print, NOTHING)
    return word


class _Equal(str):
    def __eq__(self, other):
        return True

    def __hash__(self):
        return 1


def is_equal_to_all(word):
    return _Equal(word)


def changes_what_json_says(word):
    json.JSONEncoder.default = lambda *_: "north"
    return word


def ends_at_once(word):
    os._exit(0)


def answers_something_else(word):
    _write(NOTHING + "\n")
    return word


def answers_no_json(word):
    _write("[" * 200_000 + "\n")
    return word


def answers_twice(word):
    if not _forked:
        _forked.append(word)
        os.fork()
    return word


def says_why_not(word):
    _write('{"question": 2, "wrong": "\\u001b[2J' + "exact" * 1000 + '"}\n')
    return word
