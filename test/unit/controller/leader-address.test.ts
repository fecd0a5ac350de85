import { describe, expect, test } from '@jest/globals';
import { LeaderAddress } from '../../../src/controller/leader-address.ts';

function leaseWith(text: string | undefined): ConstructorParameters<typeof LeaderAddress>[0] {
  let written = text;
  return { annotation: () => written, annotate: (_, changed) => (written = changed) };
}

describe('the address of a leader', () => {
  test.each([
    ['an address of its own', 'headwater-a 10.0.0.5:9966', '10.0.0.5:9966'],
    ['an address on its loopback', 'headwater-a 127.0.0.1:9966 on node-1', '127.0.0.1:9966 on node-1'],
    ['none of a former leader', 'headwater-b 10.0.0.5:9966', undefined],
    ['none at all', undefined, undefined],
    ['nothing but a name', 'headwater-a', undefined],
    ['unsafe text', 'headwater-a \u001b[31mred', '\\u001b[31mred'],
  ])('is %s', (_, text, address) => {
    const known = new LeaderAddress(leaseWith(text), 'headwater-0');

    expect(known.of('headwater-a')).toBe(address);
    expect(known.of(undefined)).toBeUndefined();
    expect(known.noteOn('headwater-a')).toBe(
      `standing by: headwater-a leads${address === undefined ? '' : ` at ${address}`}`,
    );
    expect(known.noteOn(undefined)).toBeUndefined();
  });

  test('is what the leader announced', () => {
    const lease = leaseWith(undefined);
    new LeaderAddress(lease, 'headwater-a').announce('10.0.0.5:9966');

    expect(new LeaderAddress(lease, 'headwater-b').of('headwater-a')).toBe('10.0.0.5:9966');
    expect(new LeaderAddress(undefined, 'headwater-b').of('headwater-a')).toBeUndefined();
  });
});
