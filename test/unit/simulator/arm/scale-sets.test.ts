import { describe, expect, test } from '@jest/globals';
import { listAt, textAt } from '../../../../src/simulator/workload/json.ts';
import { armRig, configurationsOf, groupPath, setPath, subnetPath, vmPath, withMore } from './arm-rig.ts';

const slowly = `
limits: { throttle: false }
latency: { scale: 0 }
consistency: { listingLagMs: 0 }
times: { startMs: 30000, deleteMs: 30000 }
`;

const flexible = `
cloud: azure
virtualNetworks: [{ name: main, blocks: [10.0.0.0/16], subnets: [{ name: a, block: 10.0.0.0/27 }] }]
scaleSets: [{ name: pool, mode: Flexible, count: 1, interfaces: [{ name: nic0, subnet: a, addresses: 1 }] }]
`;

describe('a scale set', () => {
  test('adds machines that are being created until its operation ends', async () => {
    const { time, cloud, send } = armRig(undefined, slowly);
    await send('PATCH', setPath, { body: { sku: { capacity: 3 } } });
    const added = vmPath.replace('/0', '/2');
    expect(textAt((await send('GET', added)).body, 'properties', 'provisioningState')).toBe('Creating');
    const key = `${groupPath}${added}/networkInterfaces/nic0`.toLowerCase();
    expect(cloud.network.interfaces.get(key)).toMatchObject({ addresses: [], mac: '' });
    await time.advance(30_000);
    expect(textAt((await send('GET', added)).body, 'properties', 'provisioningState')).toBe('Succeeded');
    expect(cloud.network.interfaces.get(key)?.addresses).toHaveLength(2);

    await send('PATCH', setPath, { body: { sku: { capacity: 0 } } });
    await time.advance(30_000);
    expect((await send('GET', vmPath)).status).toBe(404);
    expect((await send('GET', setPath)).status).toBe(200);
    expect((await send('GET', `${setPath}/networkInterfaces`)).status).toBe(404);
    expect(cloud.network.instances.size).toBe(1);
  });

  test('lets nobody change a machine that is being created', async () => {
    const { time, cloud, send, codeOf } = armRig(undefined, slowly);
    await send('PATCH', setPath, { body: { sku: { capacity: 3 } } });
    const added = vmPath.replace('/0', '/2');
    const { body } = await send('GET', added);

    expect(await codeOf('PUT', added, { body: withMore(body, 1) })).toBe('OperationNotAllowed');
    await time.advance(30_000);

    const key = `${groupPath}${added}/networkInterfaces/nic0`.toLowerCase();
    expect(cloud.network.interfaces.get(key)?.mac).toMatch(/^[0-9A-F]{2}(?:[-:][0-9A-F]{2}){5}$/i);
  });

  test('lets nobody change the interface of a machine that is being created', async () => {
    const { time, send, codeOf } = armRig(flexible, slowly);
    await send('PATCH', setPath, { body: { sku: { capacity: 2 } } });
    const added = '/providers/Microsoft.Network/networkInterfaces/pool_1-nic0';
    const { body } = await send('GET', added);

    expect(configurationsOf(body)).toEqual(['ipconfig1 Updating', 'ipconfig2 Updating']);
    expect(await codeOf('PUT', added, { body })).toBe('AnotherOperationInProgress');
    await time.advance(30_000);

    expect(await codeOf('PUT', added, { body })).toBe('none');
  });

  test('loses its machines when it is deleted', async () => {
    const { time, cloud, send, codeOf } = armRig();
    await send('DELETE', setPath);
    await time.advance(60_000);
    expect(await codeOf('GET', setPath)).toBe('ResourceNotFound');
    expect(await codeOf('GET', vmPath)).toBe('ParentResourceNotFound');
    // Five of Azure's, and one of the machine that is not of the set.
    const free = cloud.network.space((groupPath + subnetPath).toLowerCase()).available;
    expect(free).toBe(32 - 5 - 1);
  });

  test('may find out only in the end that a subnet is full', async () => {
    const { time, cloud, send } = armRig();
    cloud.operationAnswers = { ...cloud.operationAnswers, fullSubnet: 'atTheEnd' };
    const { body } = await send('GET', vmPath);
    const { status, headers } = await send('PUT', vmPath, { body: withMore(body, 100) });
    expect(status).toBe(200);
    await time.advance(60_000);
    const { pathname } = new URL(headers['azure-asyncoperation'] ?? '');
    expect(textAt((await send('GET', pathname)).body, 'error', 'code')).toBe('SubnetIsFull');
    const { body: after } = await send('GET', `${vmPath}?api-version=2024-07-01&$expand=instanceView`);
    const [status0] = listAt(after, 'properties', 'instanceView', 'statuses');
    expect(textAt(status0, 'code')).toBe('ProvisioningState/failed/SubnetIsFull');
  });
});
