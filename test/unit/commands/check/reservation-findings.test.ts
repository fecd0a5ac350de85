import { expect, test } from '@jest/globals';
import { reservationFindings } from '../../../../src/commands/check/reservation-findings.ts';
import { emptyInfrastructure } from '../../../../src/providers/contract/infrastructure.ts';

test('says which subnets were not asked about, and once that the question failed', () => {
  const failure = {
    kind: 'throttled',
    action: 'GetReservations',
    code: 'Throttled',
    message: 'slower',
    requestId: undefined,
  } as const;
  const failed = { kind: 'failed', failure, remedy: undefined } as const;
  const read = new Map([
    ['a', failed],
    ['b', failed],
  ]);

  const rows = reservationFindings({ read, unasked: ['c', 'd'] }, new Map(), emptyInfrastructure);

  expect(rows).toEqual([
    { what: 'reservations', verdict: 'ok', found: 'not known: GetReservations failed: Throttled' },
    {
      what: 'reservations',
      verdict: 'ok',
      found: 'not asked of 2 subnets (c, d): each takes a call',
    },
  ]);
});
