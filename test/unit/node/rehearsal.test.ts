import { describe, expect, test } from '@jest/globals';
import { Rehearsal, type Rehearsed } from '../../../src/node/rehearsal.ts';
import { MutationPermission, noStops, type Stops } from '../../../src/providers/mutation-permission.ts';

const step = (count: number) =>
  ({
    kind: 'step',
    step: { kind: 'allocateIPs', interfaceId: 'eni-1', subnetId: 'subnet-1', count },
  }) as const;
const write = { kind: 'write', write: { part: 'spec', patch: { ipam: {} } } } as const;

function rig(stops: Partial<Stops>) {
  const permission = new MutationPermission({ ...noStops, ...stops });
  const told: Rehearsed[] = [];
  return { permission, told, rehearsal: new Rehearsal(permission, (decision) => told.push(decision)) };
}

describe('a rehearsal', () => {
  test('tells each decision once for as long as it stays the same', () => {
    const { rehearsal, told } = rig({ dryRun: true });

    rehearsal.show('step', [step(8)]);
    rehearsal.show('write', [write]);
    rehearsal.show('step', [step(8)]);
    rehearsal.show('step', [step(8), step(2)]);
    rehearsal.show('step', []);
    rehearsal.show('write', [write]);
    rehearsal.show('step', [step(8)]);

    expect(told).toEqual([step(8), write, step(2), step(8)]);
  });

  test.each<Partial<Stops>>([{}, { pause: ['mutations'] }, { foreignWriter: 'atWork' }])(
    'tells nothing for %j',
    (stops) => {
      const { rehearsal, told } = rig(stops);

      rehearsal.show('step', [step(8)]);
      rehearsal.show('write', [write]);

      expect(told).toEqual([]);
    },
  );

  test('tells everything anew in another dry run', () => {
    const { rehearsal, told, permission } = rig({ dryRun: true });

    rehearsal.show('step', [step(8)]);
    permission.change({ dryRun: false });
    rehearsal.show('step', [step(8)]);
    permission.change({ dryRun: true });
    rehearsal.show('step', [step(8)]);

    expect(told).toHaveLength(2);
  });
});
