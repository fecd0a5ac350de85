// The address-related part of a kubelet. It detects pods bound to its node and requests an address from the
// agent until it gets one. It reports the pod as running and releases the address when the pod ends. It does
// not choose the address.
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Agent } from './agent.ts';
import { isPassing } from './insist.ts';
import type { Recorder } from './journal.ts';
import type { JsonObject } from './json.ts';
import type { Answer, KubernetesClient } from './kubernetes-client.ts';
import type { NodeFacts } from './node-facts.ts';
import { watchObjects } from './object-watch.ts';
import { type Pod, type PodAddresses, podOf, podPath, podsPath, runningPatch } from './pod.ts';
import { noWaits, type WaitFigures, withWait } from './waiting-times.ts';

export interface KubeletOptions {
  readonly facts: NodeFacts;
  readonly client: KubernetesClient;
  /** The kubelet's pace. */
  readonly clock: Clock;
  /** Measures waits and dates starts. */
  readonly stopwatch: Clock;
  readonly random: Random;
  readonly watchLag: number;
  readonly record: Recorder;
  readonly onBug: (error: unknown) => void;
  /** The machine's current agent. */
  readonly agent: () => Agent;
}

/** Minimum delay before a failed set-up or request is retried, in ms; at most half of it more. */
const retryInterval = 10_000;

interface Sandbox {
  readonly pod: Pod;
  /** When the kubelet first saw the pod, on the stopwatch. */
  readonly since: number;
  phase: 'waiting' | 'running' | 'ending' | 'ended';
  cancelTimer: () => void;
}

export class Kubelet {
  readonly #options: KubeletOptions;
  readonly #stopping = new AbortController();
  readonly #sandboxes = new Map<string, Sandbox>();
  #watching: Promise<void> = Promise.resolve();
  #waits = noWaits;

  constructor(options: KubeletOptions) {
    this.#options = options;
  }

  /** Pods without the address they need, and since when they wait, in monotonic ms of the stopwatch. */
  get waiting(): ReadonlyMap<string, number> {
    const found = new Map<string, number>();
    for (const [key, { phase, since }] of this.#sandboxes) if (phase === 'waiting') found.set(key, since);
    return found;
  }

  /** Waits of pods that have their address or had it until they ended. */
  get waits(): WaitFigures {
    return this.#waits;
  }

  /** Starts the kubelet; call it once. */
  start(): void {
    const { facts, client, clock, random, watchLag, record } = this.#options;
    this.#watching = this.#guarded(
      watchObjects(
        {
          client,
          path: podsPath,
          fieldSelector: `spec.nodeName=${facts.name}`,
          clock,
          random: random.fork('watch'),
          lag: watchLag,
        },
        {
          onList: (objects) => this.#compare(objects.map(podOf)),
          onChange: (object) => this.#see(podOf(object)),
          onDelete: (object) => this.#vanished(podOf(object)),
          onTrouble: (reason) => record('watch-broken', podsPath, reason),
        },
        this.#stopping.signal,
      ),
    );
  }

  /** Stops the kubelet and all pods of the machine without notifying anyone. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error(`the kubelet of ${this.#options.facts.name} stops`));
    for (const sandbox of this.#sandboxes.values()) sandbox.cancelTimer();
    this.#sandboxes.clear();
    await this.#watching;
  }

  #compare(pods: readonly Pod[]): void {
    const listed = new Set(pods.map((pod) => pod.key));
    for (const [key, { pod }] of this.#sandboxes) if (!listed.has(key)) this.#vanished(pod);
    for (const pod of pods) this.#see(pod);
  }

  #see(pod: Pod): void {
    const sandbox = this.#sandboxes.get(pod.key);
    if (sandbox === undefined) this.#meet(pod);
    else if (sandbox.pod.uid !== pod.uid) this.#replace(sandbox, pod);
    else if (pod.isDeleting) this.#end(sandbox, pod.grace);
  }

  #meet(pod: Pod): void {
    if (pod.isFinished) return;
    const since = this.#options.stopwatch.monotonic();
    const sandbox: Sandbox = { pod, since, phase: 'waiting', cancelTimer: () => undefined };
    this.#sandboxes.set(pod.key, sandbox);
    if (pod.isDeleting) this.#end(sandbox, 0);
    else this.#setUp(sandbox);
  }

  /** The former pod of this name is gone, and its end was never seen. */
  #replace(sandbox: Sandbox, pod: Pod): void {
    this.#vanished(sandbox.pod);
    this.#meet(pod);
  }

  #setUp(sandbox: Sandbox): void {
    const { facts, record, stopwatch } = this.#options;
    const { key, hostNetwork } = sandbox.pod;
    const host = facts.primaryAddress;
    const addresses = hostNetwork ? { host, pod: host } : this.#addressesFor(key);
    if (addresses === undefined) {
      sandbox.cancelTimer = this.#later(() => this.#setUp(sandbox));
      return;
    }
    sandbox.phase = 'running';
    if (!hostNetwork) this.#waits = withWait(this.#waits, stopwatch.monotonic() - sandbox.since);
    record('pod-running', key, addresses.pod);
    this.#report(sandbox, addresses);
  }

  #addressesFor(key: string): PodAddresses | undefined {
    const answer = this.#options.agent().add(key);
    if (answer.kind !== 'allocated') return undefined;
    return { host: this.#options.facts.primaryAddress, pod: answer.address, ipv6: answer.ipv6 };
  }

  #report(sandbox: Sandbox, addresses: PodAddresses): void {
    const { client, stopwatch } = this.#options;
    const { key, uid } = sandbox.pod;
    const patch = runningPatch(uid, addresses, new Date(stopwatch.wall()));
    this.#request(
      () => client.mergePatch(`${podPath(key)}/status`, patch, this.#stopping.signal),
      () => sandbox.phase === 'running',
    );
  }

  #end(sandbox: Sandbox, grace: number): void {
    if (sandbox.phase === 'ending' || sandbox.phase === 'ended') return;
    const wait = sandbox.phase === 'running' ? grace : 0;
    sandbox.cancelTimer();
    sandbox.phase = 'ending';
    sandbox.cancelTimer = this.#options.clock.schedule(wait, () => {
      this.#tearDown(sandbox);
      this.#remove(sandbox.pod);
    });
  }

  #vanished(pod: Pod): void {
    const sandbox = this.#sandboxes.get(pod.key);
    if (sandbox === undefined || sandbox.pod.uid !== pod.uid) return;
    this.#tearDown(sandbox);
    this.#sandboxes.delete(pod.key);
  }

  #tearDown(sandbox: Sandbox): void {
    if (sandbox.phase === 'ended') return;
    sandbox.cancelTimer();
    sandbox.phase = 'ended';
    if (!sandbox.pod.hostNetwork) this.#options.agent().remove(sandbox.pod.key);
    this.#options.record('pod-gone', sandbox.pod.key);
  }

  /** Deletes the object of a terminated pod. */
  #remove({ key, uid }: Pod): void {
    const options: JsonObject = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      gracePeriodSeconds: 0,
      preconditions: { uid },
    };
    this.#request(
      () => this.#options.client.delete(podPath(key), options, this.#stopping.signal),
      () => true,
    );
  }

  /** Sends until a retry would not change the answer, while `isDue`. */
  #request(send: () => Promise<Answer>, isDue: () => boolean): void {
    const attempt = async (): Promise<void> => {
      const answer = await send();
      if (answer.kind === 'ok' || !isPassing(answer.status)) return;
      this.#later(() => {
        if (isDue()) this.#request(send, isDue);
      });
    };
    void this.#guarded(attempt());
  }

  #later(action: () => void): () => void {
    const { clock, random } = this.#options;
    return clock.schedule(retryInterval * (1 + random.next() / 2), () => {
      if (!this.#stopping.signal.aborted) action();
    });
  }

  /** Reports only bugs. */
  async #guarded(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      if (!this.#stopping.signal.aborted) this.#options.onBug(error);
    }
  }
}
