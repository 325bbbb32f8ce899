"""Phase A: propose a new axis from a long history of promotions (R and F), for a human to build."""
