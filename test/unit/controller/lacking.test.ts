import { describe, expect, test } from '@jest/globals';
import { lackingOf } from '../../../src/controller/lacking.ts';
import type { SeatFigures } from '../../../src/manager/fleet.ts';
import type { Assessment } from '../../../src/node/assessment.ts';
import type { DiagnosisReason } from '../../../src/node/diagnosis.ts';

const setAside: SeatFigures = {
  kind: 'setAside',
  name: 'node-9',
  diagnosis: { reason: 'NoSubnetMatches', text: '' },
};

function served(wanted: number, reason?: DiagnosisReason): SeatFigures {
  const assessment = { kind: 'served', wanted } as Assessment;
  return {
    kind: 'managed',
    name: 'node-1',
    figures: {
      protocol: 'crd',
      assessment,
      diagnosis: reason && { reason, text: '' },
      remarks: [],
      view: undefined,
      shortSince: undefined,
    },
  };
}

describe('what a reading of the network may help with', () => {
  test.each<[string, readonly SeatFigures[], string]>([
    ['nothing, where no node is short', [served(0), setAside], 'nothing'],
    ['addresses, where one is', [served(0), served(3)], 'addresses'],
    [
      'more than addresses, where a subnet is full',
      [served(3), served(1, 'SubnetsExhausted')],
      'infrastructure',
    ],
    ['more than addresses, where no subnet fits', [served(1, 'NoSubnetMatches')], 'infrastructure'],
    ['nothing, where a node that says so is not short', [served(0, 'SubnetsExhausted')], 'nothing'],
  ])('%s', (_, seats, expected) => {
    expect(lackingOf(seats)).toBe(expected);
  });
});
