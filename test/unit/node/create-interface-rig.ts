// The creation of an interface in a cloud whose answers a test scripts, in virtual time.
import {
  adoptInterface,
  createInterface,
  type CreateInterfaceDeps,
  type CreateInterfaceResult,
} from '../../../src/node/allocate/create-interface.ts';
import type { CreateInterface, Operation, Outcome } from '../../../src/providers/contract/operations.ts';
import { VisibilityLag } from '../../../src/providers/inventory/visibility-lag.ts';
import { Random } from '../../../src/runtime/random.ts';
import { sleep } from '../../../src/runtime/clock.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { scriptedImplementation } from '../providers/scripted-implementation.ts';
import { created, done } from './outcomes.ts';

export const request: CreateInterface = {
  kind: 'createInterface',
  instanceId: 'i-1',
  subnetId: 'subnet-1',
  securityGroupIds: ['sg-1'],
  addressCount: 9,
  prefixCount: 0,
  description: 'Cilium-CNI (i-1)',
  tags: {},
  deviceIndex: 1,
  token: 'token-1',
};
export const deleted = done({ kind: 'deleted', interfaceId: 'eni-9' });

export interface Rig {
  readonly clock: VirtualClock;
  /** Calls in order: `create`, `attach@1`, `delete`, `refresh`; admissions as `admit create`. */
  readonly calls: string[];
  readonly requests: Operation[];
  /** Calls that can no longer be delayed. */
  readonly started: string[];
  readonly folded: string[];
  readonly throttles: string[];
  /** Refusals that were reported as certain before the deletion started. */
  readonly refused: string[];
  readonly deadline: AbortController;
  readonly result: () => CreateInterfaceResult | undefined;
  readonly error: () => unknown;
}

export interface Setup {
  /** eni-9 was orphaned: it is attached, and no new one is created. */
  readonly adopts?: boolean;
  readonly create?: readonly Outcome[];
  readonly attach?: readonly Outcome[];
  readonly delete?: readonly Outcome[];
  /** Index at which each refresh finds the interface attached; the last one repeats. */
  readonly refreshes?: readonly (number | undefined)[];
  /** Duration of each call and refresh, in ms. */
  readonly duration?: number;
  readonly taken?: readonly number[];
  /** How long the cloud recently took to know an interface, in ms. */
  readonly lag?: number;
  /** Seed of the lengths of pauses. */
  readonly seed?: string;
  /** How long calls wait for the rate limits, in ms. */
  readonly wait?: number;
  readonly refresh?: (clock: VirtualClock) => Promise<void>;
}

/** Runs the unit; the last outcome of a kind of call repeats. */
export function rig(setup: Setup): Rig {
  const clock = new VirtualClock();
  const deadline = new AbortController();
  const calls: string[] = [];
  const requests: Operation[] = [];
  const started: string[] = [];
  const folded: string[] = [];
  const throttles: string[] = [];
  const refused: string[] = [];
  const visibilityLag = new VisibilityLag();
  if (setup.lag !== undefined) visibilityLag.unknown(setup.lag - 100);
  const never = new AbortController().signal;
  const counts = { create: 0, attach: 0, delete: 0, refresh: 0 };
  let shownAt: number | undefined;
  let result: CreateInterfaceResult | undefined;
  let error: unknown;
  const next = (kind: 'create' | 'attach' | 'delete'): Outcome => {
    const script = setup[kind] ?? { create: [created('eni-9')], attach: [], delete: [deleted] }[kind];
    const outcome = script[Math.min(counts[kind]++, script.length - 1)];
    if (outcome === undefined) throw new Error(`no ${kind} is expected`);
    return outcome;
  };
  const implementation = scriptedImplementation({
    expectedWait: () => setup.wait ?? 0,
    admit: async (kinds, { signal }) => {
      calls.push(`admit ${kinds.map(nameOf).join()}`);
      await sleep(clock, 0, signal);
      return () => undefined;
    },
    perform: async (operation, context) => {
      const name = nameOf(operation.kind);
      if (context.inFlight === true) started.push(name);
      calls.push(operation.kind === 'attachInterface' ? `${name}@${operation.deviceIndex}` : name);
      requests.push(operation);
      await sleep(clock, setup.duration ?? 0, never);
      return next(name);
    },
  });
  const refresh = async (): Promise<void> => {
    calls.push('refresh');
    await (setup.refresh?.(clock) ?? sleep(clock, setup.duration ?? 0, never));
    const refreshes = setup.refreshes ?? [undefined];
    shownAt = refreshes[Math.min(counts.refresh++, refreshes.length - 1)];
  };
  const deps: CreateInterfaceDeps = {
    node: {
      implementation,
      applyAnswer: (answer) => void folded.push(answer.kind),
      refresh,
      attachedAt: (id) => (id === 'eni-9' ? shownAt : undefined),
      indexAfter: (index) => {
        let found = index + 1;
        while (setup.taken?.includes(found)) found++;
        return found;
      },
    },
    clock,
    random: new Random(setup.seed ?? 'unit'),
    consistencyWindow: 30_000,
    context: { caller: { priority: 'normal' }, signal: deadline.signal },
    visibilityLag,
    emit: (progress) => {
      if (progress.kind !== 'created')
        (progress.kind === 'refused' ? refused : throttles).push(progress.failure.kind);
    },
  };
  const unit = setup.adopts === true ? adoption(deps) : createInterface(request, deps);
  unit.then(
    (ended) => {
      result = ended;
    },
    (reason: unknown) => {
      error = reason;
    },
  );
  return {
    clock,
    calls,
    requests,
    started,
    folded,
    throttles,
    refused,
    deadline,
    result: () => result,
    error: () => error,
  };
}

async function adoption(deps: CreateInterfaceDeps): Promise<CreateInterfaceResult> {
  const interfaceId = 'eni-9';
  const failure = await adoptInterface({ interfaceId, instanceId: 'i-1', deviceIndex: 1 }, deps);
  if (failure === undefined) return { kind: 'attached', interfaceId };
  return { kind: 'failed', at: 'attach', failure, left: interfaceId, uncertain: false };
}

function nameOf(kind: Operation['kind']): 'create' | 'attach' | 'delete' {
  if (kind === 'createInterface') return 'create';
  return kind === 'attachInterface' ? 'attach' : 'delete';
}

export async function run(setup: Setup): Promise<Rig> {
  const made = rig(setup);
  await made.clock.advance(600_000);
  return made;
}

export const inPlace: CreateInterfaceResult = { kind: 'attached', interfaceId: 'eni-9' };

/** The time at which the condition first holds. */
export async function until({ clock }: Rig, holds: () => boolean): Promise<number> {
  while (!holds() && clock.monotonic() < 120_000) await clock.advance(100);
  return clock.monotonic();
}
