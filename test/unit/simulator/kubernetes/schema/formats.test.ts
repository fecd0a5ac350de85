import { expect, test } from '@jest/globals';
import { stringFormat } from '../../../../../src/simulator/kubernetes/schema/formats.ts';

test.each([
  [
    'cidr',
    ['10.0.0.0/8', '10.0.0.1/32', 'fd00::/64'],
    ['10.0.0.0', '10.0.0.0/33', 'fd00::/129', 'x/8', '1/2/3', '010.0.0.0/8'],
  ],
  ['ipv4', ['10.0.0.1'], ['10.0.0', 'fd00::1', '010.0.0.1']],
  ['ipv6', ['fd00::1'], ['10.0.0.1', 'fd00:::1']],
  ['date', ['2026-01-31'], ['2026-13-01', '26-01-01']],
  ['date-time', ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.5+02:00'], ['2026-01-01', 'x']],
  ['mac', ['02:00:00:00:00:01', '02-00-00-00-00-01'], ['02:00:00:00:00', '02:00-00:00:00:01']],
  ['uuid', ['3d05684b-12e8-4a16-8196-e8f62a29f4e8'], ['3d05684b']],
  ['hostname', ['node-1.example.org'], ['-x', 'a_b']],
  ['email', ['a@b'], ['a', '@b']],
  ['uri', ['https://example.org/x', '/x'], ['not a uri']],
])('the format %s accepts valid values and refuses others', (name, good, bad) => {
  const accepts = stringFormat(name);

  expect(good.map((text) => accepts?.(text))).toEqual(good.map(() => true));
  expect(bad.map((text) => accepts?.(text))).toEqual(bad.map(() => false));
});

test('a format that the server does not know accepts everything', () => {
  expect(stringFormat('int32')).toBeUndefined();
  expect(stringFormat('toString')).toBeUndefined();
});
