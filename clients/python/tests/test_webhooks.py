"""Deliveries by the convention of Standard Webhooks; the first is the example of its specification."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time

import pytest

from svc_agents import SvcWebhookError, verify_webhook

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OTHER = "whsec_" + base64.b64encode(b"another secret of thirty-two bytes").decode()
BODY = '{"test": 2432232314}'


def sign(body: str | bytes = BODY, secret: str = SECRET, age: float = 0) -> dict[str, str]:
    sent = str(int(time.time() - age))
    content = body if isinstance(body, bytes) else body.encode()
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.new(key, b".".join([b"msg_1", sent.encode(), content]), hashlib.sha256).digest()
    return {
        "webhook-id": "msg_1",
        "webhook-timestamp": sent,
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }


def test_the_example_of_the_specification_is_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 1614265330.0)
    headers = {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
    assert verify_webhook(SECRET, headers, BODY) == {"test": 2432232314}


def test_names_of_headers_may_be_written_in_any_case_and_the_body_be_bytes() -> None:
    body = '{"ü":"😀"}'.encode()
    headers = {name.title(): value for name, value in sign(body).items()}
    assert verify_webhook(SECRET, headers, body) == {"ü": "😀"}


def test_while_a_secret_is_exchanged_either_is_taken() -> None:
    assert verify_webhook([OTHER, SECRET], sign(), BODY) == verify_webhook([SECRET, OTHER], sign(), BODY)
    both = {**sign(), "webhook-signature": " ".join(sign(secret=each)["webhook-signature"] for each in (OTHER, SECRET))}
    assert verify_webhook(SECRET, both, BODY) == {"test": 2432232314}
    with pytest.raises(SvcWebhookError, match="No signature"):
        verify_webhook([OTHER], sign(), BODY)


@pytest.mark.parametrize("age", [301, -302])
def test_a_delivery_of_another_time_is_refused(age: float) -> None:
    assert verify_webhook(SECRET, sign(age=299 if age > 0 else -299), BODY)
    with pytest.raises(SvcWebhookError, match="within five minutes"):
        verify_webhook(SECRET, sign(age=age), BODY)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"webhook-id": "msg_2"}, "No signature"),
        ({"webhook-id": ""}, "has no webhook-id"),
        ({"webhook-timestamp": "１６１４２６５３３０"}, "within five minutes"),
        ({"webhook-timestamp": "1e9"}, "within five minutes"),
        ({"webhook-signature": "v2,AAAA"}, "No signature"),
        ({"webhook-signature": "v1,not base64"}, "not base64"),
        ({"webhook-signature": "v1,ü"}, "not base64"),
    ],
)
def test_a_delivery_that_was_changed_is_refused(change: dict[str, str], says: str) -> None:
    with pytest.raises(SvcWebhookError, match=says):
        verify_webhook(SECRET, {**sign(), **change}, BODY)


def test_a_changed_body_and_an_empty_secret_are_refused() -> None:
    with pytest.raises(SvcWebhookError, match="No signature"):
        verify_webhook(SECRET, sign(), BODY + " ")
    for secret in ("", "whsec_", []):
        with pytest.raises(SvcWebhookError, match="empty"):
            verify_webhook(secret, sign(), BODY)
    with pytest.raises(SvcWebhookError, match="not JSON"):
        verify_webhook(SECRET, sign("<html>"), "<html>")
