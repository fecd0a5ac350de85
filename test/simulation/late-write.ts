// A write that reaches the API server only after its leader died and the next one started.
import { type Delay, delayControllerWatches } from './delayed-watches.ts';
import { bodyOf } from './handshake-faults.ts';
import type { CallInProgress } from './process.ts';
import { ConnectionDropped } from '../../src/simulator/kubernetes/faults/faults.ts';
import { objectAt } from '../../src/simulator/workload/json.ts';
import { patchedInterfaces } from './invariants/shown-node.ts';
import type { FaultPlan } from './scenario.ts';
import type { Harness } from './harness.ts';

type Plan = Extract<FaultPlan, { readonly kind: 'straggle' }>;

/** Interval of checks for a new leader, in ms, and their number. */
const pollInterval = 250;
const maxPolls = 600;
/**
 * Latest arrival after the next leader started, in ms: earlier than a leader takes the write for a conflicting
 * writer's.
 */
const maxDelay = 18_000;
/** Controllers learn of the write later than they expect writes of a predecessor. */
const eventDelay: Delay = { ms: 45_000, during: 250 };

export function lateWrite(harness: Harness, { nth, ms, isHeardLate, restartAfter }: Plan): void {
  harness.failpoints.arm({
    call: 'patch status',
    phase: 'before it is sent',
    nth,
    matches: ({ input }) => onlyAdds(harness, input),
    run: ({ process, input }) => {
      const replica = harness.replicaOf(process);
      if (replica === undefined) return;
      harness.history.write(`${process.identity} is killed while a write of its own is on its way`);
      const sentAt = process.monotonic();
      harness.retire(replica, restartAfter);
      onNextLeader(harness, () => {
        harness.clock.schedule(ms, () => {
          if (isHeardLate) delayControllerWatches(harness, eventDelay);
          const writer = { 'user-agent': process.identity, 'sent-at': String(sentAt) };
          const tooLate = new AbortController();
          harness.clock.schedule(maxDelay - ms, () => tooLate.abort());
          const delivered = deliver(harness, input, writer, tooLate.signal);
          harness.runInBackground(
            delivered.then((isAccepted) => {
              if (isAccepted) harness.coverage.hit('straggle', isHeardLate ? 'heard late' : 'heard');
            }),
          );
        });
      });
    },
  });
}

function onNextLeader(harness: Harness, run: () => void, polls = maxPolls): void {
  if (harness.leader !== undefined) run();
  else if (polls > 0) harness.clock.schedule(pollInterval, () => onNextLeader(harness, run, polls - 1));
}

/** Nobody receives the answer. Resolves to whether the write took effect: no other came first, and it was in time. */
async function deliver(
  harness: Harness,
  { path, body }: CallInProgress['input'],
  writer: Readonly<Record<string, string>>,
  tooLate: AbortSignal,
): Promise<boolean> {
  const request = {
    method: 'PATCH',
    url: String(path),
    headers: { ...writer, 'content-type': 'application/merge-patch+json' },
    body: String(body),
  };
  try {
    const { status } = await harness.cluster.kubernetes.handle(request, tooLate);
    return status === 200;
  } catch (error) {
    if (error instanceof ConnectionDropped) return false;
    throw error;
  }
}

/** Whether a patch adds an address to an interface and removes none from the node. */
function onlyAdds(harness: Harness, input: CallInProgress['input']): boolean {
  const { interfaces } = harness.shownOn(harness.nodeOfCall(input));
  const patched = patchedInterfaces(objectAt(bodyOf(input), 'status'));
  const before = Object.entries(patched).flatMap(([id]) => placesOn(id, interfaces[id]?.addresses));
  const after = Object.entries(patched).flatMap(([id, patch]) => {
    if (patch === null) return [];
    const { addresses = interfaces[id]?.addresses } = patch;
    return placesOn(id, addresses);
  });
  const [places, left] = [
    new Set(before.map(({ place }) => place)),
    new Set(after.map(({ address }) => address)),
  ];
  return after.some(({ place }) => !places.has(place)) && before.every(({ address }) => left.has(address));
}

/** Addresses with their interface. */
function placesOn(
  id: string,
  addresses: unknown,
): readonly { readonly address: string; readonly place: string }[] {
  if (!Array.isArray(addresses)) return [];
  return addresses.map(String).map((address) => ({ address, place: `${id} ${address}` }));
}
