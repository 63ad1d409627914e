"""Two runs in a session on the cluster at MASTER; before the second the vectors are gone, but not the shipped ones."""

import shutil
import sys
from pathlib import Path

from publius.documents.corpus import open_corpus
from publius.mechanisms.kernels.laplace import Laplace
from publius.releases.engines import protect_corpus
from publius.releases.engines.spark import SparkEngine
from publius.releases.plan import Experiment, Plan
from publius.text.bag import Encoding
from publius.text.tokenizer import StopWords
from publius.vectors.embeddings import Embeddings


def main(master, folder, seed):
    vectors = Embeddings.open(folder / "vectors")
    encoding = Encoding(20, "unk", StopWords.load("none"), "word2vec")
    plan = Plan(Laplace(vectors, epsilon=2.0), encoding, experiment=Experiment(seed=seed))
    with SparkEngine(master):
        corpus = open_corpus(folder / "corpus.jsonl")
        protect_corpus(corpus, plan, folder / "first", engine="spark", master=master)
        shutil.move(folder / "vectors", folder / "elsewhere")
        protect_corpus(corpus, plan, folder / "second", engine="spark", master=master)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
