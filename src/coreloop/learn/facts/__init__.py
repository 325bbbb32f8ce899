"""A log as columns: requests, calls and their arguments, read once; everything else is a query over them."""
