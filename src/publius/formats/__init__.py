"""Other tools' files of word vectors: which format (`layout`), one pass over it (`reader`), what is kept (`table`)."""
