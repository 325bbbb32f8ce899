"""Pages where people look: review, health, runs, tools. The same for ``serve`` and for ``report``."""
