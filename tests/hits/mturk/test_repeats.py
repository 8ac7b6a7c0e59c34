"""Which calls may be sent again when their answer was lost: no operation is forgotten."""

import ast
import inspect

import boto3

from hits.mturk import gateway
from hits.mturk.repeats import REPEATS, Repeat

CALLS = ("_call", "_pages", "call")


def _operations_of_the_gateway() -> set[str]:
    """The operation that each call in the gateway names; a name that is not a literal fails the test."""
    found = set()
    for node in ast.walk(ast.parse(inspect.getsource(gateway.Gateway))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CALLS:
            operation = node.args[0]
            if isinstance(operation, ast.Name) and operation.id == "operation":
                continue
            assert isinstance(operation, ast.Constant)
            found.add(str(operation.value))
    return found


def test_the_table_holds_every_operation_of_the_gateway_and_no_other():
    assert _operations_of_the_gateway() == REPEATS.keys()


def test_the_table_names_operations_of_the_service_and_calls_reading_what_only_reads():
    client = boto3.client("mturk", region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="y")
    assert REPEATS.keys() <= client.meta.method_to_api_mapping.keys()
    reads = {name for name, repeat in REPEATS.items() if repeat is Repeat.READ}
    assert reads == {name for name in REPEATS if name.startswith(("get_", "list_"))}


def test_what_relies_on_a_token_takes_one_and_sends_one():
    client = boto3.client("mturk", region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="y")
    source = ast.parse(inspect.getsource(gateway.Gateway))
    calls = {
        node.args[0].value: {keyword.arg for keyword in node.keywords}
        for node in ast.walk(source)
        if isinstance(node, ast.Call)
        and getattr(node.func, "attr", "") == "_call"
        and isinstance(node.args[0], ast.Constant)
    }
    for operation in (name for name, repeat in REPEATS.items() if repeat is Repeat.TOKEN):
        shape = client.meta.service_model.operation_model(client.meta.method_to_api_mapping[operation]).input_shape
        assert "UniqueRequestToken" in shape.members
        assert "UniqueRequestToken" in calls[operation]
