from tests.hits.views.conftest import alice, client

__all__ = ["alice", "client"]
