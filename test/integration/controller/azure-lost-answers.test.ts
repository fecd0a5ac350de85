import { describe, expect, test } from '@jest/globals';
import { type LossOfAction, lossesOf } from '../../support/lost-answers.ts';
import { expectWell, growOnAzure } from '../../support/growing-on-azure.ts';

const changes = lossesOf(['VirtualMachineScaleSetVMs.Update']);
const reads = lossesOf([
  'VirtualMachineScaleSetVMs.Get',
  'NetworkInterfaces.ListVirtualMachineScaleSetVMNetworkInterfaces',
]);

/** What is read does not depend on how an agent gives addresses up, so one of them is enough for that. */
const cases = [
  { protocol: 'crd-allocator', losses: changes },
  { protocol: 'multi-pool', losses: [...changes, ...reads] },
] as const satisfies readonly { readonly protocol: string; readonly losses: readonly LossOfAction[] }[];

describe.each(cases)('an answer of Azure, beside an agent of $protocol,', ({ protocol, losses }) => {
  test.each(losses)(
    'takes nothing twice when it $how, $times times: $action',
    async ({ action, fault, times }) => {
      const grown = await growOnAzure(protocol, {
        prepare: (world) => void world.fault(action, fault, times),
      });

      expectWell(grown);
      expect(grown.controller.controller.status().inDeficit).toEqual([]);
    },
  );
});
