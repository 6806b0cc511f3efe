"""Errors in OpenAI's format."""

from __future__ import annotations

from typing import Any, Sequence

from fastapi.responses import JSONResponse

INVALID, SERVER, NOT_FOUND, UNAUTHORIZED = "invalid_request_error", "server_error", "not_found_error", "authentication_error"


class Refused(Exception):
    """Request that cannot be served, with the status and the fields of the error."""

    def __init__(self, status: int, message: str, type: str, param: str | None = None, code: str | None = None) -> None:
        self.status = status
        self.body = {"error": {"message": message, "type": type, "param": param, "code": code}}
        super().__init__(message)

    @property
    def response(self) -> JSONResponse:
        """HTTP response."""
        return JSONResponse(self.body, self.status)


def invalid(problems: Sequence[Any]) -> Refused:
    """Convert pydantic's problems; the first is reported in full."""
    first = problems[0]
    if first["type"] == "json_invalid":
        return Refused(400, f"the body is not JSON: {first['msg']}", INVALID, None, "invalid_json")
    place = [str(part) for part in first["loc"] if part != "body"]
    param = place[0] if place else None
    if first["type"] == "extra_forbidden":
        return Refused(400, f"`{'.'.join(place)}` is not supported here", INVALID, param, "unsupported_parameter")
    prefix = f"`{'.'.join(place)}`: " if place else ""
    return Refused(400, f"{prefix}{first['msg']}", INVALID, param, "invalid_value")
