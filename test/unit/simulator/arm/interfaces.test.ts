import { describe, expect, test } from '@jest/globals';
import { listAt, objectAt, textAt } from '../../../../src/simulator/workload/json.ts';
import type { JsonObject } from '../../../../src/simulator/workload/json.ts';
import { type ArmRig, armRig, configurationsOf, groupPath, ownNicPath, subnetPath } from './arm-rig.ts';

const subnet = { id: groupPath + subnetPath };

function held({ cloud }: ArmRig): number {
  return cloud.network.interfaces.get((groupPath + ownNicPath).toLowerCase())?.addresses.length ?? 0;
}

function withOneMore(body: JsonObject, name = 'more'): JsonObject {
  const list = listAt(body, 'properties', 'ipConfigurations');
  const more = { name, properties: { subnet } };
  return { ...body, properties: { ...objectAt(body, 'properties'), ipConfigurations: [...list, more] } };
}

describe('the PUT of an interface of its own', () => {
  test('gives it an address when its operation ends, and is refused with an old etag', async () => {
    const rig = armRig();
    const { body, headers } = await rig.send('GET', ownNicPath);
    const etag = headers['etag'] ?? '';
    expect(textAt(body, 'etag')).toBe(etag);
    await rig.send('PUT', ownNicPath, { body: withOneMore(body), ifMatch: etag });
    expect(held(rig)).toBe(1);
    expect(await rig.codeOf('PUT', ownNicPath, { body: withOneMore(body) })).toBe(
      'AnotherOperationInProgress',
    );
    await rig.time.advance(5000);
    expect(held(rig)).toBe(2);
    const again = { body: withOneMore(body), ifMatch: etag };
    expect(await rig.codeOf('PUT', ownNicPath, again)).toBe('PreconditionFailed');
  });

  test('creates none with an etag, because it changes one that is gone', async () => {
    const rig = armRig();
    const path = ownNicPath.replace('single-nic0', 'gone');
    const ipConfigurations = [{ name: 'one', properties: { subnet, primary: true } }];
    const body = { location: 'westeurope', properties: { ipConfigurations } };

    expect(await rig.codeOf('PUT', path, { body, ifMatch: 'W/"1"' })).toBe('PreconditionFailed');
    expect((await rig.send('GET', path)).status).toBe(404);
  });

  test('creates one that no machine has, and it can be deleted', async () => {
    const { time, cloud, send } = armRig();
    const path = ownNicPath.replace('single-nic0', 'new');
    const ipConfigurations = [{ name: 'one', properties: { subnet, primary: true } }];
    const body = { location: 'westeurope', properties: { ipConfigurations } };
    const { status, headers } = await send('PUT', path, { body });
    expect(status).toBe(201);
    expect(configurationsOf((await send('GET', path)).body)).toEqual(['one Updating']);
    await time.advance(5000);
    expect((await send('GET', new URL(headers['location'] ?? '').pathname)).status).toBe(200);
    expect(configurationsOf((await send('GET', path)).body)).toEqual(['one Succeeded']);
    const { available } = cloud.network.space(subnet.id.toLowerCase());
    await send('DELETE', path);
    await time.advance(5000);
    expect((await send('GET', path)).status).toBe(404);
    expect(cloud.network.space(subnet.id.toLowerCase()).available).toBe(available + 1);
  });

  test('whose operation fails leaves the interface as it was', async () => {
    const rig = armRig();
    const fault = { kind: 'failed', code: 'InternalServerError', message: 'no' } as const;
    rig.gateway.faults.add({ action: 'NetworkInterfaces.CreateOrUpdate', rate: 1, match: {}, fault });
    const { body } = await rig.send('GET', ownNicPath);
    const { available } = rig.cloud.network.space(subnet.id.toLowerCase());
    const { headers } = await rig.send('PUT', ownNicPath, { body: withOneMore(body) });
    await rig.time.advance(5000);
    const { pathname } = new URL(headers['azure-asyncoperation'] ?? '');
    const { body: operation } = await rig.send('GET', pathname);
    expect(operation['status']).toBe('Failed');
    expect(textAt(operation, 'error', 'code')).toBe('InternalServerError');
    expect(held(rig)).toBe(1);
    expect(rig.cloud.network.space(subnet.id.toLowerCase()).available).toBe(available);
    expect(textAt((await rig.send('GET', ownNicPath)).body, 'properties', 'provisioningState')).toBe(
      'Failed',
    );
  });

  test('tells a judge which fields it drops', async () => {
    const { cloud, send } = armRig();
    const writes: unknown[] = [];
    cloud.onWrite = (write) => writes.push(write);
    const { body } = await send('GET', ownNicPath);
    const { enableIPForwarding: _, ...properties } = objectAt(body, 'properties');
    await send('PUT', ownNicPath, { body: { ...body, properties } });
    const lost = ['properties.enableIPForwarding'];
    expect(writes).toEqual([{ path: groupPath + ownNicPath, lost, drops: false }]);
  });
});
