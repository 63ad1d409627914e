"""Random bags over the toy vocabulary, and two independent ways to their Earth Mover's distance."""

from itertools import combinations_with_replacement

import numpy as np
from scipy.optimize import linear_sum_assignment, linprog
from scipy.sparse import block_diag, csr_array, eye_array, kron, vstack
from scipy.spatial.distance import cdist

from publius.embeddings.embeddings import word_indices
from publius.text.bag import UNKNOWN, Bag, bags_at
from toy import WORDS


def random_bag(rng, size, words=(*WORDS[:20], UNKNOWN)):
    return Bag([words[i] for i in rng.integers(0, len(words), size).tolist()])


def randomized(kernel, bag, rng):
    """The bag with each word drawn anew."""
    words = word_indices([*bag.words()], kernel.embeddings)
    return bags_at(kernel.embeddings, kernel.draw([words], [rng])[0][None])[0]


def vectors_of(bag, embeddings):
    """A row for each word, repeated as it occurs."""
    places = [embeddings.unknown_index if w == UNKNOWN else embeddings.index(w) for w in bag.words()]
    return embeddings.vectors[places].astype(float)


def by_assignment(a, b, embeddings, metric="euclidean"):
    """Equal sizes: the mean cost of the best pairing, word by word."""
    costs = cdist(vectors_of(a, embeddings), vectors_of(b, embeddings), metric)
    return costs[linear_sum_assignment(costs)].mean()


def by_linear_program(pairs, embeddings):
    """Any sizes: the definition, with a general solver; many pairs are independent blocks of one program."""
    costs, blocks, sides = [], [], []
    for a, b in pairs:
        x, y = vectors_of(a, embeddings), vectors_of(b, embeddings)
        costs.append(cdist(x, y).ravel())
        rows, columns = (kron(eye_array(len(x)), np.ones((1, len(y)))), kron(np.ones((1, len(x))), eye_array(len(y))))
        blocks.append(csr_array(vstack([rows, columns])))
        sides.append(np.concatenate([np.full(len(x), 1 / len(x)), np.full(len(y), 1 / len(y))]))
    answer = linprog(
        np.concatenate(costs), A_eq=block_diag(blocks), b_eq=np.concatenate(sides), method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )  # fmt: skip
    assert answer.status == 0
    ends = np.cumsum([len(part) for part in costs])[:-1]
    return np.array([part @ flow for part, flow in zip(costs, np.split(answer.x, ends), strict=True)])


def all_bags(words, size):
    """All multisets of ``size`` of ``words`` words, each row ascending."""
    return np.array(list(combinations_with_replacement(range(words), size)), np.int64)


def bag_kernel(kernel, size):
    """P(c|b) for all bags of ``size`` words in the order of `all_bags`, from K[x, w]: word by word, by convolution."""
    result, smaller = kernel, all_bags(len(kernel), 1)
    for count in range(2, size + 1):
        larger = all_bags(len(kernel), count)
        place = {tuple(bag): index for index, bag in enumerate(larger.tolist())}
        head = {tuple(bag): index for index, bag in enumerate(smaller.tolist())}
        rows = np.array([head[tuple(bag[:-1])] for bag in larger.tolist()])
        grown = np.zeros((len(larger), len(larger)))
        for word in range(len(kernel)):
            columns = [place[tuple(sorted((*bag, word)))] for bag in smaller.tolist()]
            grown[:, columns] += result[rows] * kernel[larger[:, -1], word][:, None]
        result, smaller = grown, larger
    return result
