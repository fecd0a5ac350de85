import { describe, expect, test } from '@jest/globals';
import { listAt, objectAt, textAt, valueAt } from '../../../../src/simulator/workload/json.ts';
import {
  armRig,
  configurationsOf,
  groupPath,
  mapConfigurations,
  subnetPath,
  vmPath,
  withMore,
} from './arm-rig.ts';

const vmKey = `${groupPath}${vmPath}`.toLowerCase();
const nicPath = `${vmPath}/networkInterfaces/nic0`;

describe('the PUT of a scale-set VM', () => {
  test('takes addresses from the subnet at once and gives them to the interface when its operation ends', async () => {
    const { cloud, time, send } = armRig();
    const { body: before } = await send('GET', vmPath);
    const free = cloud.network.space(`${groupPath}${subnetPath}`.toLowerCase()).available;

    const put = await send('PUT', vmPath, { body: withMore(before, 3) });

    expect(put.status).toBe(200);
    expect(textAt(put.body, 'properties', 'provisioningState')).toBe('Updating');
    expect(cloud.network.space(`${groupPath}${subnetPath}`.toLowerCase()).available).toBe(free - 3);
    expect(cloud.network.interfaces.get(`${vmKey}/networkinterfaces/nic0`)?.addresses).toHaveLength(2);
    const during = await send('GET', nicPath, { version: '2018-10-01' });
    expect(configurationsOf(during.body)).toEqual([
      'ipconfig1 Updating',
      'ipconfig2 Updating',
      'more-0 Updating',
      'more-1 Updating',
      'more-2 Updating',
    ]);

    await time.advance(20_000);

    expect(cloud.network.interfaces.get(`${vmKey}/networkinterfaces/nic0`)?.addresses).toHaveLength(5);
    const after = await send('GET', vmPath);
    expect(textAt(after.body, 'properties', 'provisioningState')).toBe('Succeeded');
    const nic = await send('GET', nicPath, { version: '2018-10-01' });
    expect(configurationsOf(nic.body)).not.toContain('more-0 Updating');
  });

  test('answers with an operation that runs and then has succeeded', async () => {
    const { time, send } = armRig();
    const { body } = await send('GET', vmPath);
    const { headers } = await send('PUT', vmPath, { body: withMore(body, 1) });
    const status = new URL(headers['azure-asyncoperation'] ?? '');
    const result = new URL(headers['location'] ?? '');

    expect((await send('GET', status.pathname)).body['status']).toBe('InProgress');
    expect((await send('GET', result.pathname)).status).toBe(202);
    await time.advance(20_000);

    expect((await send('GET', status.pathname)).body['status']).toBe('Succeeded');
    expect((await send('GET', result.pathname)).body['instanceId']).toBe('0');
  });

  test('is refused with an etag that is not the last one, and while another one runs', async () => {
    const { time, send, codeOf } = armRig();
    const { body, headers } = await send('GET', vmPath);
    await send('PUT', vmPath, { body: withMore(body, 1), ifMatch: headers['etag'] ?? '' });
    expect(await codeOf('PUT', vmPath, { body })).toBe('OperationNotAllowed');
    await time.advance(20_000);
    const late = await send('PUT', vmPath, { body, ifMatch: headers['etag'] ?? '' });
    expect(late.status).toBe(412);
    expect(textAt(late.body, 'error', 'code')).toBe('PreconditionFailed');
  });

  test('takes all addresses or none', async () => {
    const { cloud, send, codeOf } = armRig();
    const { body } = await send('GET', vmPath);
    const space = cloud.network.space(`${groupPath}${subnetPath}`.toLowerCase());
    const { available } = space;
    expect(await codeOf('PUT', vmPath, { body: withMore(body, available + 1) })).toBe('SubnetIsFull');
    expect(space.available).toBe(available);
    expect(await codeOf('PUT', vmPath, { body: withMore(body, available) })).toBe('none');
  });

  test('keeps the image if none is given, refuses another one, and keeps unknown fields', async () => {
    const { time, send, codeOf } = armRig();
    const { body } = await send('GET', vmPath);
    const properties = objectAt(body, 'properties');
    const { imageReference, ...storageProfile } = objectAt(properties, 'storageProfile');
    const changed = { ...body, properties: { ...properties, storageProfile, futureProfile: { level: 7 } } };
    await send('PUT', vmPath, { body: changed });
    await time.advance(20_000);

    const { body: after } = await send('GET', vmPath);
    expect(valueAt(after, 'properties', 'storageProfile', 'imageReference')).toEqual(imageReference);
    expect(valueAt(after, 'properties', 'futureProfile')).toEqual({ level: 7 });
    const other = {
      ...after,
      properties: { ...properties, storageProfile: { imageReference: { sku: 'other' } } },
    };
    expect(await codeOf('PUT', vmPath, { body: other })).toBe('PropertyChangeNotAllowed');
  });

  test('takes a dropped address from the interface at once, and the subnet has it when the operation ends', async () => {
    const { cloud, time, send } = armRig();
    const space = cloud.network.space(`${groupPath}${subnetPath}`.toLowerCase());
    const { available } = space;
    const { body } = await send('GET', vmPath);
    await send('PUT', vmPath, { body: mapConfigurations(body, (list) => list.slice(0, 1)) });
    expect(cloud.network.interfaces.get(`${vmKey}/networkinterfaces/nic0`)?.addresses).toHaveLength(1);
    expect(space.available).toBe(available);
    await time.advance(20_000);
    expect(space.available).toBe(available + 1);
  });

  test.each([
    ['two configurations of one name', 'DuplicateResourceName', ['ipconfig1', 'ipconfig1']],
    ['no primary configuration', 'NoPrimaryIpConfigurationOnNic', ['ipconfig2', 'more']],
  ])('is refused with %s', async (_, code, names) => {
    const { send, codeOf } = armRig();
    const { body } = await send('GET', vmPath);
    const subnet = { id: groupPath + subnetPath };
    const changed = mapConfigurations(body, () =>
      names.map((name) => ({ name, properties: { subnet, primary: name === 'ipconfig1' } })),
    );
    expect(await codeOf('PUT', vmPath, { body: changed })).toBe(code);
  });
});

describe('a request', () => {
  test.each([
    ['without an api-version', '?x=y', {}, 400, 'MissingApiVersionParameter'],
    ['with a token of nobody', '', { token: 'a.b.c' }, 401, 'InvalidAuthenticationToken'],
  ])('%s is refused', async (_, query, options, status, code) => {
    const { send } = armRig();
    const answered = await send('GET', vmPath + query, options);
    expect([answered.status, textAt(answered.body, 'error', 'code')]).toEqual([status, code]);
  });

  test('for what does not exist says which part is missing', async () => {
    const { codeOf } = armRig();
    const other = '/subscriptions/00000000-0000-0000-0000-000000000002/resourceGroups/nodes';
    expect(await codeOf('GET', other + vmPath)).toBe('SubscriptionNotFound');
    expect(await codeOf('GET', groupPath.replace('nodes', 'none') + vmPath)).toBe('ResourceGroupNotFound');
    expect(await codeOf('GET', vmPath.replace('pool', 'none'))).toBe('ParentResourceNotFound');
    expect(await codeOf('GET', vmPath.replace('/0', '/7'))).toBe('NotFound');
    expect(await codeOf('GET', subnetPath.replace('subnets/a', 'subnets/b'))).toBe('NotFound');
  });
});

describe('a listing', () => {
  test('links to its next page', async () => {
    const { cloud, send } = armRig();
    cloud.pageSize = 1;
    const path = vmPath.replace('/virtualMachines/0', '/networkInterfaces');
    const first = await send('GET', path, { version: '2018-10-01' });
    expect(listAt(first.body, 'value')).toHaveLength(1);
    const next = new URL(textAt(first.body, 'nextLink'));
    expect(next.host).toBe('arm.example');
    const second = await send('GET', next.pathname + next.search);
    expect(listAt(second.body, 'value')).toHaveLength(1);
    expect(second.body['nextLink']).toBeUndefined();
  });
});
