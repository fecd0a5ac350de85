import { describe, expect, test } from '@jest/globals';
import { type LossOfAction, lossesOf } from '../../support/lost-answers.ts';
import { expectWell, growOnAzure, type GrowingNode } from '../../support/growing-on-azure.ts';

const changes = lossesOf(['VirtualMachineScaleSetVMs.Update']);
const reads = lossesOf([
  'VirtualMachineScaleSetVMs.Get',
  'NetworkInterfaces.ListVirtualMachineScaleSetVMNetworkInterfaces',
]);
const changesOfInterfaces = lossesOf(['NetworkInterfaces.CreateOrUpdate']);

/** What is read does not depend on how an agent gives addresses up, so one of them is enough for that. */
const cases: readonly (GrowingNode & { readonly losses: readonly LossOfAction[] })[] = [
  { protocol: 'crd-allocator', mode: 'Uniform', losses: changes },
  { protocol: 'multi-pool', mode: 'Uniform', losses: [...changes, ...reads] },
  { protocol: 'crd-allocator', mode: 'Flexible', losses: changesOfInterfaces },
  { protocol: 'multi-pool', mode: 'Flexible', losses: changesOfInterfaces },
];

describe.each(cases)(
  'an answer of Azure, beside an agent of $protocol in a scale set that is $mode,',
  ({ losses, ...node }) => {
    test.each(losses)(
      'takes nothing twice when it $how, $times times: $action',
      async ({ action, fault, times }) => {
        const grown = await growOnAzure(node, {
          prepare: (world) => void world.fault(action, fault, times),
        });

        expectWell(grown);
        expect(grown.controller.controller.status().inDeficit).toEqual([]);
      },
    );
  },
);
