"""A log as columns, read once; everything else is a query over them.

The facts of a file of records are five tables (`coreloop.learn.facts.schema` has their types; a window of
days has them all with ``file``, the index of the file: `coreloop.learn.mine.window.Window`). No table holds a
user's words or an argument's text: what is shown is read again from the log, by file and offset.

Keys. A request is its ``offset`` (with several files, ``file`` and ``offset``), a call its request and
``call``, its place from 0. A hash stands for the same text everywhere; ``texts`` has those that may be shown.

``requests``, a row per record:

- ts_us, offset; id (null: none); session (0: none); question; template (of the question in lower case, with
  ``*`` for quoted parts and for words with a digit, @, / or backslash; null: no question)
- category, model, provider (empty: none); pattern, sequence, shape
- chunk_len (characters of the answer; null: not recorded); decided (1 success, 0 failure, -1 neutral,
  -2 unknown; null: the length decides), judged; omitted (calls that did not fit on the line); signals (bits
  of `coreloop.base.error_classes`). `counting.count_requests` gives the outcome under the settings.
- case: up to eight hashes, as recorded in ``case``; else, for records without a session, those of the
  identifiers in the arguments (`coreloop.observe.case_keys`). Null: neither, or no argument has any.
- tools_version, descriptions (``desc:HASH``; `descriptions.sent_tools` has the hash of each tool's
  description), rounds, duration_us, input_tokens, output_tokens, cost_usd; each null if not recorded

``calls``, a row per call in order:

- ts_us, offset, provider (of its request); call; tool; shape; names (hash of the JSON list of its argument
  names)
- error_class (empty: it did not fail), template (hash of the error's text without values; 0: it did not fail)
- unknown: why it is unknown whether it succeeded; null: it is known. `counting.known_calls` has the others
- retry: it came after a failed call of the same tool in its request
- recovered: a later call of the same tool in its request worked; null: it did not fail itself
- flagged, overrides; duration_us, result_bytes (null: not recorded)

``arguments``, a row per argument that a call has:

- offset, call, name
- kind: ``null`` (which counts as absent), ``empty`` (text, list or object), ``unknown`` (too long to be
  recorded), ``boolean``, ``number``, ``text``, ``list``, ``object``
- value: 32-bit hash, equal for equal values (``"1"``, 1 and 1.0 are equal; lists and objects as a whole);
  null if the kind is null, empty or unknown. `values.texts_by_hash` gives the hashes of declared values.
- number: of a number; of a date or time its seconds since 1970, as written, without its offset; else null
- shape (of texts and numbers), letters, length, prefix: see `coreloop.learn.facts.values`
- sources: hash of the earlier places of its value, the nearest first; of ``[]``, if it occurred nowhere; null
  if not recorded

``saw``, a row per field of the object that an earlier result last showed for an argument's value:

- offset, call, argument, field
- literal: as text (``delivered``, ``true``, ``3``); null if the field had another value than the source names

A call has rows in ``saw`` only if its record says so.

``texts``: kind, hash, text. Kinds: sequence, shape, call, template (of errors), names, sources.
"""
