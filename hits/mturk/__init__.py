"""The Mechanical Turk requester API (2017-01-17). The only place that knows boto3; it knows no model."""
