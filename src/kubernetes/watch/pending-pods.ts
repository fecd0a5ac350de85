// Counts the pods that wait for an address on each node: scheduled, on the pod network, not terminating and without an
// address. It keeps nothing else of a pod.
import { addressesOf } from './shown-pods.ts';
import { type JsonObject, textAt, valueAt } from '../transport/json.ts';
import type { Change } from './object-store.ts';
import { Reflector, type ReflectorPorts, type ReflectorState } from './reflector.ts';

export interface PendingPodsOptions extends ReflectorPorts {
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

const isWaitingNowhere: WaitsOn = { node: undefined };

export class PendingPods {
  readonly #options: PendingPodsOptions;
  readonly reflector: Reflector<WaitsOn>;
  readonly #counts = new Map<string, number>();
  #isDenied = false;

  constructor(options: PendingPodsOptions) {
    this.#options = options;
    const { transport, clock, random, onBug } = options;
    this.reflector = new Reflector<WaitsOn>({
      transport,
      clock,
      random,
      path: '/api/v1/pods',
      fieldSelector: 'status.phase=Pending,spec.nodeName!=',
      transform: waitsOn,
      onChange: (change) => this.#take(change),
      onState: (state) => this.#enter(state),
      onBug,
    });
  }

  /** Number of pods that wait for an address on the node. */
  pendingOn(node: string): number {
    return this.#isDenied ? 0 : (this.#counts.get(node) ?? 0);
  }

  #take({ type, object, previous }: Change<WaitsOn>): void {
    const after = type === 'deleted' ? undefined : object.node;
    const before = previous?.node;
    if (before === after) return;
    this.#count(before, -1);
    this.#count(after, 1);
  }

  #count(node: string | undefined, by: number): void {
    if (node === undefined) return;
    const count = (this.#counts.get(node) ?? 0) + by;
    if (count === 0) this.#counts.delete(node);
    else this.#counts.set(node, count);
    if (!this.#isDenied) this.#options.onChange(node);
  }

  #enter(state: ReflectorState): void {
    if (state.kind === 'denied' && !this.#isDenied) {
      this.#setDenied(true);
      this.#options.onDenied?.(state.problem);
    }
    if (state.kind === 'watching' && this.#isDenied) this.#setDenied(false);
    this.#options.onState?.(state);
  }

  #setDenied(isDenied: boolean): void {
    this.#isDenied = isDenied;
    for (const node of this.#counts.keys()) this.#options.onChange(node);
  }
}

function waitsOn(pod: JsonObject): WaitsOn {
  const node = textAt(pod, 'spec', 'nodeName');
  const isWaiting =
    node !== undefined &&
    valueAt(pod, 'spec', 'hostNetwork') !== true &&
    valueAt(pod, 'metadata', 'deletionTimestamp') === undefined &&
    addressesOf(pod).length === 0;
  return isWaiting ? { node } : isWaitingNowhere;
}
