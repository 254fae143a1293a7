"""The environment variables of a job: a list of what it may have, so that no credential of the node is among them."""

from __future__ import annotations

import re

from devfix.fleet.jobs.folders import JobFolder
from devfix.fleet.records import JobLimits
from devfix.process import child_environment

_SYSTEM = r"PATH|LANG|LANGUAGE|LC_\w+|TZ|LD_LIBRARY_PATH"
_CERTIFICATES = r"SSL_CERT_FILE|SSL_CERT_DIR|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|PIP_CERT"
_NETWORK = r"(?i:https?_proxy|all_proxy|no_proxy)"
# Where packages come from. child_environment has left out the addresses with a password.
_PACKAGES = r"(?:UV|PIP)_(?:\w*INDEX\w*|FIND_LINKS|NO_INDEX|TORCH_BACKEND|OFFLINE|HTTP_\w+|NATIVE_TLS|SYSTEM_CERTS)"
_CACHES = r"HOME|XDG_CACHE_HOME|XDG_CONFIG_HOME|UV_CACHE_DIR|UV_LINK_MODE"


def node_variables(folder: JobFolder) -> dict[str, str]:
    """Return the variables of what the node itself does for a job, with the caches that its jobs share."""
    return {**_of(_SYSTEM, _CERTIFICATES, _NETWORK, _PACKAGES, _CACHES), "TMPDIR": str(folder.temporary)}


def job_variables(folder: JobFolder, limits: JobLimits, network: bool, sandbox: bool) -> dict[str, str]:
    """Return the variables of what runs in the sandbox, if there is one; with `network`, also of proxies and indexes.

    Temporary files count as the job's disk, also without a sandbox, which shows the job's folder for them as /tmp.
    """
    threads = str(max(1, int(limits.cores)))
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
    return {
        **_of(_SYSTEM, _CERTIFICATES, *((_NETWORK, _PACKAGES) if network else ())),
        **dict.fromkeys(names, threads),
        "HOME": str(folder.home),
        "XDG_CACHE_HOME": str(folder.home / ".cache"),
        "UV_CACHE_DIR": str(folder.home / ".cache" / "uv"),
        "TMPDIR": "/tmp" if sandbox else str(folder.temporary),
    }


def _of(*patterns: str) -> dict[str, str]:
    allowed = re.compile("|".join(f"(?:{each})" for each in patterns))
    return {name: value for name, value in child_environment().items() if allowed.fullmatch(name)}
