"""A world of documents that most processes of a target need, apart from what takes a program to solve."""

import numpy as np

from publius.audit.toy_references import document_worlds
from publius.mechanisms.registry import make_document_mechanism

DOCUMENTS = next(
    world
    for world in document_worlds(40)
    if world.gamma == 0 and world.bound > 2 and world.reference.aspect("topic").rule == "nearest"
    and len({int(row.argmax()) for row in make_document_mechanism(
        "prototype", world.reference, **world.parameters
    ).law([np.array([place]) for place in range(3)])}) > 1
)  # fmt: skip
