"""How requirements of stages name a pool of workers."""

PREFIX = "pool-"
