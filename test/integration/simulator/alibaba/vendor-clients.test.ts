import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Random } from '../../../../src/runtime/random.ts';
import { systemClock } from '../../../../src/runtime/system-clock.ts';
import { type AlibabaServer, startAlibabaServer } from '../../../../src/simulator/alibaba/alibaba-server.ts';
import { readAlibabaTopology } from '../../../../src/simulator/alibaba/alibaba-topology.ts';
import { createAlibaba } from '../../../../src/simulator/alibaba/create-alibaba.ts';
import type { VendorAnswer, VendorCall } from './vendor-client.ts';

const topology = `
cloud: alibabacloud
vpcs: [{ id: vpc-1, name: main, blocks: [10.0.0.0/16] }]
vSwitches: [{ id: vsw-1, name: a, zone: cn-hangzhou-a, block: 10.0.0.0/24 }]
securityGroups: [{ id: sg-1, name: nodes }]
instances: [{ id: i-1, name: one, type: ecs.g7.large, vSwitch: a, securityGroups: [nodes] }]
latency: { scale: 0 }
consistency: { visibilityDelayMs: 0, listingLagMs: 0 }
times: { createMs: 0, attachMs: 0 }
`;

let server: AlibabaServer;
let ask: (call: VendorCall) => Promise<VendorAnswer>;
let stop: () => void;

beforeAll(async () => {
  const read = readAlibabaTopology(topology);
  if ('problems' in read) throw new Error(read.problems.join('\n'));
  const random = new Random('vendor-clients');
  const { gateway, clock } = createAlibaba({ topology: read.topology, clock: systemClock, random });
  server = await startAlibabaServer({ gateway, clock: systemClock, port: 0 });
  const client = fileURLToPath(new URL('vendor-client.ts', import.meta.url));
  const child = spawn(process.execPath, [client, new URL(server.url).host], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  ask = async (call) => {
    child.stdin.write(`${JSON.stringify(call)}\n`);
    const { value, done } = await lines.next();
    if (done === true) throw new Error(`the client ended before it answered ${call.action}`);
    return JSON.parse(value) as VendorAnswer;
  };
  stop = () => {
    child.stdin.end();
    clock.stop();
  };
});

afterAll(async () => {
  stop();
  await server.close();
});

const ecs = (action: string, input: VendorCall['input'] = {}): Promise<VendorAnswer> =>
  ask({ product: 'ecs20140526', action, input });

const vpc = (action: string, input: VendorCall['input'] = {}): Promise<VendorAnswer> =>
  ask({ product: 'vpc20160428', action, input });

const wanted = {
  vSwitchId: 'vsw-1',
  securityGroupIds: ['sg-1'],
  clientToken: 'first',
  secondaryPrivateIpAddressCount: 3,
  tag: [{ key: 'cilium-eni-index', value: '1' }],
};

describe("Alibaba Cloud's own clients for JavaScript", () => {
  test('read networks, types and security groups', async () => {
    expect(await vpc('DescribeVpcs')).toMatchObject({ body: { vpcs: { vpc: [{ vpcId: 'vpc-1' }] } } });
    expect(await vpc('DescribeVSwitches', { vpcId: 'vpc-1' })).toMatchObject({
      body: { vSwitches: { vSwitch: [{ vSwitchId: 'vsw-1', availableIpAddressCount: 251 }] } },
    });
    expect(await ecs('DescribeInstanceTypes', { instanceTypes: ['ecs.g7.large'] })).toMatchObject({
      body: { instanceTypes: { instanceType: [{ eniQuantity: 3, eniPrivateIpAddressQuantity: 6 }] } },
    });
    expect(await ecs('DescribeSecurityGroups', { vpcId: 'vpc-1' })).toMatchObject({
      body: {
        securityGroups: {
          securityGroup: expect.arrayContaining([
            expect.objectContaining({ securityGroupId: 'sg-1' }),
          ]) as unknown,
        },
      },
    });
  });

  test('create, attach, fill and delete interfaces', async () => {
    const { body: made } = await ecs('CreateNetworkInterface', wanted);
    const networkInterfaceId = made?.['networkInterfaceId'];
    const again = await ecs('CreateNetworkInterface', wanted);
    const changed = await ecs('CreateNetworkInterface', { ...wanted, secondaryPrivateIpAddressCount: 4 });
    const attached = await ecs('AttachNetworkInterface', { instanceId: 'i-1', networkInterfaceId });
    const assigned = await ecs('AssignPrivateIpAddresses', {
      networkInterfaceId,
      secondaryPrivateIpAddressCount: 1,
    });
    const shown = await ecs('DescribeNetworkInterfaces', {
      networkInterfaceId: [networkInterfaceId],
      maxResults: 50,
    });

    expect(again.body?.['networkInterfaceId']).toBe(networkInterfaceId);
    expect(changed).toEqual({ status: 400, code: 'IdempotentParameterMismatch' });
    expect(attached.status).toBe(200);
    expect(assigned).toMatchObject({
      body: { assignedPrivateIpAddressesSet: { privateIpSet: { privateIpAddress: [expect.any(String)] } } },
    });
    expect(shown).toMatchObject({
      body: { networkInterfaceSets: { networkInterfaceSet: [{ status: 'InUse', instanceId: 'i-1' }] } },
    });
    expect(await ecs('DeleteNetworkInterface', { networkInterfaceId })).toEqual({
      status: 400,
      code: 'InvalidOperation.InvalidEniState',
    });
  });

  test('report what is missing by its code', async () => {
    expect(await ecs('DeleteNetworkInterface', { networkInterfaceId: 'eni-none' })).toEqual({
      status: 404,
      code: 'InvalidEniId.NotFound',
    });
  });
});
