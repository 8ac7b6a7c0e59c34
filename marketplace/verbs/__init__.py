"""The state changes that the wire and the worker site share. Each verb is one transaction.

Locks are always taken in the order concern, hit, assignment, qualification type, worker, requester, so that
no two verbs can wait for each other; what is a worker's own (messages, letters, requests, qualifications)
comes after the worker. They leave keys free (no_key): at COMMIT, PostgreSQL looks up every row that a
new row points at, and would otherwise wait there for a lock that comes first in that order.
"""
