"""The slugs of axes under the name that maintainers know."""

from coreloop.history.slug import KOREAN_AXIS_SLUG, to_slug

__all__ = ["KOREAN_AXIS_SLUG", "to_slug"]
