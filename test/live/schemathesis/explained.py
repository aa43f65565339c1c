"""The accepted findings of Schemathesis: the only place that accepts one. Everything else is a failure."""

import re

# The checks that have explanations: accepted requests that differ from the document, rejected ones that match it,
# and responses that differ from it.
checks = ("negative_data_rejection", "positive_data_acceptance", "response_schema_conformance")


def parameters_in(failure):
    """Returns the names of the query parameters that a finding is about."""
    found = re.search(r"parameters? (`.+`) in query", failure.message)
    return re.findall(r"`([^`]+)`", found[1]) if found else []


def has_no_value(case, failure):
    names = parameters_in(failure)
    return len(names) > 0 and all((case.query or {}).get(name) in ("", [], [""], None) for name in names)


def is_unknown_parameter(case, failure):
    known = {parameter.name for parameter in case.operation.query}
    return "in body" not in failure.message and any(name not in known for name in case.query or {})


def is_empty_text(case, failure):
    found = re.search(r"in body - (\w+): Value not matching the 'date-time' format", failure.message)
    return found is not None and isinstance(case.body, dict) and case.body.get(found[1]) == ""


def is_option_of_another_type(case, failure):
    """Options of provider accounts that other types have."""
    options = (
        "access_url|availability_zone|create_ha_routers|dns_nameservers|external_network_id|flavor_exclude_regex|"
        "images_regex|latitude|longitude|tenant_name|webhook_secret"
    )
    return re.search(rf"in body - ({options}):", failure.message) is not None


def is_scalar_of_another_type(case, failure):
    return re.search(r"in body.*(Incorrect type|Invalid component: in body\s*$)", failure.message) is not None


def is_ignored_field(case, failure):
    """Fields that count only beside others: points_count without point, current_password with a change of the password."""
    return re.search(r"in body - (points_count|current_password):", failure.message) is not None


def is_form(case):
    return str(case.media_type).startswith(("multipart/form-data", "application/x-www-form-urlencoded"))


accepted = (
    (
        lambda case, failure: "page_size" in parameters_in(failure),
        "A page_size beyond the maximum counts as the maximum, and one that is no number as the default (core.md 1.8).",
    ),
    (has_no_value, "A query parameter without a value counts as one that is missing (core.md 1.9)."),
    (lambda case, failure: "o" in parameters_in(failure), "Unknown orderings are passed over (core.md 1.9)."),
    (is_unknown_parameter, "Unknown parameters are named in X-Ignored, and rejected with strict_input only."),
    (is_empty_text, "An empty text stands for nothing (core.md 1.5)."),
    (is_option_of_another_type, "Options of other provider types are not read."),
    (is_ignored_field, "The field is not read without, or with, another one."),
    (
        is_scalar_of_another_type,
        "Numbers count as their text, and texts and numbers as the values that they spell (core.md 1.5).",
    ),
    (
        lambda case, failure: is_form(case) and "in body" in failure.message,
        "In a form everything is text, and an empty text is nothing (core.md 1.5).",
    ),
)

# Texts of 400: what a schema cannot say, or what OpenAPI has no words for.
rejected = (
    (r"^Wrong (code|password)|could not be verified", "The value must prove who the caller is."),
    (r"^Invalid hyperlink|^Can.t restore object|^URL is invalid|^Can.t find|^there is no ", "It names no object that there is."),
    (r"without control characters|^Null characters|^Not a valid string", "Texts are without control characters."),
    (
        r"may not be (blank|null)|non-whitespace character|cannot be empty|This field is required",
        "A text of blanks counts as missing where one is needed.",
    ),
    (r"^File extension|submitted file is empty|^Upload a valid|was not a file", "The content of a file is examined."),
    (r"already exists|already registered|already has|must be unique|make a unique set", "Another object has the value."),
    (
        r"does not belong|should belong|must belong|belongs to|does.?n.t match|does not match|is not connected|is missing in|must occur after start|"
        r"not within the same|not supported for|is not allowed|same as current|is the same|is not subtask",
        "The fields do not go together, or not with the object.",
    ),
    (
        r"^Please specify|^Either |^Exactly one of |at least one network|must be provided|simultaneously|must be supplied|Too many parameters|have to be provided|is required for",
        "One of several fields is needed.",
    ),
    (
        r"should be greater|exceeds|cannot be (extended|changed)|not allowed to be decreased|has several tenants|holds more than|^More than|does not work any more|is not available|is not ready|is ready\.$|must be (less|greater) than",
        "The value does not suit what there is.",
    ),
    (
        r"^Enter |^Only valid|can only contain|can contain only|has (wrong|invalid) format|must include|^Invalid json list|must start with|^Value .*should be|^service_name must|"
        r"^Invalid (SSH|port|cidr|issue)|one of following|^[\w.]+ has no \"|^Ensure this (field has|value is)|must not be",
        "The text or number has a special format, which its description names.",
    ),
)

# Of forms besides: Schemathesis writes null as the text null, and lists and objects as the names of their members.
rejected_forms = (
    (
        r"valid (boolean|choice|integer|number|UUID)|list of items|^Incorrect type|Invalid data",
        "A form has no null, no lists of objects, and no numbers.",
    ),
)


# Of parameters and JSON: words of a vocabulary that the document does not list, as it depends on the server.
rejected_words = ((r"is not a valid (choice|UUID)", "The description names the words."),)


def messages_of(body):
    if isinstance(body, dict):
        return [message for member in body.values() for message in messages_of(member)]
    if isinstance(body, list):
        return [message for item in body for message in messages_of(item)]
    return [str(body)]


def reason_of(check, case, response, failure):
    """Returns why a finding of a check is meant to be so, or None."""
    if response.status_code == 412:
        return "If-Match names another state of the object, which is looked at first."
    if check == "response_schema_conformance":
        chosen = any(name in (case.query or {}) for name in ("field", "fields"))
        is_missing = "required property" in failure.message
        return "With field only the named members are present." if chosen and is_missing else None
    if check == "negative_data_rejection":
        return next((reason for applies, reason in accepted if applies(case, failure)), None)
    try:
        messages = messages_of(response.json())
    except ValueError:
        return None
    known = (*rejected, *rejected_forms) if is_form(case) else (*rejected, *rejected_words)
    reasons = [next((reason for text, reason in known if re.search(text, message)), None) for message in messages]
    return None if None in reasons else "; ".join(sorted(set(reasons)))
