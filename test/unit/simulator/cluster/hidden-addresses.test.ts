import { describe, expect, test } from '@jest/globals';
import { hiddenAddresses } from '../../../../src/simulator/cluster/hidden-addresses.ts';
import type { JsonObject } from '../../../../src/simulator/workload/json.ts';

const remembered = new Map([['10.0.0.7', 'default/a']]);

describe('an address that a pod uses', () => {
  test.each<[string, JsonObject, readonly string[]]>([
    ['is hidden when the pool lacks it', { spec: { ipam: { pool: { '10.0.0.8': {} } } } }, ['10.0.0.7']],
    ['is not hidden when the pool has it', { spec: { ipam: { pool: { '10.0.0.7': {} } } } }, []],
    [
      'is hidden although the agent would agree to release it',
      { spec: { ipam: {} }, status: { ipam: { 'release-ips': { '10.0.0.7': 'ready-for-release' } } } },
      ['10.0.0.7'],
    ],
    [
      'is hidden when only the CiliumNode shows it as used',
      { spec: { ipam: { pool: { '10.0.0.7': {} } } }, status: { ipam: { used: { '10.0.0.9': {} } } } },
      ['10.0.0.9'],
    ],
  ])('is watched under an agent of the CRD allocator: %s', (_, node, expected) => {
    const hidden = hiddenAddresses(node, { protocol: 'crd-allocator', remembered });

    expect([...hidden.keys()]).toEqual(expected);
  });

  const reported = (...cidrs: readonly string[]): JsonObject => ({
    ipam: { pools: { allocated: [{ pool: 'default', cidrs }] } },
  });
  const shown = (eni: JsonObject): JsonObject => ({ eni: { enis: { 'eni-1': eni } } });

  test.each<[string, JsonObject, readonly string[]]>([
    [
      'is hidden when no interface shows it',
      { spec: reported('10.0.0.7/32'), status: shown({}) },
      ['10.0.0.7'],
    ],
    [
      'is not hidden when an interface shows it',
      { spec: reported('10.0.0.7/32'), status: shown({ addresses: ['10.0.0.7'] }) },
      [],
    ],
    [
      'is not hidden when it is in a prefix',
      { spec: reported('10.0.0.0/28'), status: shown({ prefixes: ['10.0.0.0/28'] }) },
      [],
    ],
    [
      'is not hidden when the agent has reported it as dropped',
      { spec: reported('10.0.0.8/32'), status: shown({}) },
      [],
    ],
  ])('is watched under a multi-pool agent: %s', (_, node, expected) => {
    const hidden = hiddenAddresses(node, { protocol: 'multi-pool', remembered });

    expect([...hidden.keys()]).toEqual(expected);
  });
});
