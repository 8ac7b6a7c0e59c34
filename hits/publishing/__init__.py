"""Publishing: quote, batch, HIT, send, extend, expire, top up, reconcile."""
