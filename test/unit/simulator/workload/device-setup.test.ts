import { describe, expect, test } from '@jest/globals';
import { aws } from '../../../../src/simulator/workload/clouds/aws.ts';
import { DeviceSetup } from '../../../../src/simulator/workload/device-setup.ts';
import { type JsonObject, objectAt } from '../../../../src/simulator/workload/json.ts';
import { Cluster, eni } from './cluster.ts';

const first = eni('eni-1', ['10.0.1.1']);
const second = eni('eni-2', ['10.0.1.2'], { number: 1, ip: '10.0.0.12' });

function lacking(more: JsonObject): JsonObject {
  return eni('eni-3', [], { number: 2, ip: '10.0.0.13', ...more });
}

function nodeWith(enis: JsonObject, pool: JsonObject = {}): JsonObject {
  return { spec: { ipam: { pool } }, status: { eni: { enis } } };
}

/** Whether eni-2 is set up once these were seen one after the other. */
function isSetUpAfter(...nodes: readonly JsonObject[]): boolean {
  const setup = new DeviceSetup(new Set(), aws);
  for (const node of nodes) setup.observe(node, aws.interfacesOf(node, 'multi-pool'));
  return setup.isDone('eni-2');
}

describe('an interface that is new to an agent of ENI mode', () => {
  const both = { 'eni-1': first, 'eni-2': second };
  const held = nodeWith(both, { '10.0.1.9': { resource: 'eni-9' } });

  test.each<[string, JsonObject, boolean]>([
    ['is set up', nodeWith(both, { '10.0.1.1': { resource: 'eni-1' } }), true],
    ['waits while the pool names an interface that the status lacks', held, false],
    [
      'waits while the pool names an address where the status lacks it',
      nodeWith(both, { '10.0.1.9': { resource: 'eni-1' } }),
      false,
    ],
    [
      'waits while the pool names an address on another interface than the status',
      nodeWith(both, { '10.0.1.1': { resource: 'eni-2' } }),
      false,
    ],
    ['waits for the address of any interface', nodeWith({ ...both, 'eni-3': lacking({ ip: '' }) }), false],
    [
      'waits for the subnet CIDR of any interface',
      nodeWith({ ...both, 'eni-3': lacking({ subnet: { id: 'subnet-1', cidr: '' } }) }),
      false,
    ],
    [
      'waits for the VPC CIDR of any interface',
      nodeWith({ ...both, 'eni-3': lacking({ vpc: { id: 'vpc-1', 'primary-cidr': '' } }) }),
      false,
    ],
  ])('%s', (_, node, expected) => {
    expect(isSetUpAfter(node)).toBe(expected);
  });

  test.each<[string, readonly JsonObject[], boolean]>([
    ['is set up once nothing holds it up any longer', [held, nodeWith(both)], true],
    ['stays set up whatever its CiliumNode says later', [nodeWith(both), held], true],
    ['is new again after it was gone', [nodeWith(both), nodeWith({ 'eni-1': first }), held], false],
  ])('%s', (_, nodes, expected) => {
    expect(isSetUpAfter(...nodes)).toBe(expected);
  });

  test.each<[string, JsonObject, readonly string[]]>([
    ['is no violation once it is set up', {}, []],
    [
      'is a violation as long as it is not, if a pod gets its address',
      { '10.0.1.9': { resource: 'eni-9' } },
      ['interface-not-set-up'],
    ],
  ])('%s', async (_, pool, expected) => {
    const cluster = new Cluster();
    await cluster.createNode();
    const agent = cluster.agent('multi-pool');
    agent.start();
    await cluster.clock.advance(0);
    await cluster.offer([first]);
    await cluster.clock.advance(60_000);
    await cluster.patchSpec({ ipam: { pool } });
    await cluster.patchStatus({ eni: { enis: { 'eni-2': second } } });
    await cluster.clock.advance(0);

    for (const pod of ['a', 'b']) agent.add(pod);

    expect(new Set(agent.addressesInUse().keys())).toEqual(new Set(['10.0.1.1', '10.0.1.2']));
    expect(agent.violations.map(({ what }) => what)).toEqual(expected);
    expect(objectAt(await cluster.ciliumNode(), 'status', 'eni', 'enis')).toHaveProperty('eni-2');
  });
});
