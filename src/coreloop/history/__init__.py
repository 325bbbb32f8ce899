"""What git knows: commits, their trailers, and the promotions that they tell of."""
