"""Who orders: finding a customer, and what is known of one."""

from copy import deepcopy

from .store import Fields, complete_address, find, shop


def find_user_id_by_name_zip(first_name: str, last_name: str, zip: str) -> str:  # noqa: A002 - the tool's argument
    """Find a customer by name and postal code.

    The second way to find out who is asking, for customers who do not remember their e-mail address.

    Parameters
    ----------
    first_name, last_name : str
        As the customer gives them; case does not matter.
    zip : str
        Postal code of the customer's own address.

    Returns
    -------
    str
        The user id.

    Raises
    ------
    LookupError
        If nobody of that name lives there.

    Examples
    --------
    >>> find_user_id_by_name_zip("mina", "okafor", "60614")
    'mina_okafor_4821'
    >>> find_user_id_by_name_zip("Mina", "Okafor", "00000")
    Traceback (most recent call last):
    LookupError: user not found

    Notes
    -----
    The address is the one on file, not that of an order, which may go elsewhere.

    Guide
    -----
    - Ask for the e-mail address first; fall back on this when it is not found.
    - Do not try other spellings of your own: ask the customer.

    See Also
    --------
    find_user_id_by_email : The first way.
    """
    wanted = (first_name.casefold(), last_name.casefold(), zip.strip())
    for user_id, user in shop()["users"].items():
        name = user["name"]
        here = (name["first_name"].casefold(), name["last_name"].casefold(), user["address"]["zip"])
        if wanted == here:
            return str(user_id)
    raise LookupError("user not found")


def find_user_id_by_email(email: str) -> str:
    """Find a customer by e-mail address.

    The first thing to do in a conversation: nothing about an order may be said before it is known who asks.

    Parameters
    ----------
    email : str
        The whole address; case does not matter.

    Returns
    -------
    str
        The user id.

    Raises
    ------
    LookupError
        If no customer has that address.

    Examples
    --------
    >>> find_user_id_by_email("Tomas.Reyes@example.com")
    'tomas_reyes_7733'
    >>> find_user_id_by_email("nobody@example.com")
    Traceback (most recent call last):
    LookupError: user not found

    Notes
    -----
    An address belongs to one customer.

    Guide
    -----
    - When it is not found, ask for name and postal code instead of another address.

    See Also
    --------
    find_user_id_by_name_zip : The second way.
    """
    for user_id, user in shop()["users"].items():
        if user["email"].casefold() == email.strip().casefold():
            return str(user_id)
    raise LookupError("user not found")


def get_user_details(user_id: str) -> Fields:
    """Look up everything on file about a customer.

    Gives the orders' ids, so it is the way from a person to an order that the person cannot name.

    Parameters
    ----------
    user_id : str
        From one of the two ``find_user_id`` tools.

    Returns
    -------
    dict
        ``name`` (``first_name``, ``last_name``), ``address`` in its parts, ``email``, ``payment_methods`` as
        ``get_user_payment_methods`` gives them, and ``orders``, a list of order ids, oldest first.

    Raises
    ------
    LookupError
        If there is no such customer.

    Examples
    --------
    >>> user = get_user_details("mina_okafor_4821")
    >>> user["name"]["first_name"], user["orders"]
    ('Mina', ['#W1000001', '#W1000002', '#W1000009'])

    Notes
    -----
    The address is the default one. Each order has its own, which may differ.

    Guide
    -----
    - Call it once per conversation; it changes only through ``modify_user_address``.
    - Tell the customer nothing of it that they did not ask for.

    See Also
    --------
    get_order_details : What is in one of the orders.
    get_user_payment_methods : Only the payment methods.
    """
    return deepcopy(find("users", user_id))


def get_user_payment_methods(user_id: str) -> Fields:
    """List a customer's payment methods.

    Returns, exchanges and changed orders settle their difference over one of them.

    Parameters
    ----------
    user_id : str
        From one of the two ``find_user_id`` tools.

    Returns
    -------
    dict
        By payment method id: ``id``, ``source`` (``credit_card``, ``paypal`` or ``gift_card``) and what
        belongs to it: a credit card's ``brand`` and ``last_four``, a gift card's ``balance`` in dollars.

    Raises
    ------
    LookupError
        If there is no such customer.

    Examples
    --------
    >>> sorted(get_user_payment_methods("mina_okafor_4821"))
    ['credit_card_5000001', 'gift_card_5000002']
    >>> get_user_payment_methods("tomas_reyes_7733")["paypal_6000001"]
    {'source': 'paypal', 'id': 'paypal_6000001'}

    Notes
    -----
    A gift card's balance is that of this moment. A changed or cancelled order shows in it at once, an
    exchange or a return only when the items have arrived.

    Guide
    -----
    - Let the customer choose by what they know, such as the brand and the last four digits.
    - Check a gift card's balance against the difference before offering it.

    See Also
    --------
    get_user_details : The same with name, address and orders.
    """
    methods: Fields = get_user_details(user_id)["payment_methods"]
    return methods


def modify_user_address(
    user_id: str,
    address1: str,
    address2: str,
    city: str,
    state: str,
    country: str,
    zip: str,  # noqa: A002 - the tool's argument
) -> Fields:
    """Change a customer's default address.

    Orders that were placed already keep their own address.

    Parameters
    ----------
    user_id : str
        From one of the two ``find_user_id`` tools.
    address1, address2 : str
        Street and number; flat or floor, empty when there is none.
    city, state, country, zip : str
        State by its two letters, country as ``USA``, postal code in five digits.

    Returns
    -------
    dict
        The customer as ``get_user_details`` gives it, with the new address.

    Raises
    ------
    LookupError
        If there is no such customer.
    ValueError
        If a part other than ``address2`` is empty.

    Examples
    --------
    >>> user = modify_user_address("aiko_lindgren_1590", "9 Pier Road", "", "Tacoma", "WA", "USA", "98402")
    >>> user["address"]["city"]
    'Tacoma'

    Notes
    -----
    All parts are replaced; a part that stays must be given again.

    Guide
    -----
    - Read the whole new address back and wait for a yes.
    - When an order is still pending, ask whether it shall go to the new address too.

    See Also
    --------
    modify_pending_order_address : The address of one order.
    """
    user = find("users", user_id)
    user["address"] = complete_address(address1, address2, city, state, country, zip)
    return get_user_details(user_id)
