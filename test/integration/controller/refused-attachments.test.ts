// An instance to which no new interface can be attached, while its neighbour is served: each try creates an interface and deletes
// it for nothing.
import { describe, expect, test } from '@jest/globals';
import { AlibabaWorld } from '../../support/alibaba-world.ts';
import { ecsInstance, testAlibaba } from '../../support/alibaba-cloud.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController } from '../../support/world-controller.ts';

const minute = 60_000;

/** Each node needs more than its first interface has. */
const configure = (): object => ({ ipam: { minAllocate: 20, maxAllocate: 20 } });

function onAws(): World {
  const cloud = testCloud({ instances: [instance(), instance({ name: 'other' })] });
  return new World({ cloud, configure });
}

function onAlibaba(): AlibabaWorld {
  const instances = [ecsInstance(), ecsInstance({ name: 'other' })];
  const vpcs = [{ name: 'main', blocks: ['10.0.0.0/16'] }];
  const vSwitches = [{ name: 'nodes', zone: 'cn-hangzhou-a', block: '10.0.0.0/18' }];
  return new AlibabaWorld({ cloud: testAlibaba({ instances, vpcs, vSwitches }), configure });
}

const stopped =
  'The request does not support the current resource state. Expecting status is (Stopped), but current status is Running.';

describe('an instance to which no interface can be attached', () => {
  test.each([
    ['InvalidNetworkInterfaceID.NotFound', 'wait, or find', onAws, ''],
    ['AttachmentLimitExceeded', 'raise the quota', onAws, ''],
    ['UnsupportedOperation', 'AttachNetworkInterface answers', onAws, ''],
    ['InvalidOperation.InvalidEniType', 'use an instance type to which', onAlibaba, ''],
    ['InvalidEniId.NotFound', 'wait, or find', onAlibaba, ''],
    ['InvalidOperation.InvalidEniState', 'AttachNetworkInterface answers', onAlibaba, ''],
    ['OddRefusal', 'AttachNetworkInterface answers', onAlibaba, ''],
    ['IncorrectInstanceStatus', 'this instance type takes interfaces only', onAlibaba, stopped],
  ])('gets seldom one for nothing, and says why: %s', async (code, remedy, worldOf, message) => {
    const world = worldOf();
    const [machine, other] = [world.machine(), world.machine(1)];
    const controller = startController(world);
    await world.announce(other);
    await world.until('the neighbour has an interface', () => world.pool(other).size === 20);
    const fault = { kind: 'error', code, status: 403, message } as const;
    const match = { InstanceId: machine.instanceId };
    const end = world.fault('AttachNetworkInterface', fault, undefined, match);
    await world.announce(machine);
    await world.advance(60 * minute);
    const created = controller.changes.flatMap(({ action, at }) =>
      action === 'CreateNetworkInterface' ? [at] : [],
    );
    const said = world.operatorError(machine);
    end();
    await world.until('it is served', () => world.pool(machine).size === 20, 6 * minute);

    expect(created.length).toBeLessThan(60);
    expect(created.filter((at) => at > 30 * minute).length).toBeLessThan(13);
    expect(said).toContain(remedy);
    expect(said).toContain(code);
    expect(world.broken()).toEqual([]);
  });
});
