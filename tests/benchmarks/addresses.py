"""Beside the product's addresses: a page without a database, and a page as one first writes it."""

from __future__ import annotations

from functools import cache

from django.http import HttpRequest, HttpResponse
from django.template import engines
from django.urls import include, path

from academy.models import RunResult

NAIVE = """{% load display %}<table><thead><tr><th>Rank</th><th>Entrant</th><th>Settings</th>
<th>Score</th><th>Items</th><th>Step</th><th>Attempt</th><th>Cost</th><th>Tokens</th><th>Time</th>
<th>Closed</th></tr></thead><tbody>{% for row in rows %}<tr><td>{{ forloop.counter }}</td>
<td><a href="{% url 'academy:run' row.run_id %}">{{ row.run.entrant.name }}</a></td>
<td>{{ row.run.entrant.harness }}{% if row.run.arm %} {{ row.run.arm }}{% endif %}</td>
<td>{{ row.value|floatformat:3 }}</td><td>{{ row.n|floatformat:"0g" }}</td>
<td>{{ row.run.get_verification_display }}</td><td>{{ row.run.attempt }}</td>
{% with used=row.run.summaries.all.0.usage %}<td>{{ used.cost_micros.median|floatformat:2 }}</td>
<td>{{ used.tokens_out.median|floatformat:0 }}</td><td>{{ used.wall_ms.median|floatformat:1 }}</td>
{% endwith %}<td>{{ row.run.closed_at|date:"j M Y H:i" }}</td></tr>{% endfor %}</tbody></table>"""


@cache
def filler(size: int) -> bytes:
    """As many bytes as another page has."""
    return b"x" * size


def floor(_request: HttpRequest, size: int) -> HttpResponse:
    """What the server itself costs: no database, no template, as many bytes."""
    return HttpResponse(filler(size))


def naive(request: HttpRequest) -> HttpResponse:
    """The same board by a query and a template that formats every cell."""
    rows = (
        RunResult.objects.filter(run__version__suite__slug="bench", mode="strict", slice="")
        .select_related("run__entrant", "metric")
        .prefetch_related("run__summaries")
        .order_by("-value", "pk")
    )
    template = engines["django"].from_string("{% extends 'base.html' %}{% block content %}" + NAIVE
                                             + "{% endblock %}")  # fmt: skip
    return HttpResponse(template.render({"rows": rows, "user": request.user}, request))


urlpatterns = [
    path("benchmark/floor/<int:size>/", floor),
    path("benchmark/naive/", naive),
    path("", include("academy.project.urls")),
]
