// The words for administrators about a call that the cloud refused or did not answer.
import type { CloudFailure } from '../../providers/contract/cloud-failure.ts';
import { setClock } from '../../providers/contract/failure-tables.ts';
import { isOfSpace, isWorthReporting, policyOf } from '../../providers/contract/failure-policy.ts';
import { isOfThing, type ScopeRefusal } from '../allocate/blocked-resources.ts';
import { describeScope } from '../allocate/refused-scope.ts';
import type { ConditionReason, NodeCondition } from './node-condition.ts';

/** The remedy comes first, because the cloud's message can be long. */
export function failureCondition(failure: CloudFailure): NodeCondition {
  const remedy = remedyFor(failure);
  const who = isOfEveryCall(failure) ? 'the cloud' : failure.action;
  const said = `${who} answers ${failure.code}: ${failure.message}`;
  return { reason: reasonFor(failure), message: remedy === undefined ? said : `${remedy}: ${said}` };
}

/** The limits of the instance's type cannot be read. */
export function deniedLimits(failure: CloudFailure): NodeCondition {
  return { reason: 'InstanceTypeUnreadable', message: failureCondition(failure).message };
}

/**
 * Whether the identity, the account or the region is refused: each call fails alike, and the text stays the same whichever
 * failed last.
 */
function isOfEveryCall(failure: CloudFailure): boolean {
  if (failure.credentials !== undefined) return true;
  const isOfAction = failure.about === 'action' && failure.permission === undefined;
  return isOfAction && policyOf(failure).refuses === 'caller';
}

/** Credentials first: the kind of their failures also covers a missing permission, which others correct. */
function reasonFor({ kind, credentials }: CloudFailure): ConditionReason {
  if (credentials !== undefined) return credentialsReasons[credentials];
  return failureReasons[kind] ?? 'CallFailed';
}

const credentialsReasons: Readonly<Record<NonNullable<CloudFailure['credentials']>, ConditionReason>> = {
  expired: 'CredentialsExpired',
  invalid: 'CredentialsInvalid',
  clock: 'ClockWrong',
};

const failureReasons: Partial<Record<CloudFailure['kind'], ConditionReason>> = {
  notAuthorized: 'AccessDenied',
  throttled: 'Throttled',
  unreachable: 'Unreachable',
  instanceNotRunning: 'InstanceNotRunning',
};

/** The remedy for a failure; undefined if the failure itself says everything known. */
export function remedyFor({
  kind,
  permission,
  deniedBy,
  lackedBy = "Headwater's role",
  credentials,
  remedy,
}: CloudFailure): string | undefined {
  if (deniedBy !== undefined) return `change the ${deniedBy} that denies ${permission} to ${lackedBy}`;
  if (permission !== undefined) return `allow ${permission} to ${lackedBy}`;
  if (credentials === 'expired') return "renew Headwater's credentials, or set its clock";
  return remedy ?? (credentials === 'clock' ? setClock : remedies[kind]);
}

const remedies: Partial<Record<CloudFailure['kind'], string>> = {
  throttled: "the account's rate limit for this call is used up; Headwater retries",
  limitReached: 'raise the quota, or wait until interfaces or addresses are released',
  instanceNotRunning: 'the instance must be running to get interfaces',
  notAuthorized: 'check the credentials that Headwater uses',
  notYetVisible:
    'wait, or find in the cloud what became of the interfaces that Headwater creates for the instance',
  unreachable: 'check the network path and the endpoint',
};

/** A plan avoids what is refused from the first time on; people learn of it when they have to act or it happens again. */
export function isTold(refusal: ScopeRefusal): boolean {
  const { failure, failures } = refusal;
  return isGuess(refusal) ? failures > 1 : isWorthReporting(failure, failures);
}

/** The answer is about another instance, and nothing says that it holds for this one. */
function isGuess({ failure, isOfOthers }: ScopeRefusal): boolean {
  return isOfOthers && isOfThing(failure);
}

/**
 * The text names what the cloud refuses, unless it refuses every call alike. `alike`: interfaces of which it says the same.
 */
export function refusalCondition(refusal: ScopeRefusal, alike: readonly string[] = []): NodeCondition {
  const { scope, failure } = refusal;
  if (isGuess(refusal)) {
    const message = `${failure.action} was refused to other nodes with ${failure.code}, which say why: this node tries it in its turn`;
    return { reason: 'CallFailed', message };
  }
  const { reason: general, message } = failureCondition(failure);
  const text = `${isOfEveryCall(failure) ? '' : describeScope(scope, alike)}${message}`;
  return scope.kind === 'ipv6In' && isOfSpace(failure)
    ? { reason: 'Ipv6PrefixesExhausted', message: `${freeIpv6}: ${text}` }
    : { reason: general, message: text };
}

/** A sentence for each text: what a denial says of each interface differs only in the cloud's own words of it. */
export function refusalsCondition(refusals: readonly ScopeRefusal[]): readonly NodeCondition[] {
  const groups = Map.groupBy(refusals, (refusal) => {
    const { scope, failure } = refusal;
    const isOfInterface = scope.kind === 'interface' && failure.permission !== undefined && !isGuess(refusal);
    return isOfInterface ? JSON.stringify([failure.action, failure.permission, failure.code]) : refusal;
  });
  return [...groups.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const ids = others.flatMap(({ scope }) => (scope.kind === 'interface' ? [scope.interfaceId] : []));
    return refusalCondition(first, ids);
  });
}

/** Several texts in one. */
export function inOneMessage(texts: readonly string[]): string {
  const all = [...new Set(texts)];
  return all.map((text, index) => (index < all.length - 1 ? text.replace(/\.$/, '') : text)).join('; and ');
}

const freeIpv6 = 'free IPv6 prefixes or reservations of the subnet, or add a subnet with an IPv6 block';
