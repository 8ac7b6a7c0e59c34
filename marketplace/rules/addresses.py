"""When two e-mail addresses are one person's."""


def email_key(address: str) -> str:
    """The address as it is compared: without the case, and without what follows a plus before the @."""
    name, _, host = address.strip().casefold().rpartition("@")
    return f"{name.partition('+')[0] or name}@{host}"
