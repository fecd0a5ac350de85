"""Runs every row against the model, with each line of clients, and says how many passed: `N passed, N failed`."""

import argparse
import logging
import re
import sys
import traceback

import rows_behaviour
import rows_interfaces
import rows_listings
import rows_signing
from cloud import Cloud, Refused
from scene import Scene

TABLES = [rows_signing, rows_interfaces, rows_listings, rows_behaviour]


def run(row, cloud, line):
    """What is wrong with how a row ended, or None."""
    try:
        result = row.act(Scene(cloud, line))
    except Refused as refusal:
        if row.refusal is None:
            return f'was refused: {refusal}'
        code, status, message = row.refusal
        right = (refusal.code, refusal.status) == (code, status) and re.search(message, refusal.message or '')
        return None if right else f'was refused with {refusal}, expected {code} {status} {message}'
    if row.refusal is not None:
        return f'was not refused with {row.refusal[0]}, gave {result!r}'
    right = row.result(result) if callable(row.result) else result == row.result
    return None if right else f'gave {result!r}, expected {row.result!r}'


def attempt(row, cloud, line):
    misfits = len(cloud.misfits)
    try:
        problem = run(row, cloud, line)
    except Exception:
        problem = traceback.format_exc()
    finally:
        cloud.calm()
    return problem or '; '.join(cloud.misfits[misfits:]) or None


def main():
    parser = argparse.ArgumentParser()
    for name in ('instant', 'slow'):
        parser.add_argument(f'--{name}', required=True, nargs=2, metavar=('URL', 'METADATA'))
    parser.add_argument('--only', default='', help='run only rows whose name contains this')
    options = parser.parse_args()
    # Rows provoke what the clients warn about.
    logging.disable(logging.CRITICAL)
    clouds = {'instant': Cloud(*options.instant), 'slow': Cloud(*options.slow)}
    clouds['slow'].stand_still()
    for cloud in clouds.values():
        cloud.calm()
    rows = [(row, line) for table in TABLES for row in table.ROWS for line in row.lines if options.only in row.name]
    failures = 0
    for row, line in rows:
        problem = attempt(row, clouds[row.cloud], line)
        if problem is not None:
            failures += 1
            print(f'FAILED {row.name} ({line}): {problem}\n    {row.source}')
    print(f'{sum(cloud.answers for cloud in clouds.values())} answers held against the models of the clients')
    print(f'{len(rows) - failures} passed, {failures} failed')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
