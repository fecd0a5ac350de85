"""Runs every row against the model and says how many passed: `N passed, N failed`."""

import argparse
import json
import re
import sys
import traceback

import botocore.session
from botocore.exceptions import ClientError

import answers
import rows_addresses
import rows_attachments
import rows_behaviour
import rows_instances
import rows_interfaces
import rows_listings
import rows_networks
import rows_protocol
from cloud import Cloud
from scene import Scene

TABLES = [
    rows_protocol,
    rows_interfaces,
    rows_addresses,
    rows_attachments,
    rows_instances,
    rows_listings,
    rows_networks,
    rows_behaviour,
]


def run(row, cloud):
    """What is wrong with how a row ended, or None."""
    try:
        result = row.act(Scene(cloud))
    except ClientError as error:
        return judge_refusal(row, error.response)
    if row.refusal is not None:
        return f'was not refused with {row.refusal[0]}, gave {result!r}'
    right = row.result(result) if callable(row.result) else result == row.result
    return None if right else f'gave {result!r}, expected {row.result!r}'


def judge_refusal(row, response):
    error = response['Error']
    status = response['ResponseMetadata']['HTTPStatusCode']
    found = f"{error['Code']} {status} {error.get('Message', '')}"
    if row.refusal is None:
        return f'was refused: {found}'
    code, wanted_status, message = row.refusal
    right = error['Code'] == code and status == wanted_status and re.search(message, error.get('Message', ''))
    return None if right else f'was refused with {found}, expected {code} {wanted_status} {message}'


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
    parser.add_argument('--instant', required=True)
    parser.add_argument('--slow', required=True)
    parser.add_argument('--only', default='', help='run only rows whose name contains this')
    options = parser.parse_args()
    clouds = {'instant': Cloud(options.instant), 'slow': Cloud(options.slow)}
    clouds['slow'].stand_still()
    rows = [row for table in TABLES for row in table.ROWS if options.only in row.name]
    failures = {}
    for row in rows:
        problem = attempt(row, clouds[row.cloud])
        if problem is not None:
            failures[row.name] = f'{row.name}: {problem}\n    {row.source}'
    model = botocore.session.get_session().get_service_model('ec2')
    declared = json.load(sys.stdin)
    different = list(answers.check_declared(model, declared))
    if different:
        failures['shapes'] = '\n'.join(['the declared shapes differ from botocore’s:', *different])
    for failure in failures.values():
        print(f'FAILED {failure}')
    seen = sum(cloud.answers for cloud in clouds.values())
    print(f'{seen} answers and the shapes of {len(declared)} actions held against botocore')
    print(f'{len(rows) + 1 - len(failures)} passed, {len(failures)} failed')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
