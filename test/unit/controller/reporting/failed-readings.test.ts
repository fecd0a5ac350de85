import { expect, test } from '@jest/globals';
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
