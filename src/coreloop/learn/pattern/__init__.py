"""Phase P: tool sequences that keep succeeding become candidates."""
