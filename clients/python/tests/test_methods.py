"""The methods are those of the OpenAPI document, alike in both halves, and on the page."""

from __future__ import annotations

import inspect
import re
from typing import get_type_hints

from svc_agents import AsyncSvc, Svc, errors, types

from .test_pages import ROOT

OTHERWISE = {"send_run_input": "send_run_message", "patch_session": "update_session"}
"""`path="input"` of the same method, and the name that the library for TypeScript has."""


def public(half: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(half, inspect.isfunction) if not name.startswith("_")}


def test_every_operation_of_the_openapi_document_has_a_method() -> None:
    text = (ROOT / "schemas/openapi.yaml").read_text()
    found = re.findall(r"operationId: (\w+)\n +tags: \[(\w+)\]", text)
    names = [name for name, tag in found if tag != "service"]
    operations = {re.sub("[A-Z]", lambda upper: "_" + str(upper[0]).lower(), name) for name in names}
    assert len(operations) > 15
    assert {OTHERWISE.get(each, each) for each in operations} - public(Svc) == set()


def test_both_halves_have_the_same_methods_with_the_same_arguments() -> None:
    assert public(AsyncSvc) == public(Svc) - {"close"} | {"aclose"}
    for name in public(Svc) - {"close"}:
        ours, theirs = (inspect.signature(getattr(half, name)).parameters for half in (Svc, AsyncSvc))
        assert list(ours) == list(theirs), name


def test_every_method_and_its_routes_are_documented() -> None:
    page = (ROOT / "docs/python.md").read_text()
    for name in public(Svc) - {"close", "pending_tasks_of"}:
        assert f"`{name}(" in page, name
        assert inspect.getdoc(getattr(Svc, name)), name


def test_every_code_that_has_a_class_is_one_of_the_server() -> None:
    table = (ROOT / "docs/reference/errors.md").read_text()
    known = dict(re.findall(r"^\| `(\w+)` \| (\d+) ", table, re.MULTILINE))
    refused = repr(get_type_hints(types.MessageAccepted)["code"])
    classes = [getattr(errors, name) for name in errors.__all__]
    coded = [each for each in classes if getattr(each, "for_code", None) is not None]
    assert len(coded) > 15
    for each in coded:
        if each.for_status == 202:
            assert f"'{each.for_code}'" in refused
        else:
            assert known[each.for_code] == str(each.for_status)
