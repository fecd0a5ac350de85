import { describe, expect, test } from '@jest/globals';
import { lossesOf } from '../../support/lost-answers.ts';
import { expectWell, growOnAlibaba } from '../../support/growing-on-alibaba.ts';

const cases = lossesOf([
  'CreateNetworkInterface',
  'AttachNetworkInterface',
  'AssignPrivateIpAddresses',
  'UnassignPrivateIpAddresses',
  'DescribeNetworkInterfaces',
]);

describe('an answer of Alibaba Cloud', () => {
  test.each(cases)(
    'takes and makes nothing twice when it $how, $times times: $action',
    async ({ action, fault, times }) => {
      const life = await growOnAlibaba({ prepare: (world) => void world.fault(action, fault, times) });

      expectWell(life);
      expect(life.controller.controller.status().inDeficit).toEqual([]);
    },
  );
});
