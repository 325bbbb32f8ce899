"""What the requests of a session held that were imported before, for where arguments came from."""

from coreloop.observe.importers.trace import TracedRequest
from coreloop.observe.sources import SessionSources, Sources


class ImportedSessions:
    """Memories of the sessions of one import."""

    def __init__(self) -> None:
        self._sessions = SessionSources()
        self._last_s: dict[str, float] = {}

    def sources_of(self, request: TracedRequest) -> Sources:
        """The memory for a request; of one that comes after a later one, nothing before it is known."""
        session, ended_s = request.session_id, request.ended.timestamp()
        if session is None:
            return Sources()
        if ended_s < self._last_s.get(session, ended_s):
            unknown = Sources()
            unknown.mark_incomplete()
            return unknown
        self._last_s[session] = ended_s
        return self._sessions.open(session, ended_s)

    def pass_over(self, request: TracedRequest) -> None:
        """Note that a request is not read, since a record of it is there already."""
        if request.session_id is not None:
            self.sources_of(request).mark_incomplete()
