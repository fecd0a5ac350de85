import { describe, expect, test } from '@jest/globals';
import { type LostAnswer, lostAnswers } from '../../support/lost-answers.ts';
import { expectWell, growOnAzure } from '../../support/growing-on-azure.ts';

const ways: readonly LostAnswer[] = [
  ...lostAnswers,
  { how: 'has no ids', fault: { kind: 'garbled', form: 'idsMissing' } },
  { how: 'has unknown states', fault: { kind: 'garbled', form: 'unknownEnum' } },
];

const actions = [
  'VirtualMachineScaleSetVMs.Update',
  'VirtualMachineScaleSetVMs.Get',
  'NetworkInterfaces.ListVirtualMachineScaleSetVMNetworkInterfaces',
];

const cases = actions.flatMap((action) =>
  [1, 4].flatMap((times) => ways.map((way) => ({ action, times, ...way }))),
);

describe('an answer of Azure', () => {
  test.each(cases)(
    'takes nothing twice when it $how, $times times: $action',
    async ({ action, fault, times }) => {
      const grown = await growOnAzure('multi-pool', {
        prepare: (world) => void world.fault(action, fault, times),
      });

      expectWell(grown);
      expect(grown.controller.controller.status().inDeficit).toEqual([]);
    },
  );
});
