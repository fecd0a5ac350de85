import { describe, expect, test } from '@jest/globals';
import { azureLimits, limitsOf } from '../../../../src/providers/azure/limits.ts';

const vm = '/subscriptions/s/resourcegroups/g/providers/microsoft.compute/virtualmachines/v';

describe("Azure's limits", () => {
  test.each([
    ['arm-reads', 250, 25 * 60],
    ['arm-writes', 200, 10 * 60],
    ['VirtualMachineScaleSetVMs.Update', 1500, 500],
    ['VirtualMachineScaleSetVMs.Update-per-VM', 12, 4],
    ['VirtualMachines.Get', 24_000, 8000],
    ['VirtualMachines.Get-per-VM', 36, 12],
    ['VirtualMachineScaleSets.Get', 2400, 800],
    ['VirtualMachineScaleSets.Get-per-set', 36, 12],
    ['Operations.Get', 15_000, 5000],
    ['Operations.Get-per-VM', 45, 15],
  ])('of %s hold %d calls and gain %d a minute', (name, capacity, perMinute) => {
    const size = azureLimits.get(name);

    expect(size?.capacity).toBe(capacity);
    expect((size?.refill ?? 0) * 60).toBeCloseTo(perMinute);
  });

  test.each([
    ['network-reads', 10_000],
    ['network-writes', 1000],
  ])('of %s admit at most %d calls in any five minutes', (name, max) => {
    const { capacity = 0, refill = 0 } = azureLimits.get(name) ?? {};

    expect(capacity + 300 * refill).toBe(max);
  });
});

describe('the limits of a call to Azure', () => {
  test('are those of its subscription and of its VM, the most specific one first', () => {
    const limits = limitsOf('VirtualMachineScaleSetVMs.Update', { subscriptionId: 's', resource: vm });

    expect(limits).toEqual([
      { name: 'VirtualMachineScaleSetVMs.Update', resource: 's' },
      { name: 'VirtualMachineScaleSetVMs.Update-per-VM', resource: vm },
      { name: 'arm-writes', resource: 's' },
    ]);
  });

  test('are those of its subscription alone when it names no VM', () => {
    expect(limitsOf('Operations.Get', { subscriptionId: 's' })).toEqual([
      { name: 'Operations.Get', resource: 's' },
      { name: 'arm-reads', resource: 's' },
    ]);
  });
});
