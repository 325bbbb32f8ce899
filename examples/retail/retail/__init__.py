"""The tools of a small online shop: what an agent of its help desk may do, over an invented data set."""

from .customers import (
    find_user_id_by_email,
    find_user_id_by_name_zip,
    get_user_details,
    get_user_payment_methods,
    modify_user_address,
)
from .desk import calculate, transfer_to_human_agents
from .orders import (
    cancel_pending_order,
    get_order_details,
    modify_pending_order_address,
    modify_pending_order_items,
)
from .products import get_cheapest_available_variant, get_product_details
from .returns import (
    exchange_delivered_order_items,
    get_return_refund_options,
    return_delivered_order_items,
)

TOOLS = (
    find_user_id_by_name_zip,
    find_user_id_by_email,
    get_user_details,
    get_user_payment_methods,
    modify_user_address,
    get_product_details,
    get_cheapest_available_variant,
    get_order_details,
    cancel_pending_order,
    modify_pending_order_items,
    modify_pending_order_address,
    get_return_refund_options,
    return_delivered_order_items,
    exchange_delivered_order_items,
    calculate,
    transfer_to_human_agents,
)
"""What the model may call; their docstrings are what it knows of them."""
