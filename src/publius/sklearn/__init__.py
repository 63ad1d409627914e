"""Publius in scikit-learn: `BagPrivatizer` protects documents, `BagClassifier` attacks them.

All take iterables of text; those of bags also count matrices whose columns are words. What makes them differ from most
estimators is meant: there is no ``random_state`` (R6), fitting learns nothing from documents (R14), and each call of
``transform`` draws anew, so that it is one more release of the same documents.
"""

from publius.sklearn.classifier import BagClassifier
from publius.sklearn.privatizer import BagPrivatizer

__all__ = ["BagClassifier", "BagPrivatizer"]
