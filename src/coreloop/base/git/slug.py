"""Turn axis names into parts of a git branch name."""

import re
import unicodedata
from collections.abc import Mapping
from typing import Final

_KOREAN: Final = """
    수익성 profitability, 성장성 growth, 안정성 stability, 현금흐름 cashflow,
    수익구조 revenue-structure, 자금조달 capital-funding, 자산구조 asset-structure,
    효율성 efficiency, 종합평가 scorecard, 이익품질 earnings-quality,
    비용구조 cost-structure, 자본배분 capital-allocation,
    투자효율 investment-efficiency, 재무정합성 cross-statement, 가치평가 valuation,
    지배구조 governance, 공시변화 disclosure-delta, 비교분석 peer-benchmark,
    매출전망 revenue-forecast, 예측신호 prediction-signals,
    매크로민감도 macro-exposure, 밸류에이션밴드 valuation-band, 신용평가 credit-rating,
    사이클 cycle, 금리 rates, 유동성 liquidity, 자산신호 asset-signal,
    밸류체인 valuechain, 공급망 supply-chain
"""
KOREAN_AXIS_SLUG: Final = dict(pair.split() for pair in _KOREAN.split(","))
_MAX_CHARS: Final = 40


def to_slug(name: str | None, more: Mapping[str, str] | None = None) -> str:
    """Make a valid part of a git branch name for an axis or a tool.

    Parameters
    ----------
    name : str or None
        ``수익성``, ``cash flow``; None for a tool without an axis.
    more : mapping, optional
        ``axis_slugs`` of coreloop.yaml; they override the built-in names.

    Returns
    -------
    str
        1 to 40 of ``a-z``, ``0-9`` and ``-``, no ``-`` at an end. An unknown name that is not ASCII gets
        ``axis-`` and 8 hex digits of its SHA-256; None gets ``general``.
    """
    if name is None:
        return "general"
    folded = _fold(name)
    chosen = {_fold(axis): slug for axis, slug in (more or {}).items()}
    known = chosen.get(folded) or KOREAN_AXIS_SLUG.get(folded) or folded
    slug = _ascii_slug(known) if known.isascii() else ""
    if slug:
        return slug
    from hashlib import sha256  # loads OpenSSL, 3 ms

    return f"axis-{sha256(folded.encode('utf-8', 'replace')).hexdigest()[:8]}"


def _fold(name: str) -> str:
    return unicodedata.normalize("NFC", name).strip()


def _ascii_slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:_MAX_CHARS].strip("-")
