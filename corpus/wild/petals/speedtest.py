"""Stands in for the real package: no network is measured here."""


class Speedtest:
    pass
