import { describe, expect, test } from '@jest/globals';
import { FailedReadings } from '../../../../src/controller/reporting/failed-readings.ts';
import { CloudError } from '../../../../src/providers/contract/cloud-failure.ts';
import { recordingLogger } from '../../../support/recording-logger.ts';

const message = 'The network could not be read';
const another = new Error('the line is cut');
const read = undefined;

function lacking(permission: string): CloudError {
  return new CloudError({
    kind: 'notAuthorized',
    action: 'DescribeSubnets',
    code: 'UnauthorizedOperation',
    message: 'You are not authorized',
    requestId: undefined,
    permission,
  });
}

test.each<[string, readonly (Error | undefined)[], readonly string[]]>([
  ['any failure is a warning each time', [another, another], ['warn', 'warn']],
  ['the same denial is a warning once', [lacking('A'), lacking('A')], ['warn', 'debug']],
  ['another denial is news', [lacking('A'), lacking('B')], ['warn', 'warn']],
  ['a denial after a success is news', [lacking('A'), read, lacking('A')], ['warn', 'warn']],
  ['a denial after another failure is news', [lacking('A'), another, lacking('A')], ['warn', 'warn', 'warn']],
])('a failed reading is logged: %s', (_, course, levels) => {
  const log = recordingLogger();
  const readings = new FailedReadings(log);

  for (const failure of course) {
    if (failure === read) readings.succeeded(message);
    else readings.report(message, failure);
  }

  expect(log.lines.map(({ level }) => level)).toEqual(levels);
});

test('what an answer leaves out is a warning once, while it is the same', () => {
  const log = recordingLogger();
  const readings = new FailedReadings(log);
  const problems = ['an item is no object', 'an item is no object', 'its id is 7', undefined, 'its id is 7'];

  for (const problem of problems)
    readings.reportUnclear(problem === undefined ? undefined : { count: 1, problem, instanceIds: ['i-1'] });

  expect(log.lines.map(({ level }) => level)).toEqual(['warn', 'warn']);
});

test('the problem of a read is that of its last failure, until one succeeds', () => {
  const readings = new FailedReadings(recordingLogger());
  const problems: (string | undefined)[] = [];

  for (const failure of [lacking('ec2:DescribeSubnets'), another, read]) {
    if (failure === read) readings.succeeded(message);
    else readings.report(message, failure);
    problems.push(readings.problemOf(message));
  }

  expect(problems).toEqual([expect.stringContaining('ec2:DescribeSubnets'), 'see the log', undefined]);
});

describe('a read of single instances that fails', () => {
  test('is the reason of these instances alone, until they are read', () => {
    const readings = new FailedReadings(recordingLogger());
    const reasons = (): readonly (string | undefined)[] =>
      ['i-1', 'i-2'].map((id) => readings.unreadBecause(id)?.message);

    readings.reportInstances(message, lacking('A'), ['i-1']);
    const failed = reasons();
    readings.instancesRead(['i-1', 'i-2']);

    expect(failed).toEqual([expect.stringContaining("allow A to Headwater's role"), undefined]);
    expect(reasons()).toEqual([undefined, undefined]);
  });

  test('is forgotten with the instances that are served no longer', () => {
    const readings = new FailedReadings(recordingLogger());
    readings.reportInstances(message, lacking('A'), ['i-1', 'i-2']);

    readings.keepInstances((id) => id === 'i-2');

    expect(['i-1', 'i-2'].map((id) => readings.unreadBecause(id) !== undefined)).toEqual([false, true]);
  });

  test('is a reason once it repeats, if it may pass', () => {
    const readings = new FailedReadings(recordingLogger());
    const silent = new CloudError({ ...lacking('A').failure, kind: 'unreachable', message: 'no answer' });

    const reasons = [1, 2].map(() => {
      readings.reportInstances(message, silent, ['i-1']);
      return readings.unreadBecause('i-1')?.reason;
    });

    expect(reasons).toEqual([undefined, 'Unreachable']);
  });

  test('is a warning once for each denial', () => {
    const log = recordingLogger();
    const readings = new FailedReadings(log);

    for (const id of ['i-1', 'i-1', 'i-2', 'i-1']) readings.reportInstances(message, lacking('A'), [id]);

    expect(log.lines.map(({ level }) => level)).toEqual(['warn', 'debug', 'warn', 'debug']);
  });
});

test.each([
  ['notAuthorized', 1, true],
  ['limitReached', 1, true],
  ['unknown', 1, false],
  ['unknown', 2, true],
] as const)(
  'reads that fail with %s, %i in a row, are why an instance is not read: %s',
  (kind, times, isWhy) => {
    const readings = new FailedReadings(recordingLogger());
    const details = { action: 'DescribeSubnets', code: 'Code', message: 'no', requestId: undefined };

    for (let count = 0; count < times; count++)
      readings.report(message, new CloudError({ kind, ...details }));

    expect(readings.unreadBecause('i-1') !== undefined).toBe(isWhy);
  },
);
