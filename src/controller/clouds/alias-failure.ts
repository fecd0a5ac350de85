// Translates failed calls of a cloud for Nodes whose pod CIDRs follow that cloud.
import type { CloudReason } from '../../blocks/allocation/block-holders.ts';
import type { AliasFailure, AliasFailureKind } from '../../blocks/node-ipam/cloud/cloud-aliases.ts';
import { failureCondition } from '../../node/conditions/call-condition.ts';
import type { CloudFailure, CloudFailureKind } from '../../providers/contract/cloud-failure.ts';

/** The failure of a call that changed nothing. */
export function aliasFailure(failure: CloudFailure): AliasFailure {
  const { reason, message } = failureCondition(failure);
  return { kind: kinds[failure.kind], reason: reasons.get(reason) ?? 'CallFailed', message };
}

/** The failure of a call that may have taken effect. */
export function unclearAliasFailure(failure: CloudFailure): AliasFailure {
  return { ...aliasFailure(failure), kind: 'unclear' };
}

/** The Node names no instance that the cloud could have. `example`: a provider ID of an instance of it. */
export function unreadableProviderId(
  providerId: string,
  {
    instance,
    example,
    manager,
  }: { readonly instance: string; readonly example: string; readonly manager: string },
): AliasFailure {
  const shown = JSON.stringify(providerId.slice(0, 100));
  return {
    kind: 'notFound',
    reason: 'ProviderIDUnreadable',
    message: `its spec.providerID ${shown} names no ${instance}: it must be like ${example}. The field cannot be changed: delete the Node, and let its kubelet register it again with --provider-id, or with ${manager}`,
  };
}

const kinds: Readonly<Record<CloudFailureKind, AliasFailureKind>> = {
  throttled: 'transient',
  subnetExhausted: 'refused',
  subnetGone: 'refused',
  prefixSpaceFragmented: 'refused',
  limitReached: 'refused',
  instanceGone: 'notFound',
  instanceNotRunning: 'transient',
  interfaceGone: 'notFound',
  notAssigned: 'refused',
  deviceIndexTaken: 'refused',
  notYetVisible: 'transient',
  notAuthorized: 'refused',
  conflict: 'transient',
  invalid: 'refused',
  fenced: 'transient',
  stopped: 'transient',
  unreachable: 'transient',
  unreadable: 'transient',
  unknown: 'transient',
};

const named: readonly CloudReason[] = [
  'AccessDenied',
  'CredentialsExpired',
  'CredentialsInvalid',
  'ClockWrong',
  'Throttled',
  'Unreachable',
];

const reasons: ReadonlyMap<string, CloudReason> = new Map(named.map((reason) => [reason, reason]));
