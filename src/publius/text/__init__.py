"""Text to words to `Bag`: the tokenizer, stop lists, and the multiset without order."""
