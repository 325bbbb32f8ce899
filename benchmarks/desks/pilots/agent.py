"""The pilots' agent and its tools."""

from dataclasses import dataclass

from pilotage import Pilotage

roster = Pilotage()


@dataclass
class Agent:
    instructions: str
    tools: list


def show_job(job_id: str) -> dict:
    """Show a pilotage job."""
    return roster.show_job(job_id)


def list_offers(job_id: str) -> dict:
    """List what pilots offer for a job."""
    return roster.list_offers(job_id)


def accept_offer(job_id: str, offer_id: str) -> dict:
    """Accept a pilot's offer."""
    return roster.accept_offer(job_id, offer_id)


def alert_crew(job_id: str, phone: str | None = None, channel: int | None = None) -> dict:
    """Alert the crew of a ship by phone or by radio."""
    return roster.alert_crew(job_id, phone, channel)


def order_tugs(job_id: str, tugs: float) -> dict:
    """Order tugs for a job."""
    return roster.order_tugs(job_id, tugs)


def report_flag(job_id: str, flag: str) -> dict:
    """Report the flag state of a ship.

    Parameters
    ----------
    flag : str
        The state.
    """
    return roster.report_flag(job_id, flag)


def bill_job(job_id: str, account: str | None = None, voucher: str | None = None) -> dict:
    """Bill a job to an account or a voucher."""
    return roster.bill_job(job_id, account, voucher)


agent = Agent(
    instructions="You help ships' agents with their pilots.",
    tools=[show_job, list_offers, accept_offer, alert_crew, order_tugs, report_flag, bill_job],
)
