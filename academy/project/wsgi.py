"""The WSGI entry point."""

from __future__ import annotations

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "academy.project.settings")
# Web processes send nudges to workers, so the Celery application must be known to them too.
from academy.project.celery import app as celery_app  # noqa: E402, F401

application = get_wsgi_application()
