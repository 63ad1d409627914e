"""Mechanisms of other tools before the audit, each in an environment of its own: ``make court``."""
