// What a person sees: the answer whether the controller is ready, Events, and the error of a node.
import { askText, callJson } from '../../rig/http.ts';
import type { ControllerProcess } from '../../rig/controller-process.ts';
import type { TrialCluster } from './rig/trial-cluster.ts';

/** Undefined while it is ready. */
export async function unreadiness(
  controller: ControllerProcess,
  { signal }: TrialCluster,
): Promise<string | undefined> {
  const { status, text } = await askText('GET', controller.urlOf('/readyz'), undefined, signal);
  return status === 200 ? undefined : text.trim();
}

/** Resolves to the first answer that has `words` in it. */
export async function untilSaid(
  cluster: TrialCluster,
  controller: ControllerProcess,
  words: string | RegExp,
): Promise<string> {
  let said = '';
  await cluster.until(`it says ${words}; it said ${said}`, async () => {
    said = (await unreadiness(controller, cluster)) ?? '';
    return typeof words === 'string' ? said.includes(words) : words.test(said);
  });
  return said;
}

export async function untilReady(cluster: TrialCluster, controller: ControllerProcess): Promise<void> {
  await cluster.until('it is ready', async () => (await unreadiness(controller, cluster)) === undefined);
}

interface ShownEvent {
  readonly reason?: string;
  readonly message?: string;
  readonly involvedObject: { readonly kind?: string };
}

/** Resolves to what the first Event on the Lease says: by then what was read at the start has settled. */
export async function untilLeaseEvent(cluster: TrialCluster): Promise<string> {
  let reported: readonly string[] = [];
  await cluster.until('an Event is on the Lease', async () => {
    reported = await leaseEvents(cluster);
    return reported.length > 0;
  });
  return reported[0] ?? '';
}

/** Messages of the Events WithdrawalsHeld on the Lease. */
export async function leaseEvents({ api, signal }: TrialCluster): Promise<readonly string[]> {
  const { items } = await callJson<{ readonly items: readonly ShownEvent[] }>(
    'GET',
    `${api.url}/api/v1/events`,
    undefined,
    signal,
  );
  return items
    .filter(({ reason, involvedObject }) => reason === 'WithdrawalsHeld' && involvedObject.kind === 'Lease')
    .map(({ message = '' }) => message);
}
