"""The small changes of a module's code that `sampled` tries: one operator, number, condition or statement each."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
_NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "filter": "exclude", "exclude": "filter"}
# Dropping one of their conditions or columns leaves a call that still runs.
_QUERIES = {"filter", "exclude", "update", "Q", "get", "create", "replace", "dict"}


@dataclass(frozen=True)
class Change:
    """`field` of `node` becomes `value`. `statement` holds it, `function` is the outermost one that holds that, None
    where the change is outside all functions."""

    node: ast.AST
    field: str
    value: Any
    statement: ast.stmt
    function: ast.FunctionDef | ast.AsyncFunctionDef | None
    words: str

    def apply(self) -> None:
        setattr(self.node, self.field, self.value)

    @property
    def lines(self) -> range:
        """Those that run when the changed code runs; of a compound statement its first ones alone."""
        body = getattr(self.statement, "body", None)
        last = body[0].lineno - 1 if body else self.statement.end_lineno
        return range(self.statement.lineno, max(last or 0, self.statement.lineno) + 1)

    def __str__(self) -> str:
        return f"{getattr(self.node, 'lineno', self.statement.lineno)}: {self.words}"


def changes(tree: ast.Module) -> list[Change]:
    """All changes of a module, always in the same order. Apply one at most, then `ast.fix_missing_locations`."""
    return [change for statement in tree.body for change in _of_statement(statement, None)]


def _of_statement(statement: ast.stmt, function: Any) -> Iterator[Change]:
    def made(node: ast.AST, field: str, value: Any) -> Change:
        before = ast.unparse(node)
        kept = getattr(node, field)
        setattr(node, field, value)
        after = ast.unparse(ast.fix_missing_locations(node))
        setattr(node, field, kept)
        return Change(node, field, value, statement, function, f"{_short(before)} → {_short(after)}")

    if isinstance(statement, ast.Import | ast.ImportFrom):
        return
    for node in _own_nodes(statement):
        for field, value in _values(node):
            yield made(node, field, value)
    is_function = isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef)
    inner = function or (statement if is_function else None)
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        below = getattr(statement, name, None) or []
        for number, child in enumerate(below):
            if isinstance(child, ast.stmt):
                if _can_go(child):
                    without = [*below[:number], ast.Pass(), *below[number + 1 :]]
                    words = f"without: {_short(ast.unparse(child))}"
                    yield Change(statement, name, without, child, inner, words)
                yield from _of_statement(child, inner)
            else:  # an except handler or a case
                for grandchild in child.body:
                    yield from _of_statement(grandchild, inner)


def _own_nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """The statement and its expressions, without statements inside and without annotations."""
    left: list[ast.AST] = [statement]
    while left:
        node = left.pop(0)
        yield node
        for name, value in ast.iter_fields(node):
            children = value if isinstance(value, list) else [value]
            if name not in ("annotation", "returns"):
                left += [one for one in children if isinstance(one, ast.AST) and not _is_left_out(one)]


def _is_left_out(node: ast.AST) -> bool:
    """Statements inside are looked at by themselves. Nothing uses that a dataclass is frozen."""
    match node:
        case ast.Call(func=ast.Name(id="dataclass")):
            return True
    return isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case)


def _can_go(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="logger")))):
            return False
        case ast.Expr(value=ast.Call() | ast.Yield() | ast.YieldFrom()) | ast.AugAssign() | ast.Raise():
            return True
        case ast.Continue() | ast.Break() | ast.Return(value=None):
            return True
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript() | ast.Tuple(elts=[ast.Attribute(), *_])]):
            return True
    return False


def _values(node: ast.AST) -> Iterator[tuple[str, Any]]:
    match node:
        case ast.Compare(ops=[operator]):
            yield from (("ops", [other()]) for other in _COMPARED[type(operator)])
        case ast.Compare(ops=[first, *rest]):
            yield from (("ops", [other(), *rest]) for other in _COMPARED[type(first)])
        case ast.BoolOp(op=ast.And()):
            yield "op", ast.Or()
        case ast.BoolOp(op=ast.Or()):
            yield "op", ast.And()
        case ast.BinOp(op=operator) if type(operator) in _COMPUTED and not isinstance(node.left, ast.JoinedStr):
            yield "op", _COMPUTED[type(operator)]()
        case ast.UnaryOp(op=ast.USub()):
            yield "op", ast.UAdd()
        case ast.If() | ast.While() | ast.IfExp():
            yield "test", ast.UnaryOp(ast.Not(), node.test)
        case ast.comprehension(ifs=[only]):
            yield from (("ifs", ifs) for ifs in ([], [ast.UnaryOp(ast.Not(), only)]))
        case ast.Constant(value=bool(value)):
            yield "value", not value
        case ast.Constant(value=int(value)):
            yield "value", value + 1
        case ast.Constant(value=float(value)):
            yield "value", value * 2 or 1.0
        case ast.Return(value=ast.Constant(value=None)) | ast.Return(value=None):
            return
        case ast.Return():
            yield "value", ast.Constant(None)
        case ast.Call():
            yield from _of_call(node)


def _of_call(node: ast.Call) -> Iterator[tuple[str, Any]]:
    match node.func:
        case ast.Name(id=name):
            other: Any = ast.Name(_NAMES.get(name, ""), ast.Load())
        case ast.Attribute(value=value, attr=name):
            other = ast.Attribute(value, _NAMES.get(name, ""), ast.Load())
        case _:
            return
    if name in _NAMES:
        yield "func", other
    if name in _QUERIES:
        for number in range(len(node.keywords)):
            yield "keywords", [*node.keywords[:number], *node.keywords[number + 1 :]]


def _short(code: str) -> str:
    line = " ".join(code.split())
    return line if len(line) < 90 else f"{line[:87]}..."
