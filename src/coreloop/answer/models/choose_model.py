"""Settings and environment -> the models to ask."""

from collections.abc import Mapping, Sequence
from typing import Final

from coreloop.answer.models.endpoints import ENDPOINTS, endpoint_headers, endpoint_url
from coreloop.answer.models.ladder import Ladder
from coreloop.answer.models.model import Model
from coreloop.answer.models.offline import NAME as OFFLINE
from coreloop.answer.models.offline import OfflineModel
from coreloop.base.errors import UsageError
from coreloop.base.project.model_settings import PriceSettings
from coreloop.base.project.settings import Settings

_FREE: Final = PriceSettings(input=0, output=0)


def choose_model(settings: Settings, environ: Mapping[str, str], *, has_usd_limit: bool = False) -> Ladder:
    """Build the models that the settings name, in their order.

    Parameters
    ----------
    settings : Settings
        ``model``, ``prices`` and ``endpoints``; ``CORELOOP_MODEL`` is in ``model`` already.
    environ : mapping of str to str
        Holds the keys, which are nowhere else.
    has_usd_limit : bool
        Whether a limit in US dollars applies to the work, so that every model needs a price. A daily limit in
        the settings counts without it.

    Raises
    ------
    UsageError
        An unknown provider, a missing key or address, or no price; names what to set.
    """
    daily = (settings.limits.usd_per_day, settings.service.usd_per_key_per_day)
    needs_price = has_usd_limit or daily != (None, None)
    return Ladder(
        [_model(name, settings, environ, needs_price=needs_price) for name in model_names(settings.model)]
    )


def model_names(model: str | Sequence[str]) -> list[str]:
    """Split the setting ``model`` into names.

    Raises
    ------
    UsageError
        It has none.
    """
    names = model.split(",") if isinstance(model, str) else model
    named = [name.strip() for name in names if name.strip()]
    if not named:
        raise UsageError(f"model is empty; name a model, for example {OFFLINE!r}")
    return named


def _model(name: str, settings: Settings, environ: Mapping[str, str], *, needs_price: bool) -> Model:
    if name == OFFLINE:
        return OfflineModel()
    provider, _, model = name.partition(":")
    endpoints = {**ENDPOINTS, **settings.endpoints}
    if provider not in endpoints:
        raise UsageError(
            f"model {name!r}: unknown provider {provider!r}; known: "
            f"{', '.join((OFFLINE, *endpoints))}; others need their address under endpoints in "
            "coreloop.yaml"
        )
    if not model:
        raise UsageError(f"model {name!r} must look like {provider}:NAME")
    endpoint = endpoints[provider]
    price = settings.prices.get(name, _FREE if endpoint.key is None else None)
    if price is None and needs_price:
        raise UsageError(
            f"model {name!r} has no price, so a limit in US dollars cannot hold; add it under "
            "prices in coreloop.yaml"
        )
    from coreloop.answer.models.openai_compatible import OpenAICompatible  # the HTTP library takes 60 ms

    return OpenAICompatible(
        provider,
        model,
        endpoint=endpoint,
        url=endpoint_url(endpoint, environ),
        headers=endpoint_headers(endpoint, environ),
        price=price,
        sampling=settings.sampling,
    )
