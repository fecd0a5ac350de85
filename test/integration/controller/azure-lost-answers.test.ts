import { describe, expect, test } from '@jest/globals';
import { lossesOf } from '../../support/lost-answers.ts';
import { expectGrown, growOnAzure } from '../../support/growing-on-azure.ts';

const cases = lossesOf([
  'VirtualMachineScaleSetVMs.Update',
  'VirtualMachineScaleSetVMs.Get',
  'NetworkInterfaces.ListVirtualMachineScaleSetVMNetworkInterfaces',
]);

describe('an answer of Azure', () => {
  test.each(cases)(
    'takes nothing twice when it $how, $times times: $action',
    async ({ action, fault, times }) => {
      const grown = await growOnAzure('multi-pool', {
        prepare: (world) => void world.fault(action, fault, times),
      });

      expectGrown(grown);
      expect(grown.controller.controller.status().inDeficit).toEqual([]);
    },
  );
});
