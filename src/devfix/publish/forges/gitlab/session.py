"""The HTTP session of python-gitlab: it waits where GitLab asks for it, and follows no redirect."""

from __future__ import annotations

from typing import Any

import requests

from devfix.publish.forges.patience import Patience


class PatientSession(requests.Session):
    """Sends a request again after rate limits and errors of servers and networks.

    python-gitlab's own retries wait as long as a server says, without a word.
    """

    def __init__(self, patience: Patience) -> None:
        super().__init__()
        self._patience = patience

    def send(self, request: requests.PreparedRequest, **options: Any) -> requests.Response:
        """Send a request; a redirect is returned as it is, so that the token goes to no other address."""
        options["allow_redirects"] = False
        attempt = 1
        while True:
            try:
                response = super().send(request, **options)
            except (requests.ConnectionError, requests.Timeout):
                if not self._patience.wait(attempt, None, {}):
                    raise
            else:
                if response.ok or not self._patience.wait(attempt, response.status_code, response.headers):
                    return response
            attempt += 1
