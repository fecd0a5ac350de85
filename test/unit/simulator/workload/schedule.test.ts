import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { Random } from '../../../../src/runtime/random.ts';
import { scheduleOf } from '../../../../src/simulator/workload/schedule.ts';
import type { Workload, WorkloadAction } from '../../../../src/simulator/workload/workload.ts';

const minute = 60_000;

function first(count: number, workload: Workload, seed = 'seed'): readonly WorkloadAction[] {
  const actions: WorkloadAction[] = [];
  for (const action of scheduleOf(workload, new Random(seed))) {
    actions.push(action);
    if (actions.length === count) break;
  }
  return actions;
}

/** `+name@time` for a creation, `-name@time` for a deletion. */
function brief(actions: readonly WorkloadAction[]): readonly string[] {
  return actions.map((action) => {
    if (action.kind === 'create-pod') return `+${action.pod}@${action.at}`;
    return action.kind === 'delete-pod' ? `-${action.pod}@${action.at}` : `${action.kind}@${action.at}`;
  });
}

const steady: Workload = { kind: 'steady', name: 's', arrivalsPerMinute: 30, meanLifetime: 10 * minute };

describe('scheduleOf', () => {
  test.each<[string, Workload, readonly string[]]>([
    [
      'burst that stays',
      { kind: 'burst', name: 'b', at: 100, pods: 3, over: 30 },
      ['+b-1@100', '+b-2@110', '+b-3@120'],
    ],
    [
      'burst that goes',
      { kind: 'burst', name: 'b', at: 0, pods: 3, over: 30, lifetime: 15 },
      ['+b-1@0', '+b-2@10', '-b-1@15', '+b-3@20', '-b-2@25', '-b-3@35'],
    ],
    ['departure', { kind: 'departure', name: 'd', at: 5, of: 'b', pods: 2, over: 20 }, ['-b-1@5', '-b-2@15']],
    [
      'rolling deploy',
      { kind: 'rolling-deploy', name: 'd', replicas: 3, every: 1000, surge: 2, settle: 10 },
      [
        '+d-0-0@0',
        '+d-0-1@0',
        '+d-0-2@0',
        '+d-1-0@1000',
        '+d-1-1@1000',
        '-d-0-0@1010',
        '-d-0-1@1010',
        '+d-1-2@1020',
        '-d-0-2@1030',
        '+d-2-0@2000',
      ],
    ],
    [
      'rolling deploy that takes longer than its period',
      { kind: 'rolling-deploy', name: 'd', replicas: 1, every: 10, surge: 1, settle: 20 },
      ['+d-0-0@0', '+d-1-0@10', '-d-0-0@30', '+d-2-0@50', '-d-1-0@70'],
    ],
    [
      'node churn',
      { kind: 'node-churn', name: 'n', every: 50 },
      ['replace-node@50', 'replace-node@100', 'replace-node@150'],
    ],
    [
      'agent restarts',
      { kind: 'agent-restarts', name: 'r', every: 50 },
      ['restart-agent@50', 'restart-agent@100'],
    ],
    [
      'rolling upgrade',
      { kind: 'rolling-upgrade', name: 'u', at: 10, every: 50 },
      ['upgrade-agent@10', 'upgrade-agent@60', 'upgrade-agent@110'],
    ],
  ])('schedules a %s', (_, workload, expected) => {
    expect(brief(first(expected.length, workload))).toEqual(expected);
  });

  test('creates and deletes the pods of a steady load at its rates', () => {
    const actions = first(20_000, steady);

    const arrivals = actions.filter((action) => action.kind === 'create-pod').length;
    const duration = (actions.at(-1)?.at ?? 0) / minute;
    const alive = arrivals - (actions.length - arrivals);
    expect(arrivals / duration / 30).toBeCloseTo(1, 1);
    expect(Math.abs(alive - 300)).toBeLessThan(75);
  });

  test('leaves no pod behind when a steady load ends', () => {
    const actions = [...scheduleOf({ ...steady, duration: 5 * minute }, new Random('seed'))];

    const created = actions.filter((action) => action.kind === 'create-pod').map((action) => action.pod);
    const deleted = actions.filter((action) => action.kind === 'delete-pod').map((action) => action.pod);
    expect(created.length).toBeGreaterThan(100);
    expect(deleted.toSorted()).toEqual(created.toSorted());
  });

  test('is in order of time, and deletes no pod before it creates it', () => {
    const pods = fc.record({
      kind: fc.constant('burst' as const),
      name: fc.constant('b'),
      at: fc.nat(100),
      pods: fc.nat(30),
      over: fc.nat(100),
      lifetime: fc.nat(100),
    });
    fc.assert(
      fc.property(pods, fc.string(), (workload, seed) => {
        for (const load of [workload, steady]) {
          const actions = first(200, load, seed);
          const times = actions.map((action) => action.at);
          const seen = brief(actions).map((text) => text.replace(/@.*/, ''));

          expect(times).toEqual(times.toSorted((a, b) => a - b));
          expect(
            seen.filter(
              (text, index) => text.startsWith('-') && !seen.slice(0, index).includes(`+${text.slice(1)}`),
            ),
          ).toEqual([]);
        }
      }),
      { numRuns: 50 },
    );
  });

  test('is the same for the same seed, and another one for another seed', () => {
    expect(first(200, steady)).toEqual(first(200, steady));
    expect(first(200, steady)).not.toEqual(first(200, steady, 'other'));
  });
});
