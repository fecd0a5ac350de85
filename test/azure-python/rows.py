"""Runs every row against the model and says how many passed: `N passed, N failed`."""

import argparse
import logging
import re
import sys
import traceback

from azure.core.exceptions import ClientAuthenticationError, HttpResponseError

import rows_authority
import rows_faults
import rows_lookups
import rows_refusals
import rows_shapes
import rows_states
from cloud import Cloud
from scene import Scene

TABLES = [rows_authority, rows_lookups, rows_refusals, rows_states, rows_faults, rows_shapes]


def run(row, cloud):
    """What is wrong with how a row ended, or None."""
    try:
        result = row.act(Scene(cloud))
    except HttpResponseError as error:
        return judge_refusal(row, code_of(error), error.status_code, error.message)
    if row.refusal is not None:
        if hasattr(result, 'status_code'):
            error = result.json().get('error', {}) if result.text else {}
            error = error if isinstance(error, dict) else {'code': error}
            return judge_refusal(row, error.get('code'), result.status_code, str(result.json()))
        return f'was not refused with {row.refusal[0]}, gave {result!r}'
    right = row.result(result) if callable(row.result) else result == row.result
    return None if right else f'gave {result!r}, expected {row.result!r}'


def code_of(error):
    if isinstance(error, ClientAuthenticationError) and error.error is None:
        found = re.search(r'AADSTS\d+', error.message)
        return found and found[0]
    return error.error and error.error.code


def judge_refusal(row, code, status, text):
    found = f'{code} {status} {text}'
    if row.refusal is None:
        return f'was refused: {found}'
    wanted, wanted_status, message = row.refusal
    right = code == wanted and wanted_status in (None, status) and re.search(message, text or '')
    return None if right else f'was refused with {found}, expected {wanted} {wanted_status} {message}'


def attempt(row, cloud):
    misfits = len(cloud.misfits)
    try:
        problem = run(row, cloud)
    except Exception:
        problem = traceback.format_exc()
    finally:
        cloud.calm()
    return problem or '; '.join(cloud.misfits[misfits:]) or None


def main():
    parser = argparse.ArgumentParser()
    for name in ('instant', 'slow'):
        parser.add_argument(f'--{name}', required=True, nargs=3, metavar=('URL', 'METADATA', 'CA'))
    parser.add_argument('--only', default='', help='run only rows whose name contains this')
    options = parser.parse_args()
    # Rows provoke what the clients warn about.
    logging.disable(logging.CRITICAL)
    clouds = {'instant': Cloud(*options.instant), 'slow': Cloud(*options.slow)}
    clouds['slow'].stand_still()
    for cloud in clouds.values():
        cloud.calm()
    rows = [row for table in TABLES for row in table.ROWS if options.only in row.name]
    failures = {}
    for row in rows:
        problem = attempt(row, clouds[row.cloud])
        if problem is not None:
            failures[row.name] = f'{row.name}: {problem}\n    {row.source}'
    for failure in failures.values():
        print(f'FAILED {failure}')
    seen = sum(cloud.answers for cloud in clouds.values())
    print(f'{seen} answers held against the models of the clients')
    print(f'{len(rows) - len(failures)} passed, {len(failures)} failed')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
