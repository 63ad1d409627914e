"""How well a release hides the author and keeps the topic, measured on a labelled corpus of the user's own.

Everything here reads the rest of the package and nothing reads it. An evaluation is an experiment: its results
describe the documents it was run on and are no release.
"""
