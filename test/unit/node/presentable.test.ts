import { expect, test } from '@jest/globals';
import { presentable } from '../../../src/node/conditions/node-condition.ts';

test.each<[string, string, string]>([
  ['as it is', 'nothing matches a subnet', 'nothing matches a subnet'],
  ['without control characters', 'a\nb\u001b[31mc', 'a\ufffdb\ufffd[31mc'],
  ['cut when it is long', 'x'.repeat(5000), `${'x'.repeat(1000)}…`],
])('an untrusted text is shown %s', (_, text, reported) => {
  expect(presentable({ reason: 'CallFailed', message: text })).toEqual({
    reason: 'CallFailed',
    message: reported,
  });
});
