"""Properties here are about outcomes, never about how fast a shared machine is today."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("signals", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("signals")
