import { describe, expect, test } from '@jest/globals';
import { attachedCidrs } from '../../../../src/simulator/workload/attached-cidrs.ts';
import { aws } from '../../../../src/simulator/workload/clouds/aws.ts';
import type { Json } from '../../../../src/simulator/workload/json.ts';

const members = Array.from({ length: 16 }, (_, index) => `10.0.0.${16 + index}`);

function cidrs(enis: Json, eni: Json = {}): readonly (readonly [string, string])[] {
  const node = { spec: { eni }, status: { eni: { enis } } };
  return [...attachedCidrs(aws.interfacesOf(node, 'crd-allocator'), aws.exclusionOf(node)).values()].map(
    (each) => [each.text, each.interfaceId] as const,
  );
}

describe('attachedCidrs', () => {
  test.each([
    ['no interfaces', {}, []],
    [
      'single addresses',
      { e1: { id: 'e1', addresses: ['10.0.0.1', '10.0.0.2'] } },
      [
        ['10.0.0.1/32', 'e1'],
        ['10.0.0.2/32', 'e1'],
      ],
    ],
    [
      'a prefix with its members, and an address outside of it',
      { e1: { id: 'e1', addresses: ['10.0.0.1', ...members], prefixes: ['10.0.0.16/28'] } },
      [
        ['10.0.0.16/28', 'e1'],
        ['10.0.0.1/32', 'e1'],
      ],
    ],
    [
      'only prefixes of the same interface hide an address',
      {
        e1: { id: 'e1', prefixes: ['10.0.0.16/28'] },
        e2: { id: 'e2', number: 1, addresses: ['10.0.0.17'] },
      },
      [
        ['10.0.0.16/28', 'e1'],
        ['10.0.0.17/32', 'e2'],
      ],
    ],
    [
      'what cannot be read is left out, and what is listed twice counts once',
      { e1: { id: 'e1', addresses: ['ten', '10.0.0.1', '10.0.0.1', 7], prefixes: ['10.0.0.16'] } },
      [['10.0.0.1/32', 'e1']],
    ],
  ] satisfies [string, Json, unknown][])('lists the CIDRs of: %s', (_, enis, expected) => {
    expect(cidrs(enis)).toEqual(expected);
  });

  test('leaves excluded interfaces out', () => {
    const enis = {
      e1: { id: 'e1', addresses: ['10.0.0.1'] },
      e2: { id: 'e2', number: 1, addresses: ['10.0.0.2'], tags: { keep: 'out' } },
      e3: { id: 'e3', number: 2, addresses: ['10.0.0.3'] },
    };

    expect(cidrs(enis, { 'first-interface-index': 1, 'exclude-interface-tags': { keep: 'out' } })).toEqual([
      ['10.0.0.3/32', 'e3'],
    ]);
  });
});
