"""A run must not revoke the token it runs with: from then on every answer would be 401, and nothing would be tried."""

import os

import schemathesis

own = os.environ["CAIRN_FUZZ_TOKEN"].split("_")[1]


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.method == "DELETE" and (case.path_parameters or {}).get("id") == own:
        case.path_parameters["id"] = "another"
