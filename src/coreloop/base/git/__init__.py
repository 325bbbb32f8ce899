"""The git history: commits, their trailers, and the promotions in them."""
