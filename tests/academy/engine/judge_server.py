"""A small server on this machine that speaks the chat protocol, and misbehaves on demand."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class JudgeServer:
    """Answers every call by `behave(request) -> (status, body)`; keeps what was asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.at_once = self.most_at_once = 0
        self.behave: Callable[[dict[str, Any]], tuple[int, Any]] = lambda _asked: (200, says("met"))
        self.lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                asked = json.loads(self.rfile.read(length))
                with outer.lock:
                    outer.asked.append(asked)
                    outer.keys.append(self.headers.get("Authorization", ""))
                    outer.at_once += 1
                    outer.most_at_once = max(outer.most_at_once, outer.at_once)
                try:
                    status, body = outer.behave(asked)
                finally:
                    with outer.lock:
                        outer.at_once -= 1
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                try:
                    self.send_response(status)
                    if 300 <= status < 400:
                        self.send_header("Location", "http://127.0.0.1:1/elsewhere")
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)
                except OSError:
                    pass

            def log_message(self, *args: Any) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"


@contextmanager
def serving() -> Iterator[JudgeServer]:
    """A server that runs while the block does."""
    judge = JudgeServer()
    thread = threading.Thread(target=judge.server.serve_forever, daemon=True)
    thread.start()
    try:
        yield judge
    finally:
        judge.server.shutdown()
        judge.server.server_close()
        thread.join()


def says(verdict: Any, reason: str = "seen", *, model: str = "example-judge-1") -> dict[str, Any]:
    """A response with a verdict."""
    return reply(json.dumps({"verdict": verdict, "reason": reason}), model=model)


def reply(content: Any, *, model: str = "example-judge-1", **message: Any) -> dict[str, Any]:
    """A response with any text."""
    return {
        "model": model,
        "choices": [{"message": {"role": "assistant", "content": content, **message}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10},
    }


def slowly(seconds: float, answer: Any) -> Callable[[dict[str, Any]], tuple[int, Any]]:
    """A behaviour that takes its time."""

    def behave(_asked: dict[str, Any]) -> tuple[int, Any]:
        time.sleep(seconds)
        return 200, answer

    return behave
