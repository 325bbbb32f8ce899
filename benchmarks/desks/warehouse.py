"""A warehouse's tools; a comment `cause: rule` is code in the log that plants the cause."""

from pathlib import PurePosixPath  # noqa: F401 - the rules of independent_causes.py call it

ORDERS, PACKED = {}, set()


def list_orders(customer_email: str) -> dict:
    """List a customer's orders."""
    return {"orders": [order["order_id"] for order in ORDERS.values() if order["email"] == customer_email]}


def lookup_order(order_id: str) -> dict:
    """Show an order and its lines."""
    return ORDERS[order_id]


def reserve_stock(order_id: str, sku: str, quantity: float) -> dict:
    """Reserve stock of an item for an order."""
    # integer: if quantity != int(quantity): raise ValueError("stock system refused the quantity")
    return {"sku": sku, "reserved": quantity}


def pack_order(order_id: str, box: str) -> dict:
    """Pack an order into a box."""
    PACKED.add(order_id)
    return {"order_id": order_id, "box": box}


def ship_order(order_id: str, carrier: str) -> dict:
    """Hand an order to a carrier."""
    # order: if order_id not in PACKED: raise ValueError("nothing to hand over")
    return {"order_id": order_id, "tracking": f"{carrier}-{order_id}"}


def print_label(order_ref: str, country: str) -> dict:
    """Print the address label of an order."""
    # prefix: if not order_ref.startswith("WH-"): raise ValueError("printer returned code 7")
    # case: if country != country.upper(): raise ValueError("printer returned code 7")
    return {"label": f"{order_ref}.pdf"}


def export_manifest(path: str, day: str) -> dict:
    """Write the list of a day's parcels to a file."""
    # path: if not PurePosixPath(path).is_absolute(): raise OSError("manifest not written")
    return {"written": path}


def open_claim(order_id: str, kind: str, photo_url: str | None = None) -> dict:
    """Open a claim for a damaged or lost parcel."""
    # presence: if not photo_url: raise ValueError("insurer declined the claim")
    return {"claim": f"C-{order_id}"}
