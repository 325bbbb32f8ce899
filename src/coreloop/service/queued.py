"""The routes of jobs."""

from coreloop.errors import UsageError
from coreloop.jobs.job import Job
from coreloop.service.bodies import JobsQuery, JobsReply
from coreloop.service.problems import Problem, one_sentence
from coreloop.service.route import Call


def list_jobs(call: Call) -> JobsReply:
    """Return jobs, the newest first."""
    query: JobsQuery = call.query
    return JobsReply(tuple(call.service.desk.queue.jobs(status=query.status, limit=query.limit)))


def show_job(call: Call) -> Job:
    """Return a job."""
    try:
        return call.service.desk.queue.get(call.path("job_id"))
    except UsageError as error:
        raise Problem(404, "not_found", one_sentence(str(error))) from error
