"""Begin a lifted run in a world with GPUs; it ends with the world."""

from __future__ import annotations

import torch

from ..config import LiftConfig
from ..simulation.accelerators import kinds
from . import devices, left, modules, whose
from .findings import handled, kept, marks, replaced, returned, silent, stale
from .inputs import (
    autocast,
    call_arguments,
    factories,
    first_calls,
    first_methods,
    generators,
    hosts,
    loaders,
    made_by_others,
    mixtures,
    objects,
    registered,
    scripted,
    told_devices,
)


def install(order: LiftConfig) -> None:
    """Lift what test code makes; without a GPU there is nowhere to lift it to."""
    whose.want(order)
    if getattr(torch, kinds.now().name).device_count() <= order.device:
        return
    devices.aim(order.device)
    left.install(order.device != 0 and not order.twice)
    inputs = (
        autocast,
        call_arguments,
        factories,
        generators,
        modules,
        objects,
        hosts,
        loaders,
        mixtures,
        registered,
        scripted,
    )
    for subject in (*inputs, made_by_others, marks, kept, replaced):
        subject.install()
    told_devices.install(order.tells)
    silent.install(order.strict, order.places)
    if not order.twice:  # a warm-up catches what it meets
        handled.install()
        returned.install()
    mixtures.go_past(order.past)
    if order.twice and order.device != stale.OTHER:
        stale.install(order.device)
        first_calls.install()
        first_methods.install()
    modules.hear_moves()
