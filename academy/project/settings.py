"""All settings of the project, read from the environment with defaults that work on a laptop."""

from __future__ import annotations

import secrets
from pathlib import Path

import environ
import structlog
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from academy.project.embedded import servers

BASE_DIR = Path(__file__).resolve().parent.parent.parent
env = environ.Env()
environ.Env.read_env(BASE_DIR / ".env")

DATA_DIR = Path(env.str("ACADEMY_DATA", default=str(BASE_DIR / "data"))).resolve()
DEBUG = env.bool("ACADEMY_DEBUG", default=False)
PRODUCTION = env.bool("ACADEMY_PRODUCTION", default=False)
ADDRESSES = servers.addresses_for(DATA_DIR)


def secret_key() -> str:
    """The key from the environment, else one that is made once and kept in the data folder."""
    named: str = env.str("ACADEMY_SECRET_KEY", default="")
    if named:
        return named
    if PRODUCTION:
        raise ImproperlyConfigured("Set ACADEMY_SECRET_KEY in production.")
    kept = DATA_DIR / "secret-key"
    if not kept.exists():
        DATA_DIR.mkdir(parents=True, exist_ok=True)
        try:
            with kept.open("x", encoding="ascii") as stream:
                kept.chmod(0o600)
                stream.write(secrets.token_urlsafe(48))
        except FileExistsError:
            pass
    return kept.read_text(encoding="ascii")


SECRET_KEY = secret_key()
ALLOWED_HOSTS = env.list("ACADEMY_HOSTS", default=["localhost", "127.0.0.1", "[::1]", "testserver"])
CSRF_TRUSTED_ORIGINS = env.list("ACADEMY_ORIGINS", default=[])

INSTALLED_APPS = [
    "academy.project.apps.AdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "django.contrib.humanize",
    "csp",
    "django_htmx",
    "rest_framework",
    "drf_spectacular",
    "academy.apps.AcademyConfig",
    "adjudication.apps.AdjudicationConfig",
    "leaderboard.apps.LeaderboardConfig",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "academy.project.addresses.without_null",
    "academy.project.addresses.with_page",
]

ROOT_URLCONF = "academy.project.urls"
WSGI_APPLICATION = "academy.project.wsgi.application"
ASGI_APPLICATION = "academy.project.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "academy.context.site",
                "adjudication.context.review",
            ],
        },
    }
]

DATABASE_URL = env.str("DATABASE_URL", default="") or ADDRESSES.database_url
DATABASES = {"default": env.db_url_config(DATABASE_URL)}
DATABASES["default"]["ENGINE"] = "academy.project.postgresql"
DATABASES["default"].setdefault("OPTIONS", {})["pool"] = {
    "min_size": 1,
    "max_size": env.int("ACADEMY_POOL", default=8),
    "timeout": 20,
}
# For `academy.statements`; Django's own cursors never prepare.
DATABASES["default"]["OPTIONS"].setdefault("prepare_threshold", 3)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
REDIS_URL = env.str("REDIS_URL", default="") or ADDRESSES.redis_url
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "academy",
    },
    "pages": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "LOCATION": "pages",
        "TIMEOUT": 600,
        "OPTIONS": {"MAX_ENTRIES": 100},
    },
}
FILE_UPLOAD_TEMP_DIR = None
DATA_UPLOAD_MAX_MEMORY_SIZE = 10 * 2**20
ACADEMY_UPLOAD_BYTES = env.int("ACADEMY_UPLOAD_BYTES", default=2 * 2**30)
ACADEMY_IMPORT_AT_ONCE = env.int("ACADEMY_IMPORT_AT_ONCE", default=4 * 2**20)

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "academy:home"
LOGOUT_REDIRECT_URL = "academy:home"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = PRODUCTION
CSRF_COOKIE_SAMESITE = "Lax"
SECURE_SSL_REDIRECT = PRODUCTION and env.bool("ACADEMY_SSL_REDIRECT", default=True)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if PRODUCTION else None
SECURE_HSTS_SECONDS = 31_536_000 if PRODUCTION else 0
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "style-src": [SELF],
        "script-src": [SELF],
        "img-src": [SELF],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    }
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "structured": {
            "()": "structlog.stdlib.ProcessorFormatter",
            "processor": (
                structlog.processors.JSONRenderer()
                if PRODUCTION
                else structlog.dev.ConsoleRenderer(
                    # Tracebacks with the values of variables would print sealed keys.
                    colors=False,
                    exception_formatter=structlog.dev.plain_traceback,
                )
            ),
            "foreign_pre_chain": [
                structlog.stdlib.add_log_level,
                structlog.stdlib.add_logger_name,
                structlog.processors.TimeStamper(fmt="iso", utc=True),
            ],
        }
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "structured"}},
    "root": {"handlers": ["console"], "level": env.str("ACADEMY_LOG_LEVEL", default="INFO")},
    "loggers": {"django": {"handlers": [], "propagate": True}},
}

LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True
STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {
        "BACKEND": env.str(
            "ACADEMY_STORAGE", default="django.core.files.storage.FileSystemStorage"
        ),
    },
    "staticfiles": {
        "BACKEND": (
            "whitenoise.storage.CompressedManifestStaticFilesStorage"
            if PRODUCTION
            else "django.contrib.staticfiles.storage.StaticFilesStorage"
        ),
    },
}
WHITENOISE_USE_FINDERS = not PRODUCTION
WHITENOISE_AUTOREFRESH = DEBUG
MEDIA_ROOT = DATA_DIR / "media"
EMAIL_BACKEND = env.str(
    "ACADEMY_EMAIL_BACKEND", default="django.core.mail.backends.console.EmailBackend"
)

DEFAULT_FROM_EMAIL = env.str("ACADEMY_EMAIL_FROM", default="academy@localhost")
EMAIL_HOST = env.str("ACADEMY_EMAIL_HOST", default="localhost")
EMAIL_PORT = env.int("ACADEMY_EMAIL_PORT", default=25)
EMAIL_HOST_USER = env.str("ACADEMY_EMAIL_USER", default="")
EMAIL_HOST_PASSWORD = env.str("ACADEMY_EMAIL_PASSWORD", default="")
EMAIL_USE_TLS = env.bool("ACADEMY_EMAIL_TLS", default=False)
EMAIL_TIMEOUT = 20
# The address of this site as mails name it, since no request is there to tell.
ACADEMY_SITE_URL = env.str("ACADEMY_SITE_URL", default="http://localhost:8000")

CELERY_BROKER_URL = servers.broker_url(REDIS_URL)
CELERY_BROKER_TRANSPORT_OPTIONS = {"socket_connect_timeout": 3, "socket_timeout": 10}
CELERY_TASK_PUBLISH_RETRY = False
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_SOFT_TIME_LIMIT = env.int("ACADEMY_JOB_SECONDS", default=300)
CELERY_TASK_TIME_LIMIT = CELERY_TASK_SOFT_TIME_LIMIT + 30
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BEAT_SCHEDULE = {
    # What a dead worker left is taken up within this time after its lease has ended.
    "drain": {"task": "academy.tasks.drain", "schedule": 3.0, "options": {"expires": 10}},
    "heartbeat": {"task": "academy.tasks.beat", "schedule": 10.0},
    "digests": {"task": "adjudication.tasks.owe_digests", "schedule": 900.0},
}
ACADEMY_LEASE_SECONDS = env.float("ACADEMY_LEASE_SECONDS", default=30.0)
ACADEMY_WORK_UNIT = 500
ACADEMY_SIGNING_KEY = env.str("ACADEMY_SIGNING_KEY", default="", multiline=True)
# A judge is asked only where address and model are set; the key is never stored or printed.
ACADEMY_JUDGE_URL = env.str("ACADEMY_JUDGE_URL", default="")
ACADEMY_JUDGE_MODEL = env.str("ACADEMY_JUDGE_MODEL", default="")
ACADEMY_JUDGE_KEY = env.str("ACADEMY_JUDGE_KEY", default="")
ACADEMY_JUDGE_NAME = env.str("ACADEMY_JUDGE_NAME", default="")
ACADEMY_JUDGE_SECONDS = env.float("ACADEMY_JUDGE_SECONDS", default=60.0)
ACADEMY_JUDGE_CONCURRENCY = env.int("ACADEMY_JUDGE_CONCURRENCY", default=2)
ACADEMY_JUDGE_CHARACTERS = env.int("ACADEMY_JUDGE_CHARACTERS", default=60_000)
# US dollars for a million tokens.
ACADEMY_JUDGE_PRICE_IN = env.float("ACADEMY_JUDGE_PRICE_IN", default=0.0)
ACADEMY_JUDGE_PRICE_OUT = env.float("ACADEMY_JUDGE_PRICE_OUT", default=0.0)

REST_FRAMEWORK = {
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.CursorPagination",
    "PAGE_SIZE": 100,
    "EXCEPTION_HANDLER": "academy.api.errors.handle",
    "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework.authentication.SessionAuthentication"],
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Academy",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api/v1/",
}
