"""Stages: settings, the design of the task, stages that a lead adds, the aggregation rule."""
