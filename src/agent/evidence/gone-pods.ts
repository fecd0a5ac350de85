// Releases what pods held that are gone, although no DEL says so. It takes two complete lists without the pod, a minute apart,
// and for an attachment that its network namespace is gone from this machine: a pod that is deleted by force still runs. Where
// that cannot be seen, the attachment is only suspected.
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Logger } from '../../observability/logger.ts';
import { type Clock, sleep } from '../../runtime/clock.ts';
import { raceAbort, untilAborted } from '../../runtime/race-abort.ts';
import { type Attachment, attachmentKey, type Held, placeKey } from '../ipam/holdings.ts';
import type { Ipam } from '../ipam/ipam.ts';
import type { NodePods } from '../metadata/node-pods.ts';

/** The pods of this node, and what they hold by the word of this agent. */
export interface PodEvidence {
  readonly ipam: Ipam;
  readonly pods: NodePods;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Between two looks, and two lists, in ms. */
const interval = 60_000;
/** Younger attachments may be of pods that no list shows yet, in ms. */
const minAge = 600_000;

type Candidate =
  | { readonly kind: 'attachment'; readonly key: string; readonly attachment: Attachment }
  | { readonly kind: 'shown'; readonly key: string; readonly held: Held };

export class GonePods {
  readonly #evidence: PodEvidence;
  /** When a complete list first lacked the pod, in monotonic ms. */
  readonly #lacking = new Map<string, number>();
  /** Directories in which this process has seen the network namespace of an attachment. */
  readonly #visible = new Set<string>();
  #suspected: ReadonlySet<string> = new Set();

  constructor(evidence: PodEvidence) {
    this.#evidence = evidence;
  }

  /** Whether the pod of an attachment seems to be gone, and nothing proves it. */
  isSuspected(attachment: Attachment): boolean {
    return this.#suspected.has(attachmentKey(attachment));
  }

  /** Runs until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, pods } = this.#evidence;
    await untilAborted(signal, async () => {
      await raceAbort(pods.synced, signal);
      while (!signal.aborted) {
        await this.look(signal);
        await sleep(clock, interval, signal);
      }
    });
  }

  /** Lists pods only if one is missing from what is watched. */
  async look(signal: AbortSignal): Promise<void> {
    this.#seeNamespaces();
    if (this.#candidates().length > 0) await raceAbort(this.#evidence.pods.refresh(), signal);
    if (signal.aborted) return;
    const now = this.#evidence.clock.monotonic();
    const candidates = this.#candidates();
    const keys = new Set(candidates.map(({ key }) => key));
    for (const key of this.#lacking.keys()) if (!keys.has(key)) this.#lacking.delete(key);
    for (const key of keys) if (!this.#lacking.has(key)) this.#lacking.set(key, now);
    const gone = candidates.filter(({ key }) => now - (this.#lacking.get(key) ?? now) >= interval);
    const isProved = (each: Candidate): boolean => each.kind === 'shown' || this.#hasEnded(each.attachment);
    this.#suspected = new Set(gone.filter((each) => !isProved(each)).map(({ key }) => key));
    for (const each of gone.filter(isProved)) this.#release(each);
  }

  #candidates(): readonly Candidate[] {
    const { ipam, pods, clock } = this.#evidence;
    const known = new Set([...pods.all.values()].flatMap(({ uids }) => uids));
    const isGone = (uid: string | undefined): boolean => uid !== undefined && !known.has(uid);
    const attachments = [...ipam.holdings.attachments()]
      .filter(({ uid, since }) => isGone(uid) && clock.wall() - since >= minAge)
      .map((attachment): Candidate => ({ kind: 'attachment', key: attachmentKey(attachment), attachment }));
    const shown = [...ipam.holdings.held()]
      .filter((held) => isGone(held.uid) && ipam.holdings.attachmentOf(held) === undefined)
      .map((held): Candidate => ({ kind: 'shown', key: `${placeKey(held)} ${held.uid ?? ''}`, held }));
    return [...attachments, ...shown];
  }

  #release(each: Candidate): void {
    const { ipam, log } = this.#evidence;
    const outcome =
      each.kind === 'attachment'
        ? ipam.detach([each.attachment])
        : ipam.forgetPod(each.held.owner, each.held.uid ?? '');
    const owner = each.kind === 'attachment' ? each.attachment.owner : each.held.owner;
    if (outcome.kind === 'ok')
      log.warn('released the addresses of a pod that is gone without a DEL', { owner });
    else
      log.warn('cannot release the addresses of a pod that is gone', {
        owner,
        problem: outcome.error.message,
      });
  }

  #seeNamespaces(): void {
    for (const { netns } of this.#evidence.ipam.holdings.attachments())
      if (isVisibleKind(netns) && !this.#visible.has(dirname(netns)) && existsSync(netns))
        this.#visible.add(dirname(netns));
  }

  #hasEnded({ netns }: Attachment): boolean {
    return isVisibleKind(netns) && this.#visible.has(dirname(netns)) && !existsSync(netns);
  }
}

/** Paths below /proc name processes, which this process may see otherwise than the runtime. */
function isVisibleKind(netns: string | undefined): netns is string {
  return netns !== undefined && netns.startsWith('/') && !netns.startsWith('/proc/');
}
