"""Publius in scikit-learn: `BagPrivatizer` and `LabelPrivatizer` protect texts, `SummaryClassifier` reads a summary.

What makes them differ from most estimators is meant: there is no ``random_state``, fitting learns nothing from
documents, and each call of ``transform`` draws anew, so that it is one more release of the same documents.
"""

from publius.sklearn.estimators import BagPrivatizer, LabelPrivatizer, SummaryClassifier

__all__ = ["BagPrivatizer", "LabelPrivatizer", "SummaryClassifier"]
