import { expect, test } from '@jest/globals';
import { MissingPermissions } from '../../../../src/controller/reporting/missing-permissions.ts';
import type { CloudFailure } from '../../../../src/providers/contract/cloud-failure.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { recordingLogger } from '../../../support/recording-logger.ts';

const failure: CloudFailure = {
  kind: 'notAuthorized',
  action: 'CreateNetworkInterface',
  code: 'UnauthorizedOperation',
  message: 'no',
  requestId: undefined,
  permission: 'ec2:CreateTags',
};
const minute = 60_000;

/** Calls by minute, denied or successful. */
type Step = readonly [number, 'denied' | 'ok' | 'not found' | 'other ok' | 'other failure'];

const denied = 'warn missing cloud permission';
const permitted = 'info cloud permission granted again';

test.each<[string, readonly Step[], readonly string[], number]>([
  ['is reported', [[0, 'denied']], [denied], 1],
  [
    'is reported once',
    [
      [0, 'denied'],
      [1, 'denied'],
      [60, 'denied'],
    ],
    [denied],
    1,
  ],
  [
    'ends with a call of the action that succeeds',
    [
      [0, 'denied'],
      [1, 'ok'],
    ],
    [denied, permitted],
    0,
  ],
  [
    'ends with an answer that only those get who may ask',
    [
      [0, 'denied'],
      [1, 'not found'],
    ],
    [denied, permitted],
    0,
  ],
  [
    'does not end with other calls',
    [
      [0, 'denied'],
      [1, 'other ok'],
      [2, 'other failure'],
    ],
    [denied],
    1,
  ],
  [
    'that comes and goes is not reported each time',
    [
      [0, 'denied'],
      [1, 'ok'],
      [2, 'denied'],
      [3, 'ok'],
    ],
    [denied, permitted],
    0,
  ],
  [
    'that comes back is shown although it is not reported',
    [
      [0, 'denied'],
      [1, 'ok'],
      [2, 'denied'],
    ],
    [denied, permitted],
    1,
  ],
  [
    'that comes back later is reported again',
    [
      [0, 'denied'],
      [1, 'ok'],
      [11, 'denied'],
    ],
    [denied, permitted, denied],
    1,
  ],
  ['is no failure of another kind', [[0, 'other failure']], [], 0],
])('a missing permission %s', async (_, steps, reported, left) => {
  const clock = new VirtualClock();
  const log = recordingLogger();
  const missingPermissions = new MissingPermissions({ clock, log });

  for (const [at, what] of steps) {
    await clock.advance(at * minute - clock.monotonic());
    if (what === 'denied') missingPermissions.callEnded('CreateNetworkInterface', failure);
    if (what === 'ok') missingPermissions.callEnded('CreateNetworkInterface', undefined);
    if (what === 'other ok') missingPermissions.callEnded('DescribeVpcs', undefined);
    if (what === 'other failure' || what === 'not found') {
      const kind = what === 'not found' ? 'instanceGone' : 'throttled';
      const { permission: _permission, ...other } = { ...failure, kind } as const;
      missingPermissions.callEnded('CreateNetworkInterface', other);
    }
  }

  expect(log.lines.map(({ level, message }) => `${level} ${message}`)).toEqual(reported);
  expect(missingPermissions.list).toEqual(
    left === 0
      ? []
      : [
          {
            permission: 'ec2:CreateTags',
            action: 'CreateNetworkInterface',
            why: 'no',
            remedy: "allow ec2:CreateTags to Headwater's role",
          },
        ],
  );
});

test('logs the encoded text of a denial with it', () => {
  const log = recordingLogger();
  const permissions = new MissingPermissions({ clock: new VirtualClock(), log });

  for (const encodedDenial of ['first', 'second'])
    permissions.callEnded(failure.action, { ...failure, encodedDenial });

  expect(log.lines.map(({ details }) => details)).toEqual([
    expect.objectContaining({ encodedDenial: 'first' }),
  ]);
});

test('lists no permission for long that nothing asks for any more', async () => {
  const clock = new VirtualClock();
  const log = recordingLogger();
  const permissions = new MissingPermissions({ clock, log });
  const listed = (): number => permissions.list.length;
  const counts: number[] = [];

  permissions.callEnded(failure.action, failure);
  await clock.advance(119 * minute);
  permissions.callEnded(failure.action, failure);
  await clock.advance(119 * minute);
  counts.push(listed());
  await clock.advance(minute);
  counts.push(listed());
  permissions.callEnded(failure.action, failure);
  counts.push(listed());

  expect(counts).toEqual([1, 0, 1]);
  expect(log.lines).toHaveLength(1);
});

test('credentials that the cloud does not accept are listed without a line, until any call is accepted', () => {
  const log = recordingLogger();
  const missingPermissions = new MissingPermissions({ clock: new VirtualClock(), log });
  const { permission: _, ...other } = failure;

  missingPermissions.callEnded('DescribeVpcs', { ...other, action: 'DescribeVpcs', credentials: 'invalid' });
  const denied = missingPermissions.list;
  missingPermissions.callEnded('DescribeSubnets', undefined);

  expect(denied).toEqual([
    {
      permission: 'credentials',
      action: 'DescribeVpcs',
      why: 'no',
      remedy: 'check the credentials that Headwater uses',
    },
  ]);
  expect(missingPermissions.list).toEqual([]);
  expect(log.lines).toEqual([]);
});
