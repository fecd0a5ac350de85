import { describe, expect, test } from '@jest/globals';
import type { Fault } from '../../../src/simulator/cloud/faults.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController } from '../../support/world-controller.ts';

function refusal(code: string, message = 'refused by the test', status = 400): Fault {
  return { kind: 'error', code, status, message };
}

const refusals: readonly Fault[] = [
  { kind: 'throttle' },
  refusal('InsufficientFreeAddressesInSubnet'),
  refusal('InsufficientCidrBlocks'),
  refusal('PrivateIpAddressLimitExceeded'),
  refusal('AttachmentLimitExceeded'),
  refusal('NetworkInterfaceLimitExceeded'),
  refusal('InvalidInstanceID.NotFound'),
  refusal('InvalidNetworkInterfaceID.NotFound'),
  refusal('InvalidAttachmentID.NotFound'),
  refusal('InvalidSubnetID.NotFound'),
  refusal('InvalidGroup.NotFound'),
  refusal('InvalidNetworkInterface.InUse'),
  refusal('IdempotentParameterMismatch'),
  refusal('IncorrectInstanceState'),
  refusal('IncorrectState', "Instance 'i-1' is not 'running'."),
  refusal('InvalidParameterValue', "Instance 'i-1' already has an interface attached at device index '1'."),
  refusal('InvalidParameterValue'),
  refusal('UnauthorizedOperation', 'You are not authorized', 403),
  refusal('AuthFailure', 'signature', 401),
  refusal('InternalError', 'internal', 500),
  refusal('ServiceUnavailable', 'unavailable', 503),
  refusal('SomethingNew'),
];

const actions = [
  'AssignPrivateIpAddresses',
  'CreateNetworkInterface',
  'AttachNetworkInterface',
  'ModifyNetworkInterfaceAttribute',
];

const cases = actions.flatMap((action) =>
  refusals.map((fault) => ({
    action,
    fault,
    code: fault.kind === 'error' ? fault.code : 'RequestLimitExceeded',
  })),
);

/** A node that needs addresses on its first interface and two more interfaces, and one that needs little. */
function worldOf(): World {
  return new World({
    cloud: testCloud({ instances: [instance(), instance({ name: 'other' })] }),
    configure: (index) => ({ ipam: index === 0 ? { minAllocate: 20, maxAllocate: 22 } : { preAllocate: 2 } }),
  });
}

describe('a refusal', () => {
  test.each(cases)(
    'leaks nothing when it passes: $action with $code (case $#)',
    async ({ action, fault }) => {
      const world = worldOf();
      const machine = world.machine();
      startController(world);
      for (const each of world.machines) await world.announce(each);

      world.fault(action, fault, 3);
      await world.until('20 addresses are offered', () => world.pool(machine).size === 20, 400_000);
      await world.advance(120_000);

      const created = world.interfaces(machine).slice(1);
      expect(world.held(machine)).toHaveLength(20);
      expect(created.length).toBeLessThanOrEqual(2);
      expect(world.orphaned()).toEqual([]);
      expect(world.operatorError(machine)).toBe('');
      expect(world.pool(world.machine(1)).size).toBe(2);
      expect(world.broken()).toEqual([]);
    },
  );

  test.each(cases)(
    'costs fewer and fewer calls when it lasts: $action with $code (case $#)',
    async ({ action, fault }) => {
      const world = worldOf();
      const machine = world.machine();
      const controller = startController(world);
      await world.advance(25_000);
      for (const each of world.machines) await world.announce(each);

      const end = world.fault(action, fault);
      await world.advance(600_000);
      const during = {
        calls: controller.calls.filter((call) => call.at > 300_000 && call.action === action),
        detached: world.orphaned(),
        error: world.operatorError(machine),
      };
      end();
      await world.until('20 addresses are offered', () => world.pool(machine).size === 20, 400_000);
      await world.advance(60_000);

      // Four or five attempts, in each of which two steps call up to ten times.
      expect(during.calls.length).toBeLessThan(100);
      expect(during.detached.length).toBeLessThanOrEqual(2);
      expect(during.error === '').toBe(action === 'ModifyNetworkInterfaceAttribute');
      expect(world.operatorError(machine)).toBe('');
      expect(world.orphaned()).toEqual([]);
      expect(world.held(machine)).toHaveLength(20);
      expect(world.broken()).toEqual([]);
    },
  );

  test.each([
    { kind: 'throttle' } as const,
    refusal('InvalidAttachmentID.NotFound'),
    refusal('UnauthorizedOperation', 'You are not authorized', 403),
    refusal('InternalError', 'internal', 500),
    refusal('SomethingNew'),
  ])(
    'is followed by another try when it is of the call that sets delete-on-termination: %j',
    async (fault) => {
      const world = worldOf();
      const machine = world.machine();
      startController(world);
      for (const each of world.machines) await world.announce(each);

      world.fault('ModifyNetworkInterfaceAttribute', fault, 8);
      await world.advance(1_800_000);

      const created = world.interfaces(machine).slice(1);
      expect(created.map(({ attachment }) => attachment?.deleteOnTermination)).toEqual([true, true]);
      expect(world.broken()).toEqual([]);
    },
  );
});
