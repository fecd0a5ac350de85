import { describe, expect, test } from '@jest/globals';
import { awsSection } from '../../../../src/providers/aws/cilium-node-section.ts';
import type { CiliumNode } from '../../../../src/kubernetes/cilium-node/cilium-node.ts';
import {
  type CiliumNodeReading,
  readCiliumNode,
} from '../../../../src/kubernetes/cilium-node/cilium-node-reader.ts';
import type { FieldProblem } from '../../../../src/kubernetes/cilium-node/field-problems.ts';
import type { Json, JsonObject } from '../../../../src/runtime/json.ts';
import { ciliumNode, spoiled } from '../cilium-node-fixture.ts';

function read(raw: unknown): CiliumNode {
  const reading = readCiliumNode(raw, awsSection);
  if (reading.kind !== 'node') throw new Error(JSON.stringify(reading.problems));
  return reading.node;
}

function sentence({ field, problem }: FieldProblem): string {
  return `${field}: ${problem}`;
}

function saidBy(reading: CiliumNodeReading): readonly string[] {
  return reading.kind === 'unreadable' ? reading.problems.map(sentence) : [];
}

describe('a CiliumNode with problems', () => {
  const count = 'a whole number from 0 to 2147483647';
  test.each<[string, (string | number)[], Json | undefined, string]>([
    [
      'a text for a number',
      ['spec', 'ipam', 'pre-allocate'],
      'eight',
      `spec.ipam.pre-allocate: found "eight" where ${count} is accepted`,
    ],
    [
      'a negative number',
      ['spec', 'ipam', 'min-allocate'],
      -1,
      `spec.ipam.min-allocate: found -1 where ${count} is accepted`,
    ],
    [
      'a fraction',
      ['spec', 'ipam', 'max-allocate'],
      1.5,
      `spec.ipam.max-allocate: found 1.5 where ${count} is accepted`,
    ],
    [
      'a huge number',
      ['spec', 'ipam', 'max-above-watermark'],
      1e18,
      `spec.ipam.max-above-watermark: found 1000000000000000000 where ${count} is accepted`,
    ],
    [
      'a list for the pool',
      ['spec', 'ipam', 'pool'],
      ['10.0.0.1'],
      `spec.ipam.pool: found a list of 1 where a map is accepted`,
    ],
    [
      'a demand of text',
      ['spec', 'ipam', 'pools', 'requested', 0, 'needed', 'ipv4-addrs'],
      '3',
      `spec.ipam.pools.requested[0].needed.ipv4-addrs: found "3" where ${count} is accepted`,
    ],
    [
      'a demand without a pool',
      ['spec', 'ipam', 'pools', 'requested', 0, 'pool'],
      undefined,
      `spec.ipam.pools.requested[0].pool: found nothing where a text that is not empty is accepted`,
    ],
    [
      'an invalid network',
      ['spec', 'ipam', 'pools', 'allocated', 0, 'cidrs', 1],
      '10.0.1.0/33',
      `spec.ipam.pools.allocated[0].cidrs[1]: found "10.0.1.0/33" where a network like 10.0.0.0/28 is accepted`,
    ],
    [
      'leading zeros in a network',
      ['spec', 'ipam', 'pools', 'allocated', 0, 'cidrs', 0],
      '010.0.0.1/32',
      `spec.ipam.pools.allocated[0].cidrs[0]: found "010.0.0.1/32" where a network like 10.0.0.0/28 is accepted`,
    ],
    [
      'a number for an instance',
      ['spec', 'instance-id'],
      7,
      `spec.instance-id: found 7 where a text is accepted`,
    ],
    [
      'a wildcard for an instance',
      ['spec', 'instance-id'],
      'i-*',
      `spec.instance-id: found "i-*" where a text of at most 512 characters without spaces and wildcards is accepted`,
    ],
    [
      'an endless text for a network',
      ['spec', 'eni', 'vpc-id'],
      'v'.repeat(513),
      `spec.eni.vpc-id: found "${'v'.repeat(76)}... where a text of at most 512 characters without spaces and wildcards is accepted`,
    ],
    [
      'an object for an instance',
      ['spec', 'eni', 'instance-id'],
      {},
      `spec.eni.instance-id: found an object where a text is accepted`,
    ],
    [
      'a text for a flag',
      ['spec', 'eni', 'use-primary-address'],
      'true',
      `spec.eni.use-primary-address: found "true" where true or false is accepted`,
    ],
    [
      'a tag that is no text',
      ['spec', 'eni', 'subnet-tags', 'tier'],
      1,
      `spec.eni.subnet-tags.tier: found 1 where a text is accepted`,
    ],
    [
      'a negative index',
      ['spec', 'eni', 'first-interface-index'],
      -1,
      'spec.eni.first-interface-index: found -1 where a whole number from 0 to 255 is accepted',
    ],
    [
      'an index that no instance has',
      ['spec', 'eni', 'first-interface-index'],
      256,
      'spec.eni.first-interface-index: found 256 where a whole number from 0 to 255 is accepted',
    ],
    [
      'a group that is no text',
      ['spec', 'eni', 'security-groups', 0],
      null,
      `spec.eni.security-groups[0]: found null where a text is accepted`,
    ],
    ['no spec', ['spec'], undefined, 'spec: found nothing where an object is accepted'],
    [
      'a list for used',
      ['status', 'ipam', 'used'],
      [],
      `status.ipam.used: found a list of 0 where a map is accepted`,
    ],
    [
      'a text for release-ips',
      ['status', 'ipam', 'release-ips'],
      'x',
      `status.ipam.release-ips: found "x" where a map is accepted`,
    ],
    [
      'a list for interfaces',
      ['status', 'eni', 'enis'],
      [1, 2],
      `status.eni.enis: found a list of 2 where a map is accepted`,
    ],
    [
      'no uid',
      ['metadata', 'uid'],
      undefined,
      `metadata.uid: found nothing where a text that is not empty is accepted`,
    ],
    [
      'an empty version',
      ['metadata', 'resourceVersion'],
      '',
      `metadata.resourceVersion: found "" where a text that is not empty is accepted`,
    ],
  ])('is not served because of %s', (_what, path, value, said) => {
    const reading = readCiliumNode(spoiled(path, value), awsSection);

    expect(reading).toMatchObject({ kind: 'unreadable', name: 'node-1' });
    expect(saidBy(reading)).toEqual([said]);
  });

  test('is not served, and all of several problems are named', () => {
    const raw = ciliumNode({ spec: { 'instance-id': 7, ipam: { 'pre-allocate': 'x' } } });

    expect(readCiliumNode(raw, awsSection)).toMatchObject({
      problems: [{ field: 'spec.instance-id' }, { field: 'spec.ipam.pre-allocate' }],
    });
  });

  test('is not served, and of very many problems twenty are named and the others counted', () => {
    const reading = readCiliumNode(
      ciliumNode({ spec: { eni: { 'subnet-ids': Array.from({ length: 500 }, () => 1) } } }),
      awsSection,
    );

    if (reading.kind !== 'unreadable') throw new Error('readable');
    expect(reading.problems).toHaveLength(21);
    expect(reading.problems.at(-1)).toEqual({ field: '', problem: 'and 480 more' });
  });

  test('is not served when it is no object at all', () => {
    for (const raw of [undefined, null, 7, 'x', []]) {
      expect(readCiliumNode(raw, awsSection)).toMatchObject({
        kind: 'unreadable',
        name: '',
        uid: '',
      });
    }
  });

  test('is not served, although its owner wants it ignored', () => {
    const raw = ciliumNode({
      metadata: { annotations: { 'ipam.cilium.io/ignore': 'true' } },
      spec: { 'instance-id': 7 },
    });

    expect(readCiliumNode(raw, awsSection)).toMatchObject({ kind: 'unreadable', ignored: true });
  });
});

describe('a CiliumNode is served without', () => {
  const ipv4 = 'an IPv4 address like 10.0.0.1, without leading zeros,';
  test.each<[string, (string | number)[], Json, string]>([
    [
      'an address with leading zeros',
      ['spec', 'ipam', 'pool', '010.0.0.1'],
      { resource: 'eni-1' },
      `spec.ipam.pool["010.0.0.1"]: found "010.0.0.1" where ${ipv4} is accepted`,
    ],
    [
      'IPv6 in the pool',
      ['spec', 'ipam', 'pool', 'fd00::1'],
      { resource: 'eni-1' },
      `spec.ipam.pool["fd00::1"]: found "fd00::1" where ${ipv4} is accepted`,
    ],
    [
      'a pool entry that is no object',
      ['spec', 'ipam', 'pool', '10.0.0.3'],
      'eni-1',
      `spec.ipam.pool["10.0.0.3"]: found "eni-1" where an object with the texts resource and owner is accepted`,
    ],
    [
      'a pool entry on a numbered interface',
      ['spec', 'ipam', 'pool', '10.0.0.3'],
      { resource: 1 },
      `spec.ipam.pool["10.0.0.3"]: found an object where an object with the texts resource and owner is accepted`,
    ],
    [
      'a used name',
      ['status', 'ipam', 'used', 'localhost'],
      {},
      `status.ipam.used.localhost: found "localhost" where ${ipv4} is accepted`,
    ],
    [
      'an address used with spaces',
      ['status', 'ipam', 'used', '10.0.0.1 '],
      {},
      `status.ipam.used["10.0.0.1 "]: found "10.0.0.1 " where ${ipv4} is accepted`,
    ],
    [
      'an unknown state of a release',
      ['status', 'ipam', 'release-ips', '10.0.0.5'],
      'maybe',
      `status.ipam.release-ips["10.0.0.5"]: found "maybe" where one of marked-for-release, ready-for-release, do-not-release, released is accepted`,
    ],
    [
      'the release of a network',
      ['status', 'ipam', 'release-ips', '10.0.0.0/28'],
      'released',
      `status.ipam.release-ips["10.0.0.0/28"]: found "10.0.0.0/28" where ${ipv4} is accepted`,
    ],
    [
      'an interface that is a text',
      ['status', 'eni', 'enis', 'eni-2'],
      'x',
      `status.eni.enis.eni-2: found "x" where an object is accepted`,
    ],
    [
      'an address list that is a text',
      ['status', 'eni', 'enis', 'eni-1', 'addresses'],
      '10.0.0.1',
      `status.eni.enis.eni-1.addresses: found "10.0.0.1" where a list is accepted`,
    ],
    [
      'one address of an interface',
      ['status', 'eni', 'enis', 'eni-1', 'addresses', 1],
      '10.0.0.256',
      `status.eni.enis.eni-1.addresses[1]: found "10.0.0.256" where ${ipv4} is accepted`,
    ],
    [
      'one prefix of an interface',
      ['status', 'eni', 'enis', 'eni-1', 'prefixes', 0],
      'fd00::/80',
      `status.eni.enis.eni-1.prefixes[0]: found "fd00::/80" where a network like 10.0.0.0/28 is accepted`,
    ],
    [
      'an error that is no text',
      ['status', 'ipam', 'operator-status', 'error'],
      5,
      `status.ipam.operator-status.error: found 5 where a text is accepted`,
    ],
    [
      'a static address that is no text',
      ['status', 'ipam', 'assigned-static-ip'],
      true,
      `status.ipam.assigned-static-ip: found true where a text is accepted`,
    ],
  ])('%s', (_what, path, value, said) => {
    const raw = spoiled(path, value) as {
      spec: { ipam: JsonObject };
      status: { eni: Json; ipam: JsonObject };
    };

    const node = read(raw);

    expect(node.warnings.map(sentence)).toEqual([said]);
    expect(node.base.pooled().toSorted()).toEqual(Object.keys(raw.spec.ipam['pool'] ?? {}).toSorted());
    expect(node.base.status).toMatchObject({ eni: raw.status.eni });
    expect(node.ipam.pool.size).toBe(2);
    expect(node.status.used.size).toBe(1);
    expect(node.status.releaseIps.size).toBe(1);
  });

  test('the one address that is wrong, and with all others', () => {
    const node = read(
      spoiled(['status', 'eni', 'enis', 'eni-1', 'addresses'], ['10.0.0.1', 'x', '10.0.0.2', null]),
    );

    expect(node.status.interfaces.get('eni-1')?.addresses).toEqual(['10.0.0.1', '10.0.0.2']);
    expect(node.warnings.map(({ field }) => field)).toEqual([
      'status.eni.enis.eni-1.addresses[1]',
      'status.eni.enis.eni-1.addresses[3]',
    ]);
  });
});
