"""The routes of jobs."""

from coreloop.base.errors import UsageError
from coreloop.runs.jobs.job import Job
from coreloop.web.bodies import JobsQuery, JobsReply
from coreloop.web.problems import Problem, one_sentence
from coreloop.web.route import Call


def list_jobs(call: Call) -> JobsReply:
    """Return jobs, the newest first."""
    query: JobsQuery = call.query
    return JobsReply(tuple(call.service.deps.queue.jobs(status=query.status, limit=query.limit)))


def show_job(call: Call) -> Job:
    """Return a job."""
    try:
        return call.service.deps.queue.get(call.path("job_id"))
    except UsageError as error:
        raise Problem(404, "not_found", one_sentence(str(error))) from error
