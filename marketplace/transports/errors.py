class TransportError(Exception):
    """A message did not arrive; with `permanent` there is no use in another attempt."""

    def __init__(self, message: str, *, permanent: bool = False) -> None:
        super().__init__(message)
        self.permanent = permanent
