"""Output of ``measure``: what it costs, and what came out."""

import click
import orjson

from coreloop.base.messages import Phrase, number_of, say
from coreloop.base.text import printable
from coreloop.promote.measure.measurement import Measurement
from coreloop.promote.measure.prepare import Prepared
from coreloop.promote.measure.run import MeasureOutcome
from coreloop.promote.measure.verdict import MeasureVerdict

_STYLES = {MeasureVerdict.HELPS: "green", MeasureVerdict.HURTS: "red"}


def show_estimate(prepared: Prepared) -> None:
    """Print how much is asked, on standard error, and whether it needs a confirmation."""
    estimate = prepared.estimate()
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
            model=printable(prepared.subject.model),
            questions=number_of(left, "question"),
            cost=cost,
            known=known,
        ),
        err=True,
    )
    if not prepared.may_ask:
        click.echo(say("nothing asked: the questions could go to another machine; add --confirm"), err=True)


def show_outcome(outcome: MeasureOutcome, *, as_json: bool) -> None:
    """Print a measurement; how much less the lines do than before goes to standard error."""
    measured = outcome.measured
    _show_measurement(measured, as_json=as_json)
    if outcome.fallen is not None:
        click.echo(f"{printable(measured.tool)}: {say(outcome.fallen)}", err=True)
        nothing = Phrase("nothing that coreloop knows; the endpoint may serve another model under this name")
        for change in outcome.changes or [nothing]:
            click.echo(printable(say("changed in between: {change}", change=change)), err=True)


def _show_measurement(measured: Measurement, *, as_json: bool) -> None:
    if as_json:
        click.echo(orjson.dumps(measured, option=orjson.OPT_INDENT_2))
        return
    for line in measured.lines:
        click.echo(printable(line))
    verdict = click.style(say(measured.verdict), fg=_STYLES.get(measured.verdict), bold=True)
    click.echo(f"{verdict}{f': {printable(say(measured.why))}' if measured.reason else ''}")
    for sentence in measured.sentences():
        click.echo(say(sentence))
