"""Other tools' files of word vectors: the format (`file_format`), one pass over it (`reader`), `kept_rows`."""
