import { describe, expect, test } from '@jest/globals';
import { ciliumNodeCrd } from '../../../../src/simulator/kubernetes/ciliumnode-crd.ts';
import type { StructuralSchema } from '../../../../src/simulator/kubernetes/schema/structural-schema.ts';

const [version] = ciliumNodeCrd.spec.versions;
const root: StructuralSchema = version.schema.openAPIV3Schema;

/** Every schema below one, with its path. */
function* schemasIn(schema: StructuralSchema, path = ''): Generator<readonly [string, StructuralSchema]> {
  yield [path, schema];
  for (const [name, field] of Object.entries(schema.properties ?? {}))
    yield* schemasIn(field, `${path}.${name}`);
  if (schema.items !== undefined) yield* schemasIn(schema.items, `${path}[]`);
  if (typeof schema.additionalProperties === 'object')
    yield* schemasIn(schema.additionalProperties, `${path}{}`);
}

const schemas = new Map(schemasIn(root));

describe('the CiliumNode definition', () => {
  test('names the resource as agents know it', () => {
    expect(ciliumNodeCrd.metadata.name).toBe('ciliumnodes.cilium.io');
    expect(ciliumNodeCrd.spec).toMatchObject({
      group: 'cilium.io',
      scope: 'Cluster',
      names: {
        kind: 'CiliumNode',
        plural: 'ciliumnodes',
        shortNames: ['cn', 'ciliumn'],
        categories: ['cilium'],
      },
    });
    expect(version).toMatchObject({ name: 'v2', served: true, storage: true, subresources: { status: {} } });
  });

  test('is structural: every schema has its type', () => {
    const untyped = [...schemas].filter(([, schema]) => schema.type === undefined).map(([path]) => path);

    expect(untyped).toEqual([]);
    expect(root.required).toEqual(['metadata', 'spec']);
  });

  test.each([
    '.spec.ipam.min-allocate',
    '.spec.ipam.max-allocate',
    '.spec.ipam.pre-allocate',
    '.spec.ipam.max-above-watermark',
    '.spec.eni.first-interface-index',
  ])('accepts no negative %s', (path) => {
    expect(schemas.get(path)).toMatchObject({ type: 'integer', minimum: 0 });
  });

  test.each([
    ['.spec.ipam.pool{}.resource', 'string'],
    ['.spec.ipam.ipv6-pool{}.owner', 'string'],
    ['.spec.ipam.pools.requested[].needed.ipv4-addrs', 'integer'],
    ['.spec.ipam.podCIDRs[]', 'string'],
    ['.spec.ipam.static-ip-tags{}', 'string'],
    ['.spec.eni.exclude-interface-tags{}', 'string'],
    ['.spec.eni.disable-prefix-delegation', 'boolean'],
    ['.spec.azure.interface-name', 'string'],
    ['.spec.alibaba-cloud.vswitches[]', 'string'],
    ['.spec.instance-id', 'string'],
    ['.spec.bootid', 'string'],
    ['.spec.nodeidentity', 'integer'],
    ['.spec.encryption.key', 'integer'],
    ['.spec.health.ipv4', 'string'],
    ['.spec.ingress.ipv6', 'string'],
    ['.status.ipam.used{}.owner', 'string'],
    ['.status.ipam.ipv6-used{}.resource', 'string'],
    ['.status.ipam.operator-status.error', 'string'],
    ['.status.ipam.assigned-static-ip', 'string'],
    ['.status.eni.enis{}.public-ip', 'string'],
    ['.status.eni.enis{}.ipv6-prefixes[]', 'string'],
    ['.status.eni.enis{}.vpc.primary-cidr', 'string'],
    ['.status.azure.interfaces[].GatewayIP', 'string'],
    ['.status.azure.interfaces[].addresses[].state', 'string'],
    ['.status.alibaba-cloud.enis{}.private-ipsets[].primary', 'boolean'],
    ['.status.alibaba-cloud.enis{}.vpc.secondary-cidrs[]', 'string'],
  ])('has %s of type %s', (path, type) => {
    expect(schemas.get(path)?.type).toBe(type);
  });

  test('knows the steps of a release, the states of a CIDR and the form of a CIDR', () => {
    expect(schemas.get('.status.ipam.release-ips{}')?.enum).toEqual([
      'marked-for-release',
      'ready-for-release',
      'do-not-release',
      'released',
    ]);
    expect(schemas.get('.status.ipam.release-ipv6s{}')?.enum).toHaveLength(4);
    expect(schemas.get('.status.ipam.pod-cidrs{}.status')?.enum).toEqual(['released', 'depleted', 'in-use']);
    expect(schemas.get('.spec.ipam.pools.allocated[].cidrs[]')?.format).toBe('cidr');
    expect(schemas.get('.spec.ipam.pools.allocated[]')?.required).toEqual(['pool']);
  });
});
