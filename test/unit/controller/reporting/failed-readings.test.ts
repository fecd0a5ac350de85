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
  ['any failure is told each time', [another, another], ['warn', 'warn']],
  ['the same denial is told aloud once', [lacking('A'), lacking('A')], ['warn', 'debug']],
  ['another denial is news', [lacking('A'), lacking('B')], ['warn', 'warn']],
  ['a denial after a success is news', [lacking('A'), read, lacking('A')], ['warn', 'warn']],
  ['a denial after another failure is news', [lacking('A'), another, lacking('A')], ['warn', 'warn', 'warn']],
])('%s', (_, course, levels) => {
  const log = recordingLogger();
  const readings = new FailedReadings(log);

  for (const failure of course) {
    if (failure === read) readings.succeeded(message);
    else readings.report(message, failure);
  }

  expect(log.lines.map(({ level }) => level)).toEqual(levels);
});
