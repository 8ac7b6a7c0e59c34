"""`python -m annotate_client` is `annotate`."""

from annotate_client.cli import main

main()
