// Counts the pods that wait for an address on each node: scheduled, on the pod network, not terminating and without an
// address, in their own status and by what their agent reports. It keeps nothing else of a pod but its name.
import { type JsonObject, listAt, textAt, valueAt } from '../../runtime/json.ts';
import type { Change } from './object-store.ts';
import type { ClientPorts } from '../transport/transport.ts';
import { Reflector, type ReflectorState } from './reflector.ts';

export interface PendingPodsListener {
  /** Called when the count of a node changes. `onBug` gets what it throws. */
  readonly onChange: (node: string) => void;
  /** Called once when access to pods is denied. All counts are 0 until it is granted. */
  readonly onDenied?: (problem: string) => void;
  readonly onState?: (state: ReflectorState) => void;
}

/** The node on which a pod waits; undefined when it does not wait. */
interface WaitsOn {
  readonly node: string | undefined;
}

/** Pods of one node without an address in their status, by `namespace/name`. */
interface Waiting {
  readonly pods: Set<string>;
  /** Pods that the agent has given an address. */
  served: ReadonlySet<string>;
}

/** Selects pods that may wait for an address. */
export const ofPendingPods = 'status.phase=Pending,spec.nodeName!=';

const none: ReadonlySet<string> = new Set();
const isWaitingNowhere: WaitsOn = { node: undefined };

export class PendingPods {
  readonly #listener: PendingPodsListener;
  readonly reflector: Reflector<WaitsOn>;
  readonly #waiting = new Map<string, Waiting>();
  #isDenied = false;

  constructor(ports: ClientPorts, listener: PendingPodsListener) {
    this.#listener = listener;
    this.reflector = new Reflector<WaitsOn>(
      ports,
      { path: '/api/v1/pods', fieldSelector: ofPendingPods, transform: waitsOn },
      { onChange: (change) => this.#take(change), onState: (state) => this.#enter(state) },
    );
  }

  /** Number of pods that wait for an address on the node. */
  pendingOn(node: string): number {
    const { pods, served } = this.#waiting.get(node) ?? { pods: none, served: none };
    return this.#isDenied ? 0 : pods.size - served.size;
  }

  /** `owners`: pods to which the agent has given an address, by `namespace/name`. A pod may show its own seconds later. */
  agentServes(node: string, owners: Iterable<string>): void {
    const waiting = this.#waiting.get(node);
    if (waiting === undefined) return;
    const before = waiting.served.size;
    waiting.served = new Set([...owners].filter((owner) => waiting.pods.has(owner)));
    if (waiting.served.size !== before) this.#changed(node);
  }

  #take({ type, key, object, previous }: Change<WaitsOn>): void {
    const after = type === 'deleted' ? undefined : object.node;
    const before = previous?.node;
    if (before === after) return;
    if (before !== undefined) this.#leave(before, key);
    if (after !== undefined) this.#come(after, key);
  }

  #come(node: string, pod: string): void {
    const waiting = this.#waiting.get(node) ?? { pods: new Set(), served: none };
    this.#waiting.set(node, waiting);
    waiting.pods.add(pod);
    this.#changed(node);
  }

  #leave(node: string, pod: string): void {
    const waiting = this.#waiting.get(node);
    if (waiting === undefined) return;
    const wasServed = waiting.served.has(pod);
    waiting.pods.delete(pod);
    if (wasServed) waiting.served = new Set([...waiting.served].filter((each) => each !== pod));
    if (waiting.pods.size === 0) this.#waiting.delete(node);
    if (!wasServed) this.#changed(node);
  }

  #changed(node: string): void {
    if (!this.#isDenied) this.#listener.onChange(node);
  }

  #enter(state: ReflectorState): void {
    if (state.kind === 'denied' && !this.#isDenied) {
      this.#setDenied(true);
      this.#listener.onDenied?.(state.problem);
    }
    if (state.kind === 'watching' && this.#isDenied) this.#setDenied(false);
    this.#listener.onState?.(state);
  }

  #setDenied(isDenied: boolean): void {
    this.#isDenied = isDenied;
    for (const node of this.#waiting.keys()) this.#listener.onChange(node);
  }
}

export function waitsOn(pod: JsonObject): WaitsOn {
  const node = textAt(pod, 'spec', 'nodeName');
  const isWaiting =
    node !== undefined &&
    valueAt(pod, 'spec', 'hostNetwork') !== true &&
    valueAt(pod, 'metadata', 'deletionTimestamp') === undefined &&
    addressesOf(pod).length === 0;
  return isWaiting ? { node } : isWaitingNowhere;
}

/** The addresses that a pod shows, in its status. */
export function addressesOf(pod: JsonObject): readonly string[] {
  const texts = listAt(pod, 'status', 'podIPs').map((entry) => textAt(entry, 'ip'));
  return [...new Set([...texts, textAt(pod, 'status', 'podIP')].flatMap((text) => text || []))];
}
