import { describe, expect, test } from '@jest/globals';
import {
  ciliumPodIpPoolsPath,
  readCiliumPodIpPool,
} from '../../../../src/kubernetes/ciliumpodippool/cilium-pod-ip-pool.ts';
import type { Json, JsonObject } from '../../../../src/runtime/json.ts';

function pool(spec: Json, metadata: JsonObject = {}): JsonObject {
  return {
    apiVersion: 'cilium.io/v2alpha1',
    kind: 'CiliumPodIPPool',
    metadata: {
      name: 'blue',
      uid: 'u-1',
      resourceVersion: '7',
      creationTimestamp: '2026-01-02T03:04:05Z',
      ...metadata,
    },
    spec,
  };
}

const ends = { allowFirstIP: true, allowLastIP: true };
interface Spec extends JsonObject {
  readonly ipv4?: JsonObject;
  readonly ipv6?: JsonObject;
}

describe('a CiliumPodIPPool', () => {
  test('is cluster scoped, in the only version that Cilium serves', () => {
    expect(ciliumPodIpPoolsPath).toBe('/apis/cilium.io/v2alpha1/ciliumpodippools');
  });

  test('is read in full', () => {
    const selector = { matchLabels: { team: 'blue' } };
    const spec = {
      ipv4: { cidrs: ['10.1.0.0/16', '10.2.0.0/16'], maskSize: 24 },
      ipv6: { cidrs: ['fd00::/104'], maskSize: 120 },
      allowFirstIP: true,
      podSelector: selector,
    };
    const annotations = { 'ipam.cilium.io/skip-masquerade': 'true' };
    expect(readCiliumPodIpPool(pool(spec, { annotations }))).toEqual({
      name: 'blue',
      uid: 'u-1',
      resourceVersion: '7',
      createdAt: Date.UTC(2026, 0, 2, 3, 4, 5),
      isDeleting: false,
      ipv4: { cidrs: ['10.1.0.0/16', '10.2.0.0/16'], maskSize: 24, allowFirstIp: true, allowLastIp: false },
      ipv6: { cidrs: ['fd00::/104'], maskSize: 120, allowFirstIp: true, allowLastIp: false },
      podSelector: selector,
      namespaceSelector: undefined,
      skipsMasquerade: true,
      problem: undefined,
    });
  });

  test.each([
    ['at spec', { ipv4: {}, ipv6: {}, allowFirstIP: true, allowLastIP: true }, true],
    ['in each family, as older pools', { ipv4: ends, ipv6: ends }, true],
    ['in the only family', { ipv6: ends }, true],
    ['in one family of two', { ipv4: ends, ipv6: {} }, false],
    ['nowhere', { ipv4: {}, ipv6: {} }, false],
  ])('allows the ends of blocks if that stands %s', (_, { ipv4, ipv6, ...rest }: Spec, isAllowed) => {
    const spec = {
      ...(ipv4 && { ipv4: { cidrs: ['10.0.0.0/16'], maskSize: 24, ...ipv4 } }),
      ...(ipv6 && { ipv6: { cidrs: ['fd00::/104'], maskSize: 120, ...ipv6 } }),
      ...rest,
    };

    const read = readCiliumPodIpPool(pool(spec));

    for (const networks of [read.ipv4, read.ipv6])
      if (networks !== undefined)
        expect([networks.allowFirstIp, networks.allowLastIp]).toEqual([isAllowed, isAllowed]);
  });

  test('has the families that it names', () => {
    const read = readCiliumPodIpPool(pool({ ipv6: { cidrs: ['fd00::/104'], maskSize: 120 } }));
    expect(read.ipv4).toBeUndefined();
    expect(read.ipv6?.maskSize).toBe(120);
    expect(read.problem).toBeUndefined();
  });

  const tooMany = Array.from({ length: 257 }, (_, index) => `10.${index % 256}.0.0/16`);
  test.each<[string, Json, string]>([
    ['without CIDRs', { ipv4: { maskSize: 24 } }, 'spec.ipv4.cidrs is missing: set a list of networks'],
    [
      'with an empty list',
      { ipv6: { cidrs: [], maskSize: 120 } },
      'spec.ipv6.cidrs is empty: name at least one network',
    ],
    [
      'with one CIDR as text',
      { ipv4: { cidrs: '10.0.0.0/8', maskSize: 24 } },
      'spec.ipv4.cidrs is "10.0.0.0/8": set a list of networks',
    ],
    [
      'with a number as CIDR',
      { ipv4: { cidrs: [10], maskSize: 24 } },
      'spec.ipv4.cidrs holds 10, which is no CIDR: correct or remove it',
    ],
    [
      'with a book as CIDR',
      { ipv4: { cidrs: ['x'.repeat(81)], maskSize: 24 } },
      `spec.ipv4.cidrs holds "${'x'.repeat(79)}…, which is no CIDR: correct or remove it`,
    ],
    [
      'with 257 CIDRs',
      { ipv4: { cidrs: tooMany, maskSize: 24 } },
      'spec.ipv4.cidrs names 257 networks: name at most 256',
    ],
    [
      'without mask size',
      { ipv4: { cidrs: ['10.0.0.0/8'] } },
      'spec.ipv4.maskSize is missing: set a whole number from 1 to 32',
    ],
    [
      'with mask size 0',
      { ipv6: { cidrs: ['fd00::/8'], maskSize: 0 } },
      'spec.ipv6.maskSize is 0: set a whole number from 1 to 128',
    ],
    [
      'with mask size 33',
      { ipv4: { cidrs: ['10.0.0.0/8'], maskSize: 33 } },
      'spec.ipv4.maskSize is 33: set a whole number from 1 to 32',
    ],
    [
      'with a text that would turn the rest of a line around',
      { ipv4: '\u202eall' },
      'spec.ipv4 is "\\u202eall": set its cidrs and its maskSize',
    ],
    ['with a family of text', { ipv4: 'all' }, 'spec.ipv4 is "all": set its cidrs and its maskSize'],
    ['with a selector of text', { podSelector: 'all' }, 'spec.podSelector is "all": set a label selector'],
    [
      'with a selector of 9,000 characters',
      { namespaceSelector: { matchLabels: { a: 'x'.repeat(9000) } } },
      'spec.namespaceSelector has 9024 characters: use at most 8192',
    ],
  ])('%s names its problem', (_, spec, problem) => {
    expect(readCiliumPodIpPool(pool(spec)).problem).toBe(problem);
  });

  test('of any JSON is read', () => {
    for (const raw of [{}, { metadata: 7 }, { spec: null }, { spec: [] }, { spec: { ipv4: null } }])
      expect(readCiliumPodIpPool(raw).ipv4).toBeUndefined();
  });
});
