// The way out of a process in which something does not end.
import { expect, test } from '@jest/globals';
import { Controller } from '../../../src/controller/controller.ts';
import type { Mode } from '../../../src/controller/host.ts';
import { defaultLeaseTimings } from '../../../src/kubernetes/lease/lease-timings.ts';
import { createMetricRegistry } from '../../../src/observability/metrics.ts';
import { aborted } from '../../../src/runtime/race-abort.ts';
import { Random } from '../../../src/runtime/random.ts';
import { optionsOf } from '../../support/given-options.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { LeaseServer } from '../kubernetes/lease-server.ts';
import { ScriptedTransport, status } from '../kubernetes/scripted-transport.ts';

const theirs = { holderIdentity: 'them', leaseDurationSeconds: 15, renewTime: '' };
const forEver = new Promise<never>(() => undefined);

/** A mode whose work in flight ends once it is aborted, or never does, or whose background does not. */
function endless(part: 'work until it is aborted' | 'work' | 'background'): Mode<object, object> {
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
    stop: (deadline) => {
      if (part === 'work until it is aborted') return aborted(deadline).then(() => undefined);
      return part === 'work' ? forEver : Promise.resolve();
    },
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

interface Rig {
  readonly clock: VirtualClock;
  readonly server: LeaseServer;
  readonly log: ReturnType<typeof recordingLogger>;
  readonly controller: Controller<object, object>;
  readonly stop: () => void;
  readonly outcome: () => string | undefined;
}

/** A controller that leads. */
async function leading(part: Parameters<typeof endless>[0]): Promise<Rig> {
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
  return { clock, server, log, controller, stop: () => stopping.abort(), outcome: () => outcome };
}

test.each<['work' | 'background', 'lost Lease' | 'shutdown', number]>([
  ['work', 'lost Lease', 5000],
  ['work', 'shutdown', 25_000],
  ['background', 'lost Lease', 5000],
  ['background', 'shutdown', 5000],
])(
  'endless %s does not keep a process after a %s: it ends within %i ms, and says so before',
  async (part, cause, time) => {
    const { clock, server, log, controller, stop, outcome } = await leading(part);

    if (cause === 'shutdown') stop();
    else server.write(theirs);
    if (cause === 'lost Lease') await clock.runUntil(() => controller.state === 'draining', 5000);
    await clock.advance(time - 100);
    const before = [outcome(), part === 'work' ? controller.problem() : undefined];
    await clock.advance(100);

    const problem = part === 'work' ? 'it is shutting down, and work in flight does not end' : undefined;
    expect(before).toEqual([undefined, problem]);
    expect(outcome()).toBe(cause === 'shutdown' ? 'stopped' : 'lost');
    // What is still in flight may take effect: others wait for the end of the Lease.
    const holder = { 'lost Lease': 'them', shutdown: part === 'work' ? 'us' : '' }[cause];
    expect(server.spec['holderIdentity']).toBe(holder);
    expect(log.lines.map(({ message }) => message)).toContain(
      'a bug, please report it: work does not end though aborted',
    );
  },
);

test.each<['work until it is aborted' | 'work', number]>([
  ['work until it is aborted', 0],
  ['work', 5000],
])(
  'a Lease that is lost while a process shuts down ends it although %s goes on, %i ms later',
  async (part, time) => {
    const { clock, server, controller, stop, outcome } = await leading(part);
    stop();
    await clock.advance(1000);
    expect([controller.state, outcome()]).toEqual(['draining', undefined]);

    server.write(theirs);
    // It sees that with its next renewal.
    await clock.advance(defaultLeaseTimings.retryPeriod);
    await clock.advance(0.9 * time);
    const problem = controller.problem();
    await clock.advance(0.1 * time);

    expect(outcome()).toBe('lost');
    if (time > 0) expect(problem).toBe('it is shutting down, and work in flight does not end');
    expect(server.spec['holderIdentity']).toBe('them');
  },
);
