"""The former name of the axis slugs in `coreloop.history.slug`."""

from coreloop.history.slug import KOREAN_AXIS_SLUG, to_slug

__all__ = ["KOREAN_AXIS_SLUG", "to_slug"]
