-- Files, and their passages with the words of `coreloop.answer.text.terms`. Of a file, its version decides
-- whether it is read again; ``reason`` says why it has no text, or is "". A passage is of the ``kind`` text, or what the
-- file declares: class, function (whose ``heading`` is the qualified name) or schema (``#`` and where it stands).
-- ``start`` counts characters of the file's text, which has neither control nor invisible ones.
CREATE TABLE documents (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    version TEXT NOT NULL,
    reason TEXT NOT NULL,
    type TEXT NOT NULL,
    title TEXT NOT NULL,
    indexed_at TEXT NOT NULL
);
CREATE TABLE passages (
    id INTEGER PRIMARY KEY,
    document_id INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    heading TEXT NOT NULL,
    text TEXT NOT NULL,
    line INTEGER NOT NULL,
    "start" INTEGER,
    published TEXT NOT NULL,
    is_documented INTEGER NOT NULL
);
CREATE TABLE vectors (id INTEGER PRIMARY KEY, vector BLOB NOT NULL);
CREATE INDEX passages_by_document ON passages (document_id);
CREATE VIRTUAL TABLE passage_words USING fts5(
    heading, words, tokenize="unicode61 remove_diacritics 2 tokenchars '_-.+#'"
);
CREATE VIRTUAL TABLE entry_words USING fts5(
    heading, words, tokenize="unicode61 remove_diacritics 2 tokenchars '_-.+#'"
);
CREATE VIRTUAL TABLE passage_vocabulary USING fts5vocab(passage_words, row);
CREATE TRIGGER passage_gone AFTER DELETE ON passages BEGIN
    DELETE FROM passage_words WHERE rowid = old.id; DELETE FROM entry_words WHERE rowid = old.id; DELETE FROM vectors WHERE id = old.id; END;
