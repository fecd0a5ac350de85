// Executes a schedule on time. It waits for no action: a slow one does not delay the next.
import { type Clock, sleep } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Protocol } from './node-facts.ts';
import { podKey } from './pod.ts';
import type { PodWish } from './pod-registry.ts';
import type { WorkloadAction } from './workload.ts';

/** The fleet that a schedule is executed on. */
export interface DrivenFleet {
  readonly createPod: (wish: PodWish) => Promise<unknown>;
  readonly deletePod: (key: string) => Promise<void>;
  readonly replaceNode: (nodeName: string) => Promise<void>;
  readonly restartAgent: (nodeName: string) => Promise<void>;
  readonly changeAgent: (nodeName: string, protocol: Protocol) => Promise<void>;
  /** The current nodes with each agent's protocol, in a fixed order. */
  readonly protocols: ReadonlyMap<string, Protocol>;
}

export interface DriverOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly onBug: (error: unknown) => void;
}

/** Resolves once the schedule ends or `signal` aborts, and all started actions have ended. */
export async function drive(
  schedule: Iterable<WorkloadAction>,
  fleet: DrivenFleet,
  options: DriverOptions,
  signal: AbortSignal,
): Promise<void> {
  const { clock, random, onBug } = options;
  const start = clock.monotonic();
  const inFlight = new Set<Promise<void>>();
  for (const action of schedule) {
    if (!(await reached(clock, start + action.at, signal))) break;
    const work = perform(action, fleet, random).catch((error: unknown) => {
      if (!signal.aborted) onBug(error);
    });
    inFlight.add(work);
    void work.then(() => inFlight.delete(work));
  }
  await Promise.all(inFlight);
}

/** Waits until `time`; false if the signal aborts first. */
async function reached(clock: Clock, time: number, signal: AbortSignal): Promise<boolean> {
  const wait = time - clock.monotonic();
  if (wait <= 0 || signal.aborted) return !signal.aborted;
  try {
    await sleep(clock, wait, signal);
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

async function perform(action: WorkloadAction, fleet: DrivenFleet, random: Random): Promise<void> {
  switch (action.kind) {
    case 'create-pod':
      await fleet.createPod({
        name: action.pod,
        hostNetwork: action.hostNetwork,
        placement: action.placement,
        ...(action.nodeName !== undefined && { nodeName: action.nodeName }),
      });
      return;
    case 'delete-pod':
      return fleet.deletePod(podKey(action.pod));
    case 'upgrade-agent':
      return upgradeNext(fleet);
    case 'replace-node':
    case 'restart-agent':
      return disturb(action.kind, fleet, random);
  }
}

async function disturb(
  kind: 'replace-node' | 'restart-agent',
  fleet: DrivenFleet,
  random: Random,
): Promise<void> {
  const names = [...fleet.protocols.keys()];
  if (names.length === 0) return;
  const name = random.pick(names);
  await (kind === 'replace-node' ? fleet.replaceNode(name) : fleet.restartAgent(name));
}

async function upgradeNext(fleet: DrivenFleet): Promise<void> {
  for (const [name, protocol] of fleet.protocols) {
    if (protocol === 'crd-allocator') return fleet.changeAgent(name, 'multi-pool');
  }
}
