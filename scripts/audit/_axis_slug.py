"""The former name of the axis slugs in `coreloop.base.git.slug`."""

from coreloop.base.git.slug import KOREAN_AXIS_SLUG, to_slug

__all__ = ["KOREAN_AXIS_SLUG", "to_slug"]
