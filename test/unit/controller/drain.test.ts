// The way out of a process in which something does not end.
import { expect, test } from '@jest/globals';
import { Controller } from '../../../src/controller/controller.ts';
import type { Mode } from '../../../src/controller/host.ts';
import { createMetricRegistry } from '../../../src/observability/metrics.ts';
import { Random } from '../../../src/runtime/random.ts';
import { optionsOf } from '../../support/given-options.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { LeaseServer } from '../kubernetes/lease-server.ts';
import { ScriptedTransport, status } from '../kubernetes/scripted-transport.ts';

const forEver = new Promise<never>(() => undefined);

/** A mode whose work in flight never ends, or whose background does not. */
function endless(part: 'work' | 'background'): Mode<object, object> {
  return {
    served: 'Nodes',
    access: { mode: 'eni' },
    count: 0,
    background: part === 'background' ? [{ run: () => forEver }] : [],
    prepare: () => Promise.resolve(),
    readProblem: () => undefined,
    waitingFor: () => '',
    caughtUp: () => Promise.resolve(),
    beginServing: () => undefined,
    stop: () => (part === 'work' ? forEver : Promise.resolve()),
    standbyProblem: () => undefined,
    leadingProblem: () => undefined,
    silence: () => undefined,
    problem: () => undefined,
    onStandby: () => undefined,
    onOptions: () => undefined,
    status: () => ({}),
    node: () => ({}),
    show: () => undefined,
  };
}

test.each<['work' | 'background', 'lost Lease' | 'shutdown', number]>([
  ['work', 'lost Lease', 5000],
  ['work', 'shutdown', 25_000],
  ['background', 'lost Lease', 5000],
  ['background', 'shutdown', 5000],
])(
  'endless %s does not keep a process after a %s: it ends within %i ms, and says so before',
  async (part, cause, time) => {
    const clock = new VirtualClock();
    const server = new LeaseServer();
    const log = recordingLogger();
    const stopping = new AbortController();
    const controller = new Controller<object, object>({
      host: {
        options: optionsOf({ 'aws-region': 'eu-west-1' }),
        clock,
        random: new Random('drain'),
        log,
        registry: createMetricRegistry({ measureProcess: false }),
        onBug: (error) => {
          throw error;
        },
      },
      kubernetes: new ScriptedTransport(clock, () => status(403, 'no')),
      leaseTransport: new ScriptedTransport(clock, server.answer),
      composeMode: () => endless(part),
      identity: 'us',
      readLiveOptions: undefined,
    });
    let outcome: string | undefined;
    void controller.run(stopping.signal).then((ended) => {
      outcome = ended;
    });
    await clock.advance(1000);
    expect(controller.state).toBe('leading');

    if (cause === 'shutdown') stopping.abort();
    else server.write({ holderIdentity: 'them', leaseDurationSeconds: 15, renewTime: '' });
    if (cause === 'lost Lease') await clock.runUntil(() => controller.state === 'draining', 5000);
    await clock.advance(time - 100);
    const before = [outcome, part === 'work' ? controller.problem() : undefined];
    await clock.advance(100);

    const problem = part === 'work' ? 'it is shutting down, and work in flight does not end' : undefined;
    expect(before).toEqual([undefined, problem]);
    expect(outcome).toBe(cause === 'shutdown' ? 'stopped' : 'lost');
    // What is still in flight may take effect: others wait for the end of the Lease.
    const holder = { 'lost Lease': 'them', shutdown: part === 'work' ? 'us' : '' }[cause];
    expect(server.spec['holderIdentity']).toBe(holder);
    expect(log.lines.map(({ message }) => message)).toContain(
      'a bug, please report it: work does not end though aborted',
    );
  },
);
