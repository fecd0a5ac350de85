import { describe, expect, test } from '@jest/globals';
import { awsSection } from '../../../../src/providers/aws/cilium-node-section.ts';
import { readCiliumNode } from '../../../../src/kubernetes/cilium-node/cilium-node-reader.ts';
import type { Json } from '../../../../src/runtime/json.ts';
import { ciliumNode, spoiled } from '../cilium-node-fixture.ts';

function addresses(count: number): Record<string, Json> {
  const names = Array.from(
    { length: count },
    (_, index) => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`,
  );
  return Object.fromEntries(names.map((name) => [name, { resource: 'eni-1' }]));
}

const long = 'x'.repeat(1_000_000);
const tags = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`tag-${index}`, 'x']));

describe('a CiliumNode that is larger than any node needs', () => {
  test.each<[string, readonly (string | number)[], Json]>([
    [
      'spec.ipam.pool: has 4097 entries, and at most 4096 are read',
      ['spec', 'ipam', 'pool'],
      addresses(4097),
    ],
    [
      'status.ipam.used: has 4097 entries, and at most 4096 are read',
      ['status', 'ipam', 'used'],
      addresses(4097),
    ],
    ['spec.eni.subnet-tags: has 51 entries, and at most 50 are read', ['spec', 'eni', 'subnet-tags'], tags],
    ['spec.eni: is larger than the 32768 characters that are read', ['spec', 'eni', 'vpc-id'], long],
    [
      'spec.eni: is larger than the 32768 characters that are read',
      ['spec', 'eni', 'subnet-tags', long],
      'x',
    ],
    [
      'spec.ipam.pool: is larger than the 524288 characters that are read',
      ['spec', 'ipam', 'pool', long],
      {},
    ],
    [
      'spec.ipam.pools: is larger than the 262144 characters that are read',
      ['spec', 'ipam', 'pools', 'allocated', 0, 'pool'],
      long,
    ],
    [
      'status.eni: is larger than the 262144 characters that are read',
      ['status', 'eni', 'enis', 'eni-1', 'description'],
      long,
    ],
    [
      'status.eni: is larger than the 262144 characters that are read',
      ['status', 'eni', 'enis', 'eni-1', 'addresses'],
      Array(30_000).fill('10.0.0.1') as Json,
    ],
    [
      'status.ipam.operator-status: is larger than the 4096 characters that are read',
      ['status', 'ipam', 'operator-status', 'error'],
      long,
    ],
    ['spec.instance-id: is larger than the 1024 characters that are read', ['spec', 'instance-id'], long],
  ])('is not read, and says why: %s (case %#)', (problem, path, value) => {
    const reading = readCiliumNode(spoiled(path, value), awsSection);

    expect(reading.kind).toBe('unreadable');
    const problems = reading.kind === 'unreadable' ? reading.problems : [];
    expect(problems.map((each) => `${each.field}: ${each.problem}`)).toEqual([problem]);
  });

  test('keeps little of itself in memory', () => {
    const watched = readCiliumNode(spoiled(['spec', 'ipam', 'pool'], addresses(25_000)), awsSection);

    expect(JSON.stringify(watched).length).toBeLessThan(500);
  });

  test('is reported in a few words when a map in it has a name of a megabyte', () => {
    const reading = readCiliumNode(
      spoiled(['status', 'ipam', 'used', long.slice(0, 1_000_000)], {}),
      awsSection,
    );

    expect(reading.kind).toBe('node');
    expect(JSON.stringify(reading.kind === 'node' ? reading.node.warnings : []).length).toBeLessThan(500);
  });

  test('is larger than any real node', () => {
    const reading = readCiliumNode(ciliumNode({ spec: { ipam: { pool: addresses(4096) } } }), awsSection);

    expect(reading.kind).toBe('node');
  });
});
