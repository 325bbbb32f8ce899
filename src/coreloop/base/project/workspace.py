"""The paths of a project's files."""

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from posixpath import normpath

from coreloop.base.files import close_to_others, read_file
from coreloop.base.project.settings import Settings
from coreloop.base.project.settings_file import FILE_NAME, load_settings


@dataclass(frozen=True, slots=True)
class Workspace:
    """A project's folder and its settings.

    Parameters
    ----------
    root : Path
        Absolute; contains coreloop.yaml if the project has it.
    settings : Settings
        The settings of coreloop.yaml, or the defaults.
    """

    root: Path
    settings: Settings

    @property
    def audit_dir(self) -> Path:
        return self.root / self.settings.data_dir / "audit"

    @property
    def records_dir(self) -> Path:
        return self.audit_dir / "ai-ask"

    @property
    def own_records_dir(self) -> Path:
        """What coreloop itself was asked (`ask`, `research`, the service), apart from the agent's records."""
        return self.audit_dir / "own"

    @property
    def contexts_dir(self) -> Path:
        """What models had read up to each call, if it is kept; see `coreloop.observe.record_parts`."""
        return self.audit_dir / "contexts"

    @property
    def candidates_dir(self) -> Path:
        return self.audit_dir / "candidates"

    @property
    def counterexamples_dir(self) -> Path:
        return self.audit_dir / "counterexamples"

    @property
    def judgments_dir(self) -> Path:
        return self.audit_dir / "judgments"

    @property
    def facts_dir(self) -> Path:
        """The facts of the records; safe to delete."""
        return self.audit_dir / "facts"

    @property
    def knowledge_dir(self) -> Path:
        return self.root / self.settings.data_dir / "ai" / "knowledge"

    @property
    def knowledge_file(self) -> Path:
        """The knowledge database, with the file name that dartlab uses."""
        return self.knowledge_dir / "dartlab_knowledge.db"

    @property
    def archive_dir(self) -> Path:
        """Snapshots of the knowledge database, in clear text."""
        return self.knowledge_dir / "_archive"

    @property
    def runs_dir(self) -> Path:
        """The database of runs, see `coreloop.runs.stores.store`; questions and results in clear text."""
        return self.root / self.settings.data_dir / "runs"

    @property
    def index_file(self) -> Path:
        """The index of files, see `coreloop.answer.search.index`; their text in clear. Safe to delete."""
        name = "morphemes.db" if self.settings.search.morphemes else "index.db"
        if encoder := self.settings.search.encoder:
            name = f"{sha256(encoder.encode('utf-8', 'replace')).hexdigest()[:12]}-{name}"
        return self.root / self.settings.data_dir / "index" / name

    @property
    def search_paths(self) -> list[Path]:
        """Files and folders that should be indexed."""
        return [self.root / path for path in self.settings.search.paths if path[:1] != "!"] or [self.root]

    @property
    def schemas(self) -> frozenset[str]:
        """Declared schemas by their paths from the project's folder, without ``./`` and ``//``."""
        return frozenset(map(normpath, self.settings.schemas))

    @property
    def audit_notes_dir(self) -> Path:
        """Notes about companies, written by people: ``{stock code}.md``."""
        return self.root / self.settings.data_dir / "dart" / "auditAnalysis"

    @property
    def replays_file(self) -> Path:
        """Ids of coreloop's own replayed requests, one per line; they are never mined."""
        return self.audit_dir / "replays.txt"

    @property
    def dropped_file(self) -> Path:
        """Counts of requests that the collectors could not record, see `coreloop.observe.journal`."""
        return self.audit_dir / "dropped.jsonl"

    @property
    def reach_file(self) -> Path:
        """Outcomes of reach checks, see `coreloop.promote.reach`."""
        return self.audit_dir / "reach.jsonl"

    @property
    def measured_file(self) -> Path:
        """What lines do to a model's next call, see `coreloop.promote.measure`."""
        return self.audit_dir / "measured.jsonl"

    @property
    def replies_file(self) -> Path:
        """A model's replies, so that a measurement goes on where it stopped. Safe to delete."""
        return self.audit_dir / "measured-replies.jsonl"

    @property
    def effects_file(self) -> Path:
        """Effects that cannot change any more, see `coreloop.learn.effect.run`. Safe to delete."""
        return self.audit_dir / "effects.json"

    def keep_private(self, path: Path) -> None:
        """Close one of coreloop's folders or files, which a clone or an older version left open, to others.

        Only `runs_dir` and paths in it, in `audit_dir` or in `knowledge_dir.parent`, and only those of this
        user.
        """
        own = {folder.resolve() for folder in (self.audit_dir, self.knowledge_dir.parent, self.runs_dir)}
        if not own.isdisjoint(path.resolve().parents) or path.resolve() == self.runs_dir.resolve():
            close_to_others(path)

    def replayed(self) -> frozenset[str]:
        """Return the ids in the replays file."""
        ids = read_file(self.replays_file) if self.replays_file.exists() else b""
        return frozenset(ids.decode("utf-8", "replace").splitlines()) - {""}


def open_workspace(start: Path) -> Workspace:
    """Open the workspace of a folder.

    Parameters
    ----------
    start : Path
        The root is ``start`` or its nearest parent with a coreloop.yaml; without coreloop.yaml, ``start``.

    Raises
    ------
    SettingsError
        coreloop.yaml cannot be used.
    """
    root = find_root(start)
    return Workspace(root, load_settings(root))


def find_root(start: Path) -> Path:
    """Return the nearest parent of a folder with a coreloop.yaml, or the folder itself; absolute."""
    start = start.absolute()
    return next((folder for folder in (start, *start.parents) if (folder / FILE_NAME).is_file()), start)
