"""A log as columns, read once; everything else is a query over them.

The facts of records are five tables; `coreloop.learn.facts.schema` says what each column is. No table holds a
user's words or an argument's text: what is shown is read again from the log, by file and offset.

A request is its ``file`` and ``offset``, a call its request and ``call``, its place from 0. A hash stands for
the same text everywhere; ``texts`` has those that may be shown. In a window, ``file`` is the index of one of
its paths, and `coreloop.learn.mine.window.count_requests` adds the outcome under the settings.

The template of a question is its text in small letters, with ``*`` for quoted parts and for words with a
digit, @, / or backslash. The case of a request is up to eight hashes, as recorded in ``case``; else, without
a session, those of the identifiers in the arguments (`coreloop.observe.case_keys`); null if it has none.

An argument's value is a 32-bit hash, equal for equal values (``"1"``, 1 and 1.0 are equal; lists and objects
as a whole). A kind of ``null`` counts as absent. ``sources`` is the hash of ``[]`` if its value occurred
nowhere before. A call has rows in ``saw`` only if its record says so.
"""
