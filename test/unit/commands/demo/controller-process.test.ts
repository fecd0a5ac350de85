import { expect, test } from '@jest/globals';
import { endInWords } from '../../../../src/commands/demo/controller-process.ts';

const end = { code: 1, signal: undefined, complaint: '', lostLease: undefined };

test.each([
  ['names its exit code and its complaint', { complaint: 'no' }, 'the controller exited with code 1: no'],
  ['names the signal', { code: undefined, signal: 'SIGKILL' }, 'the controller was ended by SIGKILL'],
  ['blames a failed start', { code: undefined }, 'the controller could not be started'],
  [
    'blames the machine for a lost Lease',
    { lostLease: 'it was not renewed' },
    'this machine is too slow: the controller could not renew its Lease of a few seconds in time: it was not renewed',
  ],
])('the end of a controller of the demonstration %s', (_, change, words) => {
  expect(endInWords({ ...end, ...change })).toBe(words);
});
