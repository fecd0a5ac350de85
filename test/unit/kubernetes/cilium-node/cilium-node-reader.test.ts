import { describe, expect, test } from '@jest/globals';
import { awsSection } from '../../../../src/providers/aws/cilium-node-section.ts';
import * as fc from 'fast-check';
import type { CiliumNode } from '../../../../src/kubernetes/cilium-node/cilium-node.ts';
import { readCiliumNode } from '../../../../src/kubernetes/cilium-node/cilium-node-reader.ts';
import type { Json, JsonObject } from '../../../../src/runtime/json.ts';
import { ciliumNode, spoiled } from '../cilium-node-fixture.ts';

function read(raw: unknown): CiliumNode {
  const reading = readCiliumNode(raw, awsSection);
  if (reading.kind !== 'node') throw new Error(JSON.stringify(reading.problems));
  return reading.node;
}

describe('readCiliumNode', () => {
  test('reads what is used, and keeps nothing else', () => {
    const node = read(ciliumNode());

    const { base, ...rest } = node;
    expect(rest).toEqual({
      name: 'node-1',
      uid: 'a2d1c5e0-0000-4000-8000-000000000001',
      resourceVersion: '4711',
      deleting: false,
      ignored: false,
      spared: true,
      nodeUid: 'node-uid-1',
      instanceId: 'i-0123',
      ipam: {
        preAllocate: 8,
        minAllocate: 4,
        maxAllocate: 0,
        maxAboveWatermark: 0,
        pool: new Map([
          ['10.0.0.1', { resource: 'eni-1', owner: '' }],
          ['10.0.0.2', { resource: 'eni-1', owner: '' }],
        ]),
        requested: [{ pool: 'default', ipv4: 12, ipv6: 0 }],
        allocated: [{ pool: 'default', cidrs: ['10.0.0.1/32', '10.0.1.0/28'] }],
        staticIpTags: {},
      },
      section: {
        missing: [],
        instanceType: 'm5.large',
        networkId: 'vpc-1',
        zone: 'us-west-2a',
        nodeSubnetId: 'subnet-1',
        firstInterfaceIndex: 1,
        securityGroupIds: ['sg-1'],
        securityGroupTags: {},
        subnetIds: [],
        subnetTags: { tier: 'pods' },
        excludeInterfaceTags: {},
        deleteOnTermination: false,
        usePrimaryAddress: false,
        disablePrefixDelegation: false,
      },
      status: {
        used: new Set(['10.0.0.1']),
        releaseIps: new Map([['10.0.0.2', 'ready-for-release']]),
        interfaces: new Map([['eni-1', { addresses: ['10.0.0.1', '10.0.0.2'], prefixes: ['10.0.1.0/28'] }]]),
        assignedStaticIp: '203.0.113.7',
        operatorError: 'no room',
      },
      warnings: [],
    });
    const raw = ciliumNode() as { spec: { ipam: JsonObject }; status: JsonObject & { ipam: JsonObject } };
    const { used: _used, ...ipam } = raw.status.ipam;
    expect(base.status).toEqual({ eni: raw.status['eni'], ipam });
    expect(base.pooled()).toEqual(Object.keys(raw.spec.ipam['pool'] ?? {}));
  });

  test('applies the defaults to a CiliumNode with required fields only', () => {
    const node = read({ metadata: { name: 'n', uid: 'u', resourceVersion: '1' }, spec: {} });

    expect(node).toMatchObject({
      deleting: false,
      ignored: false,
      ipam: {
        preAllocate: 0,
        minAllocate: 0,
        maxAllocate: 0,
        maxAboveWatermark: 0,
        requested: [],
        allocated: [],
      },
      warnings: [],
    });
    expect([node.nodeUid, node.instanceId, node.section.missing]).toEqual([
      undefined,
      undefined,
      ['spec.eni'],
    ]);
    expect([node.ipam.pool.size, node.status.used.size, node.status.interfaces.size]).toEqual([0, 0, 0]);
    expect([node.base.pooled(), node.base.status]).toEqual([[], {}]);
  });

  test.each<[string, Json]>([
    ['with an owner', { resource: 'eni-1', owner: 'default/web' }],
    ['with an unknown field', { resource: 'eni-1', novelty: true }],
    ['without an interface', {}],
    ['with an empty interface', { resource: '' }],
    ['that is null', null],
  ])('keeps a pool entry %s so that it can be removed from the pool', (_what, entry) => {
    const pool = { '10.0.0.1': { resource: 'eni-1' }, '10.0.0.3': entry };

    const { base } = read(spoiled(['spec', 'ipam', 'pool'], pool));

    expect(base.pooled()).toEqual(Object.keys(pool));
  });

  test('keeps what is published of its own cloud to compute patches from, and nothing of others', () => {
    const published = { interfaces: [{ id: 'x' }] };

    const { status } = read(ciliumNode({ status: { eni: published, azure: published } })).base;

    expect(Object.keys(status)).toEqual(['eni', 'ipam']);
    expect(status['eni']).toMatchObject(published);
  });

  test('applies the defaults that agents and operators share to an empty spec.eni', () => {
    expect(read(spoiled(['spec', 'eni'], {})).section).toEqual({
      missing: ['spec.eni.instance-type', 'spec.eni.vpc-id', 'spec.eni.availability-zone'],
      firstInterfaceIndex: 0,
      securityGroupIds: [],
      securityGroupTags: {},
      subnetIds: [],
      subnetTags: {},
      excludeInterfaceTags: {},
      deleteOnTermination: true,
      usePrimaryAddress: false,
      disablePrefixDelegation: false,
    });
  });

  test.each<[string, JsonObject, string | undefined]>([
    ['the current field', { spec: { 'instance-id': 'i-1', eni: { 'instance-id': 'i-2' } } }, 'i-1'],
    ['the obsolete field', { spec: { 'instance-id': null, eni: { 'instance-id': 'i-2' } } }, 'i-2'],
    [
      'the obsolete field beside an empty one',
      { spec: { 'instance-id': '', eni: { 'instance-id': 'i-2' } } },
      'i-2',
    ],
    ['neither', { spec: { 'instance-id': null } }, undefined],
  ])('finds the instance by %s', (_what, patch, instanceId) => {
    expect(read(ciliumNode(patch)).instanceId).toBe(instanceId);
  });

  test.each([
    ['true', true],
    ['True', true],
    ['TRUE', true],
    ['false', false],
    ['yes', false],
    ['', false],
  ])('reads the annotation ipam.cilium.io/ignore: %j', (value, ignored) => {
    const raw = ciliumNode({ metadata: { annotations: { 'ipam.cilium.io/ignore': value } } });

    expect(read(raw).ignored).toBe(ignored);
  });

  test('reports that a node is being deleted', () => {
    expect(read(ciliumNode({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })).deleting).toBe(true);
  });

  test.each<[string, (string | number)[], Json]>([
    ['null scalars', ['spec', 'ipam', 'pre-allocate'], null],
    ['null maps', ['spec', 'ipam', 'pool'], null],
    ['null lists', ['spec', 'ipam', 'pools', 'requested'], null],
    ['null pools', ['spec', 'ipam', 'pools'], null],
    ['a null used', ['status', 'ipam', 'used'], null],
    ['null interfaces', ['status', 'eni'], null],
    ['a null status', ['status'], null],
    ['null flags', ['spec', 'eni', 'delete-on-termination'], null],
    ['requested without needed', ['spec', 'ipam', 'pools', 'requested', 0, 'needed'], null],
    ['allocated without networks', ['spec', 'ipam', 'pools', 'allocated', 0, 'cidrs'], null],
    ['unknown fields', ['spec', 'ipam', 'novelty'], { a: [1] }],
  ])('treats %s as absent', (_what, path, value) => {
    expect(read(spoiled(path, value)).warnings).toEqual([]);
  });
});

describe('readCiliumNode, for any input', () => {
  const places = [
    ['metadata'],
    ['metadata', 'name'],
    ['metadata', 'annotations'],
    ['metadata', 'ownerReferences'],
    ['spec'],
    ['spec', 'ipam'],
    ['spec', 'ipam', 'pool'],
    ['spec', 'ipam', 'pool', '10.0.0.1'],
    ['spec', 'ipam', 'pools'],
    ['spec', 'ipam', 'pools', 'requested'],
    ['spec', 'eni'],
    ['spec', 'eni', 'subnet-tags'],
    ['status'],
    ['status', 'ipam'],
    ['status', 'ipam', 'used'],
    ['status', 'ipam', 'release-ips'],
    ['status', 'ipam', 'operator-status'],
    ['status', 'eni'],
    ['status', 'eni', 'enis'],
    ['status', 'eni', 'enis', 'eni-1'],
    ['status', 'eni', 'enis', 'eni-1', 'addresses'],
  ];

  test('never throws, and gives a reason for what it leaves out', () => {
    fc.assert(
      fc.property(fc.constantFrom(...places), fc.jsonValue(), (path, value) => {
        const reading = readCiliumNode(spoiled(path, value as Json), awsSection);

        const said = reading.kind === 'node' ? reading.node.warnings : reading.problems;
        expect(reading.kind === 'node' || said.length > 0).toBe(true);
        for (const { problem } of said) expect(problem).toMatch(/^found .+ accepted$|^and \d+ more$/);
      }),
      { numRuns: 500 },
    );
    fc.assert(
      fc.property(fc.jsonValue(), (value) =>
        ['node', 'unreadable'].includes(readCiliumNode(value, awsSection).kind),
      ),
    );
  });

  test('reads back what was written', () => {
    const address = fc.ipV4();
    const number = fc.nat(2 ** 31 - 1);
    const text = fc.string({ minLength: 1 });
    fc.assert(
      fc.property(
        fc.record({
          pool: fc.dictionary(address, fc.record({ resource: text })),
          used: fc.uniqueArray(address),
          addresses: fc.array(address),
          preAllocate: number,
          requested: fc.array(fc.record({ pool: text, ipv4: number, ipv6: number })),
          tags: fc.dictionary(text, fc.string()),
        }),
        ({ pool, used, addresses, preAllocate, requested, tags }) => {
          const raw = ciliumNode();
          const spec = {
            ipam: {
              pool,
              'pre-allocate': preAllocate,
              pools: {
                requested: requested.map(({ pool: name, ipv4, ipv6 }) => ({
                  pool: name,
                  needed: { 'ipv4-addrs': ipv4, 'ipv6-addrs': ipv6 },
                })),
              },
              'static-ip-tags': tags,
            },
          };
          const status = {
            ipam: { used: Object.fromEntries(used.map((ip) => [ip, {}])) },
            eni: { enis: { 'eni-7': { addresses } } },
          };

          const node = read({ ...raw, spec, status });

          expect(node.base.pooled()).toEqual(Object.keys(pool));
          expect([...node.ipam.pool.keys()].toSorted()).toEqual(Object.keys(pool).toSorted());
          expect([...node.status.used].toSorted()).toEqual(used.toSorted());
          expect(node.status.interfaces.get('eni-7')?.addresses).toEqual(addresses);
          expect(node.ipam).toMatchObject({ preAllocate, requested, staticIpTags: { ...tags } });
          expect(node.warnings).toEqual([]);
        },
      ),
    );
  });
});
