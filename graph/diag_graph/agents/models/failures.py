"""The one table between what LiteLLM raises and our failure kinds (contract section 4).

LiteLLM's own class says too little: a refused connection, a missing key and an HTML page all arrive as
`InternalServerError`, a request that is too large as `RateLimitError`. So the whole chain of an exception is read, from
what tells most to what tells least: a missing key, the provider's own code, the root cause, a telling class, the HTTP
status that really came, the class.

What never gets better by asking again is of a kind that is not retried: a spent quota, a request too large, a key
that is missing, a certificate that is not trusted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from diag_graph.topology import FailureKind as Kind

MAX_DETAIL = 240


class Fault(NamedTuple):
    """What went wrong: its name in a step, the kind that the graph acts upon, and what to do about it."""

    name: str
    kind: Kind
    advice: str = ""


MISSING_KEY = Fault(
    "missing_key",
    Kind.CONFIG,
    "set the provider's key in the environment (a local server takes any), or api_key_command",
)
QUOTA = Fault("quota_spent", Kind.AUTH, "the account has no quota or credit left")
TOO_LARGE = Fault("request_too_large", Kind.CONTEXT_LENGTH, "lower context_tokens")
CONTEXT = Fault("context_too_long", Kind.CONTEXT_LENGTH, "set context_tokens to what the model can hold")
FILTERED = Fault("content_filter", Kind.BAD_REQUEST)
REFUSED = Fault("refused", Kind.BAD_REQUEST)
NO_CHOICES = Fault("no_choices", Kind.UNAVAILABLE)
DEADLINE = Fault("deadline", Kind.TIMEOUT, "raise request_seconds")
NOT_READABLE = Fault("unreadable_reply", Kind.UNAVAILABLE, "is api_base right, and is it the model that answers there?")
CERTIFICATE = Fault("certificate", Kind.CONFIG, "set SSL_CERT_FILE to your own authority's certificate")
UNKNOWN_MODEL = Fault("unknown_model", Kind.CONFIG, "is the model's name right, with its provider: provider/name?")
NOT_ALLOWED = Fault("not_allowed", Kind.AUTH, "is the key right, and may it use this model?")
BAD_REQUEST = Fault("bad_request", Kind.BAD_REQUEST)
BUSY = Fault("rate_limited", Kind.RATE_LIMIT)
DOWN = Fault("unavailable", Kind.UNAVAILABLE)
SLOW = Fault("timeout", Kind.TIMEOUT)
PACKAGE = Fault("missing_package", Kind.CONFIG, "install the package that this provider needs")
UNKNOWN = Fault("unexpected", Kind.OTHER)

BY_CODE: Mapping[str, Fault] = {
    "insufficient_quota": QUOTA,
    "billing_hard_limit_reached": QUOTA,
    "insufficient_balance": QUOTA,
    "content_filter": FILTERED,
    "content_policy_violation": FILTERED,
    "context_length_exceeded": CONTEXT,
    "exceed_context_size_error": CONTEXT,
    "model_not_found": UNKNOWN_MODEL,
    "invalid_api_key": NOT_ALLOWED,
}
"""By the code or type that stands in the provider's answer."""

BY_ROOT: Mapping[str, Fault] = {
    "ConnectionRefusedError": Fault("connection_refused", Kind.UNAVAILABLE, "is the model's server running?"),
    "gaierror": Fault("host_not_found", Kind.UNAVAILABLE, "is api_base right, and the network up?"),
    "ConnectionResetError": Fault("connection_reset", Kind.UNAVAILABLE),
    "RemoteProtocolError": Fault("connection_broken", Kind.UNAVAILABLE),
    "SSLCertVerificationError": CERTIFICATE,
    "JSONDecodeError": NOT_READABLE,
    "NoCredentialsError": MISSING_KEY,
    "ModuleNotFoundError": PACKAGE,
    "ImportError": PACKAGE,
}
"""By the class of an exception that stands below."""

TELLING: Mapping[str, Fault] = {
    "ContextWindowExceededError": CONTEXT,
    "ContentPolicyViolationError": FILTERED,
    "ContentFilterFinishReasonError": FILTERED,
    "LengthFinishReasonError": CONTEXT,
    "PaymentRequiredError": QUOTA,
    "BudgetExceededError": QUOTA,
    "LiteLLMUnknownProvider": UNKNOWN_MODEL,
    "ModelNotMappedError": UNKNOWN_MODEL,
}
"""By the class of the exception, where it says more than a status does."""

BY_STATUS: Mapping[int, Fault] = {
    400: BAD_REQUEST,
    401: NOT_ALLOWED,
    402: QUOTA,
    403: NOT_ALLOWED,
    404: UNKNOWN_MODEL,
    408: SLOW,
    409: DOWN,
    413: TOO_LARGE,
    422: BAD_REQUEST,
    429: BUSY,
    504: SLOW,
}
"""By the HTTP status that really came; other 4xx are bad requests, other 5xx outages."""

BY_CLASS: Mapping[str, Fault] = {
    "AuthenticationError": NOT_ALLOWED,
    "PermissionDeniedError": NOT_ALLOWED,
    "OAuthError": NOT_ALLOWED,
    "SubjectTokenProviderError": NOT_ALLOWED,
    "NotFoundError": UNKNOWN_MODEL,
    "BadRequestError": BAD_REQUEST,
    "UnprocessableEntityError": BAD_REQUEST,
    "APIResponseValidationError": NOT_READABLE,
    "Timeout": SLOW,
    "APITimeoutError": SLOW,
    "RateLimitError": BUSY,
    "ConflictError": DOWN,
    "InternalServerError": DOWN,
    "ServiceUnavailableError": DOWN,
    "BadGatewayError": DOWN,
    "APIConnectionError": DOWN,
    "APIStatusError": DOWN,
    "APIError": DOWN,
    "OpenAIError": DOWN,
    "GuardrailRaisedException": FILTERED,
    "BlockedPiiEntityError": FILTERED,
    "ModifyResponseException": FILTERED,
    "SensitiveDataRouteException": FILTERED,
    "InvalidWebhookSignatureError": UNKNOWN,
}
"""By class or the nearest class above; with `TELLING`, total over what litellm and openai raise (a test says so)."""

_ADVICE = frozenset(
    fault.advice
    for fault in (
        *(MISSING_KEY, QUOTA, TOO_LARGE, CONTEXT, DEADLINE, NOT_READABLE, CERTIFICATE, UNKNOWN_MODEL, NOT_ALLOWED),
        *(PACKAGE, *BY_ROOT.values()),
    )
    if fault.advice
)

_MISSING_KEY = re.compile(
    r"missing (?:[\w-]+ ){0,3}(?:api[ _]key|credentials)|api_key client option must be set|no (?:api )?key is set",
    re.IGNORECASE,
)
_NO_PROVIDER = re.compile(r"LLM Provider NOT provided", re.IGNORECASE)
_ADVERTISEMENT = re.compile(r"\.? Handle with `litellm\.\w+`\.?")
_NOISE = re.compile(r"\A(?:litellm\.)?\w+: (?:\w+: )?(?:\w+Exception\s*(?:\w+\s*)?- ?)?(?:litellm\.\w+: )?")
_CLIENT_ERROR, _SERVER_ERROR = 4, 5


def fault_of(error: BaseException) -> Fault:
    """What went wrong, by everything that an exception and those below it say."""
    chain = tuple(_chain(error))
    for one in chain:
        if _MISSING_KEY.search(str(one)):
            return MISSING_KEY
        if _NO_PROVIDER.search(str(one)):
            return UNKNOWN_MODEL
    found = (
        next((BY_CODE[code] for one in chain for code in _codes(one) if code in BY_CODE), None)
        or next((BY_ROOT[name] for one in chain for name in _names(one) if name in BY_ROOT), None)
        or next((TELLING[name] for name in _names(error) if name in TELLING), None)
    )
    return found or _by_status(status_of(error)) or by_class(type(error)) or UNKNOWN


def by_class(cls: type[BaseException]) -> Fault | None:
    """The row of a class, or of the nearest class above it."""
    rows = (TELLING.get(above.__name__) or BY_CLASS.get(above.__name__) for above in cls.__mro__)
    return next((row for row in rows if row is not None), None)


def status_of(error: BaseException) -> int | None:
    """The HTTP status that really came; LiteLLM's own exceptions state one also where none did."""
    for one in _chain(error):
        if type(one).__module__.partition(".")[0] in {"openai", "httpx"}:
            status = getattr(getattr(one, "response", None), "status_code", None)
            if isinstance(status, int):
                return status
    return None


def retry_after(error: BaseException) -> float | None:
    """Seconds that the provider asks to wait; None when it does not say."""
    for one in _chain(error):
        headers = getattr(getattr(one, "response", None), "headers", None)
        said = headers.get("retry-after") if headers else None
        if said is not None and re.fullmatch(r"\d{1,6}(?:\.\d+)?", said):
            return float(said)
    return None


def account(fault: Fault, error: BaseException) -> str:
    """What a step and a user are told: the fault's name, the status, the provider's words, what to do."""
    status = status_of(error)
    said = _NOISE.sub("", str(error)).partition("Traceback (most recent call last)")[0]
    said = _ADVERTISEMENT.sub("", said)
    detail = " ".join(said.split())[:MAX_DETAIL]
    parts = [f"HTTP {status}" if status else "", detail, fault.advice]
    return f"{fault.name}: " + "; ".join(part for part in parts if part)


def parted(told: str) -> tuple[str, str]:
    """What an account says went wrong, and apart from it what to do; that is empty where it says nothing of it."""
    for advice in _ADVICE:
        if told.endswith(f"; {advice}"):
            return told.removesuffix(f"; {advice}"), advice
    return told, ""


def _by_status(status: int | None) -> Fault | None:
    if status is None:
        return None
    rest = {_CLIENT_ERROR: BAD_REQUEST, _SERVER_ERROR: DOWN}
    return BY_STATUS.get(status) or rest.get(status // 100)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An exception and those that it came from, each once."""
    seen: set[int] = set()
    pending: list[BaseException | None] = [error]
    while pending:
        one = pending.pop(0)
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        pending += [one.__cause__, one.__context__]


def _names(error: BaseException) -> Iterator[str]:
    return (above.__name__ for above in type(error).__mro__)


def _codes(error: BaseException) -> Iterator[str]:
    body = getattr(error, "body", None)
    inner = body.get("error") if isinstance(body, dict) else None
    for place in (error, body, inner):
        for name in ("code", "type"):
            code = place.get(name) if isinstance(place, dict) else getattr(place, name, None)
            if isinstance(code, str):
                yield code
