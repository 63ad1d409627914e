"""Adversaries and topic classifiers, in one grammar: ``fit(X, y)`` on labelled bags, ``predict(X)`` on others.

Each can be fitted on clean texts or on texts put through the same mechanism; the second is the adaptive adversary.
"""
