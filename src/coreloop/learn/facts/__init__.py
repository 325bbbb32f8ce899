"""A log as groups of requests that are alike, read once; everything else is counted from them.

A group has in common its day, category, model and calls (the kinds of them, in order, with their errors),
how it ended as far as no setting decides, and its versions; see `coreloop.learn.facts.schema`. What its
requests do not share stands in packed columns, a row per request. No facts hold a user's words or an
argument's value: what is shown, and what is asked of single calls, is read again by file and offset.

The template of a question is its text in small letters, with ``*`` for quoted parts and for words with a
digit, @, / or backslash. The case of a request is up to eight hashes, as recorded in ``case``; else, without
a session, those of the identifiers in the arguments (`coreloop.observe.case_keys`).
"""
