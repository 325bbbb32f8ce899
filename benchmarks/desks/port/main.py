"""The port's server."""

from berths import berths
from fastmcp import FastMCP
from yard import yard

main = FastMCP("port")
main.mount(berths, namespace="berth")
main.mount(yard, namespace="yard")

if __name__ == "__main__":
    main.run()
