// What Headwater learns from a cloud, piece by piece: from listings, from looks at single instances, and from the
// answers to its own calls.
import type { NetworkInterface } from './network-interface.ts';

/** Read from the cloud. */
export type Observation =
  | { readonly kind: 'interface'; readonly interface: NetworkInterface }
  | { readonly kind: 'unreadableInterface'; readonly interface: UnreadableInterface }
  | { readonly kind: 'instance'; readonly instance: Instance };

/** An interface that exists but could not be understood. It takes up its slot and is never used. */
export interface UnreadableInterface {
  readonly id: string;
  readonly instanceId: string;
  readonly deviceIndex: number | undefined;
  readonly networkCard: number;
  /** What is wrong with it. */
  readonly problem: string;
}

export interface Instance {
  readonly id: string;
  readonly state: 'pending' | 'running' | 'stopping' | 'stopped' | 'terminating' | 'terminated' | 'unknown';
  /** False when the options tell Headwater to leave this instance alone. */
  readonly managed: boolean;
}

/** The answer to one of our own calls: what is now so. */
export type Answer =
  | { readonly kind: 'created'; readonly interface: NetworkInterface }
  | {
      readonly kind: 'attached';
      readonly interfaceId: string;
      readonly instanceId: string;
      readonly deviceIndex: number;
      readonly attachmentId: string;
    }
  | {
      readonly kind: 'allocated';
      readonly interfaceId: string;
      readonly instanceId: string;
      readonly addresses: readonly string[];
      readonly prefixes: readonly string[];
    }
  | {
      readonly kind: 'released';
      readonly interfaceId: string;
      readonly instanceId: string;
      /** Addresses or prefixes that the interface has no more. */
      readonly holdings: readonly string[];
    }
  | { readonly kind: 'detached'; readonly interfaceId: string; readonly instanceId: string }
  | {
      readonly kind: 'staticIPAssociated';
      readonly interfaceId: string;
      readonly instanceId: string;
      readonly publicAddress: string;
    }
  | { readonly kind: 'deleteOnTerminationSet'; readonly interfaceId: string; readonly instanceId: string }
  /** The cloud does not know an interface that it knew: it is gone, or will be shown again. */
  | { readonly kind: 'notFound'; readonly interfaceId: string; readonly instanceId: string }
  | { readonly kind: 'deleted'; readonly interfaceId: string };
