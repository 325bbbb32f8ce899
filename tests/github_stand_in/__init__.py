"""A small GitHub for tests: a server in this process that keeps state, can fail, and records all traffic.

Written from the official API description, and held against it by the tests marked "prism".
"""

from github_stand_in.server import GithubStandIn
from github_stand_in.traffic import Fault, Reply, Request, is_for_humans

__all__ = ["Fault", "GithubStandIn", "Reply", "Request", "is_for_humans"]
