// The port to a cloud that routes whole blocks to an instance besides its own addresses: prefixes of its primary interface on
// AWS, alias IP ranges on Google Cloud. An implementation finds the instance; which Node gets which block is decided here.
import type { CloudReason } from '../../allocation/block-holders.ts';

/** A Node whose instance is asked about. */
export interface AliasNode {
  readonly name: string;
  /** `spec.providerID` as the Node shows it: any text, empty if it shows none. */
  readonly providerId: string;
}

export interface CloudAliases {
  /** CIDRs that the cloud routes to the instance of the Node. Rejects only with the signal's reason. */
  aliasOf(node: AliasNode, signal: AbortSignal): Promise<AliasReading>;
  /**
   * Has the cloud route `cidr`, in canonical text, to the instance of the Node, too. A block that it routes there already
   * counts as added. Rejects only with the signal's reason.
   */
  addAlias(node: AliasNode, cidr: string, signal: AbortSignal): Promise<AliasAddition>;
}

export type AliasReading =
  /** In canonical text, in the order of the cloud; none if it routes nothing to the instance. */
  { readonly kind: 'read'; readonly aliases: readonly string[] } | AliasFailure;

/** As above; the cloud is not asked about a Node that names no instance. */
export async function readAliases(
  aliases: Pick<CloudAliases, 'aliasOf'>,
  node: AliasNode,
  signal: AbortSignal,
): Promise<AliasReading> {
  return node.providerId === '' ? missingProviderId : aliases.aliasOf(node, signal);
}

export type AliasAddition = { readonly kind: 'added' } | AliasFailure;

export interface AliasFailure {
  readonly kind: AliasFailureKind;
  /** The reason as users see it. */
  readonly reason: CloudReason;
  /** The fault and its remedy, without times and counters. */
  readonly message: string;
  /** How long the cloud asks to be left alone, in ms. */
  readonly retryAfterMs?: number;
}

const missingProviderId: AliasFailure = {
  kind: 'notFound',
  reason: 'ProviderIDUnreadable',
  message:
    'it has no spec.providerID, so its instance is unknown: run the cloud controller manager of the cloud, or start its kubelet with --provider-id',
};

export type AliasFailureKind =
  /** The cloud has no such instance, or the Node names none that it could have. Nothing was changed. */
  | 'notFound'
  /** Nothing was changed, and a repetition will not change that until a person acts. */
  | 'refused'
  /** Nothing was changed, and the same call may succeed later: too many calls, another change, no answer to a read. */
  | 'transient'
  /** The change may have taken effect, or may still do so: read the instance. */
  | 'unclear';
