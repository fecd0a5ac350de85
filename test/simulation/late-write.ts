// A write that gets to the API server only when the leader that sent it is dead, and the next one has begun.
import { bodyOf } from './handshake-faults.ts';
import type { CallInProgress } from './ports.ts';
import { ConnectionDropped } from '../../src/simulator/kubernetes/faults/faults.ts';
import { isObject, objectAt } from '../../src/simulator/workload/json.ts';
import type { FaultPlan } from './scenario.ts';
import type { Stage } from './harness.ts';

type Plan = Extract<FaultPlan, { readonly kind: 'straggle' }>;

/** How often it is looked whether somebody leads again, in ms, and how many times. */
const lookInterval = 250;
const mostLooks = 600;
/** So long after the next one has begun such a write is let in at most, in ms: sooner than it would be taken for a foreign one. */
const longest = 18_000;
/** So much later controllers hear of it, if late: longer than they take the write of a predecessor for possible, in ms. */
const heardLate = 45_000;
const watchesOfControllers = /ciliumnodes\?(?!.*fieldSelector).*watch=/;

export function straggle(stage: Stage, { nth, ms, isHeardLate, restartAfter }: Plan): void {
  stage.tripwires.arm({
    call: 'patch status',
    phase: 'before it is sent',
    nth,
    fits: ({ input }) => grows(stage, input),
    act: ({ process, input }) => {
      const replica = stage.replicaOf(process);
      if (replica === undefined) return;
      stage.history.write(`${process.identity} is killed while a write of its own is on its way`);
      const sentAt = process.monotonic();
      stage.retire(replica, restartAfter);
      onceLed(stage, () => {
        stage.clock.schedule(ms, () => {
          if (isHeardLate) deafenOnce(stage);
          const writer = { 'user-agent': process.identity, 'sent-at': String(sentAt) };
          const tooLate = new AbortController();
          stage.clock.schedule(longest - ms, () => tooLate.abort());
          const arrived = arrive(stage, input, writer, tooLate.signal);
          stage.promise(
            arrived.then((isTaken) => {
              if (isTaken) stage.coverage.hit('straggle', isHeardLate ? 'heard late' : 'heard');
            }),
          );
        });
      });
    },
  });
}

function onceLed(stage: Stage, act: () => void, looks = mostLooks): void {
  if (stage.leader !== undefined) act();
  else if (looks > 0) stage.clock.schedule(lookInterval, () => onceLed(stage, act, looks - 1));
}

/** Nobody hears the answer. Resolves to whether the write is carried out: no other came before it, and it was in time. */
async function arrive(
  stage: Stage,
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
    const { status } = await stage.cluster.kubernetes.handle(request, tooLate);
    return status === 200;
  } catch (error) {
    if (error instanceof ConnectionDropped) return false;
    throw error;
  }
}

function deafenOnce(stage: Stage): void {
  const hear = stage.cluster.kubernetes.faults.inject({
    path: watchesOfControllers,
    times: Infinity,
    effect: { kind: 'delayEvents', ms: heardLate },
  });
  stage.clock.schedule(lookInterval, hear);
}

/** Whether a patch shows on some interface what it did not show, and nothing less on the node as a whole. */
function grows(stage: Stage, input: CallInProgress['input']): boolean {
  const { interfaces } = stage.shownOn(stage.nodeOfCall(input));
  const patched = objectAt(bodyOf(input), 'status', 'eni', 'enis');
  const before = Object.entries(patched).flatMap(([id]) => placesOn(id, interfaces[id]?.addresses));
  const after = Object.entries(patched).flatMap(([id, patch]) => {
    if (!isObject(patch)) return [];
    const { addresses = interfaces[id]?.addresses } = patch;
    return placesOn(id, addresses);
  });
  const [places, left] = [
    new Set(before.map(({ place }) => place)),
    new Set(after.map(({ address }) => address)),
  ];
  return after.some(({ place }) => !places.has(place)) && before.every(({ address }) => left.has(address));
}

/** Addresses with where they are. */
function placesOn(
  id: string,
  addresses: unknown,
): readonly { readonly address: string; readonly place: string }[] {
  if (!Array.isArray(addresses)) return [];
  return addresses.map(String).map((address) => ({ address, place: `${id} ${address}` }));
}
