"""What the help desk has beside the shop: arithmetic, and people."""

import ast
import operator
from collections.abc import Callable

_OPERATORS: dict[type[ast.AST], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def calculate(expression: str) -> float:
    """Work out an arithmetic expression.

    For sums and differences of prices that no other tool gives. Knows numbers, ``+``, ``-``, ``*``, ``/`` and
    parentheses, and nothing else: it never runs code.

    Parameters
    ----------
    expression : str
        For instance ``"(45.50 - 42) + 6.00"``.

    Returns
    -------
    float
        Rounded to cents.

    Raises
    ------
    ValueError
        If the text is no such expression.
    ZeroDivisionError
        If it divides by zero.

    Examples
    --------
    >>> calculate("(45.50 - 42.00) + 2 * 3")
    9.5
    >>> calculate("price * 2")
    Traceback (most recent call last):
    ValueError: 'price * 2' is no arithmetic expression

    Notes
    -----
    Rounded once, at the end.

    Guide
    -----
    - Put the whole sum into one call: each call rounds.
    - Take prices from the order or product, never from what the customer says they paid.

    See Also
    --------
    get_order_details : The prices that were paid.
    get_product_details : The prices of other variants.
    """
    try:
        return round(_value(ast.parse(expression.strip(), mode="eval").body), 2)
    except (SyntaxError, TypeError, KeyError):
        raise ValueError(f"{expression!r} is no arithmetic expression") from None


def _value(node: ast.expr) -> float:
    if isinstance(node, ast.BinOp):
        return _OPERATORS[type(node.op)](_value(node.left), _value(node.right))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value)
    raise TypeError(ast.dump(node))


def transfer_to_human_agents(summary: str) -> str:
    """Hand the conversation over to a person.

    For what the tools cannot do, and for customers who ask for a person. Ends the agent's part: it can change
    nothing afterwards.

    Parameters
    ----------
    summary : str
        What the customer wants and what was done already, in one or two sentences.

    Returns
    -------
    str
        That the transfer was successful.

    Raises
    ------
    ValueError
        If the summary is empty.

    Examples
    --------
    >>> transfer_to_human_agents("Wants to cancel #W1000006, which is processed already.")
    'Transfer successful'

    Notes
    -----
    The person sees the summary before the conversation, so a good one saves the customer from
    telling it twice.

    Guide
    -----
    - Do everything that the tools can do first; a transfer cannot be taken back.
    - Name the user id and the order id in the summary once they are known.

    See Also
    --------
    get_order_details : Tells whether an order can still be changed here.
    """
    if not summary.strip():
        raise ValueError("say what the customer wants")
    return "Transfer successful"
