"""Words, sentences and claims of texts, Korean and English: what passages are ranked and checked by."""
