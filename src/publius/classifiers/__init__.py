"""Classifiers: public functions from a text to one of M public labels, one protocol, one store."""

from publius.classifiers.store import load_classifier, stored_classifiers

__all__ = ["load_classifier", "stored_classifiers"]
