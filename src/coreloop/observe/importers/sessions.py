"""Memories of imported sessions, in which the sources of arguments are looked up."""

from coreloop.observe.importers.trace import TracedRequest
from coreloop.observe.sources import SessionSources, Sources


class ImportedSessions:
    """Memories of the sessions of one import."""

    def __init__(self) -> None:
        self._sessions = SessionSources()
        self._last_s: dict[str, float] = {}

    def sources_of(self, request: TracedRequest) -> Sources:
        """Return the memory for a request; requests that are out of order get an incomplete memory."""
        session, ended_s = request.session_id, request.ended.timestamp()
        if session is None:
            return Sources()
        if ended_s < self._last_s.get(session, ended_s):
            sources = Sources()
            sources.mark_incomplete()
            return sources
        self._last_s[session] = ended_s
        return self._sessions.open(session, ended_s)

    def skip(self, request: TracedRequest) -> None:
        """Mark a session's memory as incomplete, because a request is already recorded and not read."""
        if request.session_id is not None:
            self.sources_of(request).mark_incomplete()
