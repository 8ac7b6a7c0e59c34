"""The state changes that the wire and the worker site share. Each verb is one transaction.

Locks are always taken in the order hit, assignment, worker, requester, so that no two verbs can
wait for each other.
"""
