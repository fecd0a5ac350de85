import { expect, test } from '@jest/globals';
import { awsSection } from '../../../../src/providers/aws/cilium-node-section.ts';
import { ClusterCache } from '../../../../src/controller/eni/cluster-cache.ts';
import { ReadLog } from '../../../../src/controller/reporting/watch-counters.ts';
import { NodeScope } from '../../../../src/controller/node-scope.ts';
import { Random } from '../../../../src/runtime/random.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { recordingLogger } from '../../../support/recording-logger.ts';
import { ScriptedTransport, status } from '../../kubernetes/scripted-transport.ts';

test('the reason why CiliumNodes cannot be read is reported during retries, too', async () => {
  const clock = new VirtualClock();
  let tries = 0;
  const transport = new ScriptedTransport(clock, ({ path }) =>
    path.includes('ciliumnodes') && tries++ > 0 ? 'silence' : status(500, 'the disk is full'),
  );
  const cache = new ClusterCache({
    host: {
      clock,
      random: new Random('cache'),
      log: recordingLogger(),
      onBug: (error) => {
        throw error;
      },
    },
    transport,
    instanceIdOf: () => undefined,
    section: awsSection,
    reads: new ReadLog({ clock, log: recordingLogger() }),
    scope: new NodeScope(undefined, 0, clock),
  });
  const ending = new AbortController();
  expect(cache.waitingFor()).toBe('CiliumNodes are being listed');

  const running = cache.run(ending.signal);
  await clock.runUntil(() => tries === 2, 60_000);

  expect(cache.waitingFor()).toBe('the disk is full');
  ending.abort();
  await running;
});
