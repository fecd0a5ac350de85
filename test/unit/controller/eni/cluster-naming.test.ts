import { expect, test } from '@jest/globals';
import { ClusterNaming } from '../../../../src/controller/eni/cluster-naming.ts';
import type { ClusterNode } from '../../../../src/kubernetes/watch/cluster-nodes.ts';
import { Random } from '../../../../src/runtime/random.ts';
import { optionsOf } from '../../../support/given-options.ts';
import { recordingLogger } from '../../../support/recording-logger.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const hour = 3_600_000;
const perCall = 200;

/** How many calls an hour of attempts takes in a cluster whose instances lack the tag. */
async function callsAnHour(nodeCount: number): Promise<number> {
  const clock = new VirtualClock();
  const ids = Array.from({ length: nodeCount }, (_, at) => `i-${at}`);
  const nodes = ids.map((id) => [id, { instanceId: id } as ClusterNode] as const);
  const bugs: unknown[] = [];
  let calls = 0;
  const naming = new ClusterNaming(
    {
      options: optionsOf({ 'cluster-name': 'tag=aws:eks:cluster-name' }),
      clock,
      random: new Random('naming'),
      log: recordingLogger(),
      onBug: (error) => bugs.push(error),
    },
    {
      maxInstancesPerRefresh: perCall,
      readTag: (asked) => {
        calls += Math.ceil(asked.length / perCall);
        return Promise.resolve(new Map(asked.map((id) => [id, []])));
      },
    },
    { nodeNames: () => new Set(ids), clusterNodes: new Map(nodes), identityProblem: undefined },
  );
  const ending = new AbortController();
  const finding = naming.find(ending.signal);
  await clock.advance(hour);
  const counted = calls;
  ending.abort(new Error('the test ends'));
  await expect(finding).rejects.toThrow('the test ends');
  expect(bugs).toEqual([]);
  return counted;
}

test('a name that no instance carries costs a large cluster hardly more calls than a small one', async () => {
  const [small, large] = [await callsAnHour(10), await callsAnHour(5000)];

  expect(small).toBeGreaterThan(400);
  expect(large).toBeLessThan(1.5 * small);
});
