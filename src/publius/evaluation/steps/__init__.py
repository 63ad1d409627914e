"""From a file of texts to a release that someone can sign: what `publius start` and the explorer call alike."""
