"""Output of ``measure``: what it costs, and what came out."""

import click
import orjson

from coreloop.base.messages import number_of, say
from coreloop.base.text import printable
from coreloop.promote.measure.measurement import Measurement
from coreloop.promote.measure.prepare import CostEstimate
from coreloop.promote.measure.verdict import MeasureVerdict

_STYLES = {MeasureVerdict.HELPS: "green", MeasureVerdict.HURTS: "red"}


def show_estimate(estimate: CostEstimate, model: str) -> None:
    """Print how much is asked, on standard error."""
    left = estimate.n_questions - estimate.n_known
    cost = (
        say("at an unknown price")
        if estimate.microusd is None
        else say("at most ${microusd:.2f}", microusd=estimate.microusd / 1e6)
    )
    known = say(", {n_known:,} answered before", n_known=estimate.n_known) if estimate.n_known else ""
    click.echo(
        say(
            "asks {model} {questions} at most, {cost}{known}",
            model=printable(model),
            questions=number_of(left, "question"),
            cost=cost,
            known=known,
        ),
        err=True,
    )


def show_measurement(measured: Measurement, *, as_json: bool) -> None:
    """Print a measurement."""
    if as_json:
        click.echo(orjson.dumps(measured, option=orjson.OPT_INDENT_2))
        return
    for line in measured.lines:
        click.echo(printable(line))
    verdict = click.style(say(measured.verdict), fg=_STYLES.get(measured.verdict), bold=True)
    click.echo(f"{verdict}{f': {printable(say(measured.why))}' if measured.reason else ''}")
    for sentence in measured.sentences():
        click.echo(say(sentence))
