// One cause that every call meets is written once, whichever call meets it last.
import { expect, test } from '@jest/globals';
import type { Fault } from '../../../src/simulator/cloud/faults.ts';
import { AlibabaWorld } from '../../support/alibaba-world.ts';
import { ecsInstance, testAlibaba } from '../../support/alibaba-cloud.ts';
import { AzureClusterWorld } from '../../support/azure-cluster-world.ts';
import { scaleSet, testAzure } from '../../support/azure-cloud.ts';
import type { ClusterWorld } from '../../support/cluster-world.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController } from '../../support/world-controller.ts';

const count = 3;
const refusal = (code: string, status: number, message = 'no such identity'): Fault => ({
  kind: 'error',
  code,
  status,
  message,
});

test.each<[string, () => ClusterWorld, Fault]>([
  [
    'AWS',
    () => new World({ cloud: testCloud({ instances: [instance({ count })] }) }),
    refusal('AuthFailure', 401, 'AWS was not able to validate the provided access credentials'),
  ],
  [
    'AWS, in a region that is not enabled',
    () => new World({ cloud: testCloud({ instances: [instance({ count })] }) }),
    refusal('OptInRequired', 403),
  ],
  [
    'Azure',
    () => new AzureClusterWorld({ cloud: testAzure({ scaleSets: [scaleSet({ count })] }) }),
    refusal('AuthenticationFailed', 401),
  ],
  [
    'Alibaba Cloud',
    () => new AlibabaWorld({ cloud: testAlibaba({ instances: [ecsInstance({ count })] }) }),
    refusal('InvalidAccessKeyId.NotFound', 404),
  ],
])('wrong credentials have one text for each node on %s', async (_, worldOf, fault) => {
  const world = worldOf();
  const controller = startController(world, { flags: { 'resync-interval': '30s' } });
  for (const machine of world.machines) await world.announce(machine);
  await world.until('all are served', () => world.machines.every((each) => world.pool(each).size >= 8));
  await world.advance(60_000);
  const end = world.fault('*', fault);
  const since = world.clock.monotonic();
  for (const machine of world.machines)
    await world.patch(machine, { spec: { ipam: { 'min-allocate': 12 } } });
  await world.advance(180_000);

  const written = world.machines.map(
    ({ name }) =>
      controller.publications.filter(({ at, path }) => at >= since && path.includes(`/${name}`)).length,
  );
  expect(Math.max(...written)).toBeLessThanOrEqual(1);
  expect(world.operatorError(world.machine())).toContain('the cloud answers');
  end();
  await world.until('they grow', () => world.machines.every((each) => world.pool(each).size >= 12), 300_000);
  expect(world.broken()).toEqual([]);
});
