// The pods of this node, as far as their addresses need it: who they are, which addresses they show, and what they say about
// pools.
import { addressesOf } from '../../kubernetes/watch/pending-pods.ts';
import { type JsonObject, textAt, textsAt, valueAt } from '../../runtime/json.ts';
import type { Change } from '../../kubernetes/watch/object-store.ts';
import { Reflector } from '../../kubernetes/watch/reflector.ts';
import { canonicalAddress } from '../../blocks/set/cidr.ts';
import { actionOf, clientPorts, type Surroundings } from '../own-node/own-node.ts';
import { allLabels } from '../../kubernetes/object-identity.ts';

export type Texts = Readonly<Record<string, string>>;

export interface NodePod {
  /** `namespace/name` */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The uids of the pod, including those under which runtimes know a static pod. */
  readonly uids: readonly string[];
  readonly labels: Texts;
  /** The annotations of `ipam.cilium.io`. */
  readonly annotations: Texts;
  /** Addresses of the pod network, in canonical text. */
  readonly ips: readonly string[];
  /** Whether all containers of the pod have ended for good. */
  readonly hasEnded: boolean;
  /** Whether the pod may have an address that it does not show. */
  readonly awaitsIp: boolean;
}

export interface NodePodsListener {
  readonly onChange: () => void;
  /** Called with a pod that appears after all others were known. */
  readonly onNew?: (pod: NodePod) => void;
}

export class NodePods {
  readonly #reflector: Reflector<NodePod>;
  readonly #shown = new Map<string, number>();
  #problem: string | undefined = 'no answer yet';
  #areAllKnown = false;

  constructor(node: string, surroundings: Surroundings, { onChange, onNew }: NodePodsListener) {
    const { log } = surroundings;
    this.#reflector = new Reflector<NodePod>(
      clientPorts(surroundings),
      { path: '/api/v1/pods', fieldSelector: `spec.nodeName=${node}`, transform: readNodePod },
      {
        onChange: (change) => {
          this.#count(change);
          onChange();
          if (this.#areAllKnown && change.type === 'added') onNew?.(change.object);
          surroundings.onEvent?.('Pod', actionOf[change.type]);
        },
        onState: (state) => {
          const problem = 'problem' in state ? state.problem : undefined;
          if (problem !== undefined && problem !== this.#problem)
            log.warn('cannot read the pods of this node', { problem });
          this.#problem = state.kind === 'watching' ? undefined : (problem ?? this.#problem);
          this.#areAllKnown ||= state.kind === 'watching';
        },
      },
    );
  }

  /** Why they cannot be read; undefined if they are. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** By `namespace/name`. */
  get all(): ReadonlyMap<string, NodePod> {
    return this.#reflector.objects;
  }

  /** Resolves once all pods of this node are known. */
  get synced(): Promise<void> {
    return this.#reflector.synced;
  }

  /** Whether a pod of this node shows the address. */
  shows(ip: string): boolean {
    return this.#shown.has(ip);
  }

  /** Lists all pods again; never resolves after `run` ends. */
  refresh(): Promise<void> {
    return this.#reflector.refresh();
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#reflector.run(signal);
  }

  #count({ type, object, previous }: Change<NodePod>): void {
    for (const ip of previous?.ips ?? []) this.#add(ip, -1);
    for (const ip of type === 'deleted' ? [] : object.ips) this.#add(ip, 1);
  }

  #add(ip: string, by: number): void {
    const count = (this.#shown.get(ip) ?? 0) + by;
    if (count > 0) this.#shown.set(ip, count);
    else this.#shown.delete(ip);
  }
}

/** The uid of a pod that a file defines is that of its copy in the API only by chance. */
const copyAnnotations = ['kubernetes.io/config.hash', 'kubernetes.io/config.mirror'] as const;

export function readNodePod(raw: JsonObject): NodePod {
  const at = (name: string): string => textAt(raw, 'metadata', name) ?? '';
  const annotations = textsAt(raw, 'metadata', 'annotations');
  const copied = copyAnnotations.flatMap((name) => annotations[name] ?? []);
  const phase = textAt(raw, 'status', 'phase');
  const hasEnded = phase === 'Succeeded' || phase === 'Failed';
  const isOnHost = valueAt(raw, 'spec', 'hostNetwork') === true;
  const ips = isOnHost ? [] : ipsOf(raw);
  return {
    key: `${at('namespace')}/${at('name')}`,
    namespace: at('namespace'),
    name: at('name'),
    uid: at('uid'),
    uids: [at('uid'), ...copied],
    labels: allLabels(raw),
    annotations: poolAnnotations(annotations),
    ips,
    hasEnded,
    awaitsIp: !hasEnded && !isOnHost && ips.length === 0,
  };
}

/** The annotations that are about pools. */
export function poolAnnotations(all: Texts): Texts {
  return Object.fromEntries(Object.entries(all).filter(([name]) => name.startsWith('ipam.cilium.io/')));
}

function ipsOf(raw: JsonObject): readonly string[] {
  return [...new Set(addressesOf(raw).flatMap((text) => canonicalAddress(text) ?? []))];
}
