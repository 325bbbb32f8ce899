"""A project on disk: its settings, its folders, its tools and the files that ``init`` adds."""
