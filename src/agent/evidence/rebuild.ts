// Learns what is held from the pods of this node, after a record that was damaged, beside what that still said. Pods hold what
// they show under their names, until they are gone or a DEL names them.
import { sleep } from '../../runtime/clock.ts';
import { raceAbort, untilAborted } from '../../runtime/race-abort.ts';
import type { Held } from '../ipam/holdings.ts';
import type { NodePod } from '../metadata/node-pods.ts';
import { sandboxOf } from './sandboxes.ts';
import type { PodEvidence } from './gone-pods.ts';

/** Names of the network namespaces of pods, as far as they can be seen. */
type Sandboxes = () => readonly string[];

/** A kubelet may be so late to report the address that a pod got last, in ms. */
const latestReport = 60_000;
const pause = 1000;

/**
 * Returns at once if nothing is to be learned. Ends when `signal` aborts. `ownNodeSynced`: resolves once it is known what this
 * node has.
 */
export async function rebuild(
  evidence: PodEvidence,
  sandboxes: Sandboxes,
  ownNodeSynced: Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const { ipam, pods, clock, log } = evidence;
  if (!ipam.holdings.isRebuilding) return;
  const before = new Set(sandboxes());
  log.warn(
    'the record is damaged, and starts anew: nothing is given out until the pods of this node are read',
    {},
  );
  await untilAborted(signal, async () => {
    await raceAbort(Promise.all([pods.synced, ownNodeSynced]), signal);
    await allReported(evidence, signal);
    await noneUnknown(evidence, sandboxes, before, signal);
    while (!signal.aborted) {
      const { ips } = attached(ipam);
      const shown = shownByPods(pods.all.values(), (address) => ipam.pools.poolOf(address));
      const held = shown.filter(({ ip }) => !ips.has(ip));
      const problem = ipam.rebuild(held);
      if (problem === undefined)
        return log.info('the record is rebuilt from pods', { addresses: ipam.holdings.size });
      await sleep(clock, pause, signal);
    }
    return undefined;
  });
}

/** A pod that shows nothing may have an address, or wait for one. */
async function allReported({ pods, clock }: PodEvidence, signal: AbortSignal): Promise<void> {
  const deadline = clock.monotonic() + latestReport;
  const isAwaited = (): boolean => [...pods.all.values()].some(({ awaitsIp }) => awaitsIp);
  while (!signal.aborted && clock.monotonic() < deadline && isAwaited()) await sleep(clock, pause, signal);
  if (!signal.aborted) await raceAbort(pods.refresh(), signal);
}

/**
 * Waits for containers that had a network before the agent started: each has an address, which the record lost unless it still
 * says it. While there are more of them than pods that show one, an address that no pod shows may be of one that lives.
 */
async function noneUnknown(
  { ipam, pods, clock, log }: PodEvidence,
  sandboxes: Sandboxes,
  before: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<void> {
  const unknown = (): readonly string[] => {
    const known = attached(ipam);
    const living = sandboxes().filter((name) => before.has(name) && !known.sandboxes.has(name));
    const shown = [...pods.all.values()].filter(
      ({ hasEnded, ips }) => !hasEnded && ips.some((ip) => !known.ips.has(ip)),
    );
    return living.length > shown.length ? living : [];
  };
  const namespaces = unknown();
  if (namespaces.length > 0)
    log.warn(
      'nothing is given out: more network namespaces live than pods show addresses; remove the pods of this node that show none, or namespaces of none',
      { namespaces },
    );
  while (!signal.aborted && unknown().length > 0) await sleep(clock, pause, signal);
}

/** Reads what the damaged record still said. */
function attached({ holdings }: PodEvidence['ipam']): {
  readonly ips: ReadonlySet<string>;
  readonly sandboxes: ReadonlySet<string | undefined>;
} {
  const all = [...holdings.attachments()];
  return {
    ips: new Set(all.flatMap(({ places }) => places.map(({ ip }) => ip))),
    sandboxes: new Set(all.map(({ netns }) => sandboxOf(netns))),
  };
}

/** Addresses that living pods show. Those of pods that have ended are used last, as all that are shown. */
export function shownByPods(pods: Iterable<NodePod>, poolOf: (ip: string) => string): readonly Held[] {
  return [...pods]
    .filter(({ hasEnded }) => !hasEnded)
    .flatMap(({ key, uids, ips }) =>
      ips.map((ip) => ({ pool: poolOf(ip), ip, owner: key, uid: uids.at(-1) ?? '' })),
    );
}
