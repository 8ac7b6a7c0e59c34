"""What a browser or program says of itself, in the words of people."""

from __future__ import annotations

LONGEST = 80
# The first that is found counts: Edge and Opera name Chrome too, and Chrome names Safari.
BROWSERS = (
    ("Edg", "Edge"),
    ("OPR", "Opera"),
    ("SamsungBrowser", "Samsung Internet"),
    ("Firefox", "Firefox"),
    ("FxiOS", "Firefox"),
    ("CriOS", "Chrome"),
    ("Chrome", "Chrome"),
    ("Safari", "Safari"),
)
# Android names Linux, and iPhones name Mac OS.
SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Mac OS", "macOS"),
    ("Linux", "Linux"),
)


def device_words(user_agent: str) -> str:
    """Such as "Firefox on Windows", or "a program: curl"; of what says nothing "an unknown device"."""
    browser, system = _first(user_agent, BROWSERS), _first(user_agent, SYSTEMS)
    if browser and system:
        return f"{browser} on {system}"
    if browser or system:
        return browser or system
    program = "".join(sign for sign in user_agent.partition("/")[0] if sign.isprintable()).strip()
    return f"a program: {program}"[:LONGEST] if program else "an unknown device"


def _first(text: str, names: tuple[tuple[str, str], ...]) -> str:
    return next((said for name, said in names if name in text), "")
