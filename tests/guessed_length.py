"""How well the lengths of documents are predicted from what was released of them, against chance."""

import numpy as np
import pytest
from scipy.stats import t

from publius.noise.randomness import seeded_rng


def excess(table, wanted, predicted_by, permutations):
    """How many standard deviations better a length is predicted, cross-validated, than shuffled lengths are."""
    rng = seeded_rng(5)
    folds = rng.permutation(len(wanted)) % 5
    targets = np.column_stack([wanted, *(wanted[rng.permutation(len(wanted))] for _ in range(permutations))])
    guesses = np.empty(targets.shape)
    for fold in range(5):
        train, test = folds != fold, folds == fold
        guesses[test] = predicted_by(table[train], targets[train], table[test])
    found, *by_chance = (
        np.corrcoef(guess, target)[0, 1] if guess.std() else 0.0
        for guess, target in zip(guesses.T, targets.T, strict=True)
    )
    return (found - np.mean(by_chance)) / np.std(by_chance)


def ridge(x, targets, other):
    """By as many equations as there are texts: there are far more words."""
    mean = x.mean(axis=0)
    centred = x - mean
    weights = np.linalg.solve(centred @ centred.T + 10.0 * np.eye(len(x)), targets - targets.mean(axis=0))
    return (other - mean) @ centred.T @ weights + targets.mean(axis=0)


def boosting(x, targets, other):
    from sklearn.ensemble import GradientBoostingRegressor

    often = np.argsort(-(x > 0).sum(axis=0))[:60]
    model = GradientBoostingRegressor(n_estimators=12, learning_rate=0.2, max_depth=2, random_state=1)
    return np.column_stack([model.fit(x[:, often], y).predict(other[:, often]) for y in targets.T])


def chance(permutations, alarm=1e-8):
    """What a share ``alarm`` of runs exceeds by chance: the deviation is known from so few shuffled lengths only."""
    return t.isf(alarm, permutations - 1) * np.sqrt((permutations + 1) / (permutations - 1))


PREDICTORS = [(ridge, 60), pytest.param(boosting, 20, marks=pytest.mark.long)]
