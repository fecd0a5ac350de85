import { describe, expect, test } from '@jest/globals';
import { type LostAnswer, lostAnswers } from '../../support/lost-answers.ts';
import { expectWell, growOnAlibaba } from '../../support/growing-on-alibaba.ts';

const ways: readonly LostAnswer[] = [
  ...lostAnswers,
  { how: 'has no ids', fault: { kind: 'garbled', form: 'idsMissing' } },
  { how: 'has unknown states', fault: { kind: 'garbled', form: 'unknownEnum' } },
];

const actions = [
  'CreateNetworkInterface',
  'AttachNetworkInterface',
  'AssignPrivateIpAddresses',
  'UnassignPrivateIpAddresses',
  'DescribeNetworkInterfaces',
];

const cases = actions.flatMap((action) =>
  [1, 4].flatMap((times) => ways.map((way) => ({ action, times, ...way }))),
);

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
