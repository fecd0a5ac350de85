// Log lines, Events and metrics for what happens to nodes: one line per decision, with its reason and cost.
import type { NodeReference } from '../../kubernetes/cilium-node/cilium-node.ts';
import type { ReportedEvent } from '../../manager/serving-event.ts';
import type { NodeCondition, ConditionReason } from '../../node/conditions/node-condition.ts';
import type { FinishedRelease } from '../../node/release/unassignments.ts';
import type { DryRunDecision } from '../../node/reconcile/node-event.ts';
import {
  bringsIpv6,
  deviceIndexOf,
  type PlannedStep,
  prefixesOf,
  secondaryAddressesOf,
} from '../../node/allocate/planned-step.ts';
import type { FinishedStep } from '../../node/allocate/step-result.ts';
import { SpamFilter } from '../../kubernetes/events/spam-filter.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../observability/logger.ts';
import type { MetricRegistry } from '../../observability/metrics.ts';
import type { CloudFailure } from '../../providers/contract/cloud-failure.ts';
import { maxNodesReported, SharedCauses } from './shared-causes.ts';
import { failureFields } from './failure-fields.ts';
import type { NodeEvents } from './node-events.ts';

export interface NodeInstrumentsOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: MetricRegistry;
  readonly events: Pick<NodeEvents, 'record' | 'recordOnLease'>;
  /** Whether orphaned interfaces are collected. */
  readonly collects: boolean;
}

/** The reports that follow from each kind of event. */
type Reports = {
  readonly [Kind in ReportedEvent['kind']]: (event: Extract<ReportedEvent, { readonly kind: Kind }>) => void;
};

export function nodeInstruments(options: NodeInstrumentsOptions): (event: ReportedEvent) => void {
  const { log, registry, events, collects } = options;
  const { metrics, forgetNode } = registry;
  const warned = new Map<string, string>();
  // An agent can change what is wrong with its node at any rate, so log lines are rate-limited.
  const quiet = new SpamFilter(options.clock);

  const causes = new SharedCauses();
  /** Nodes whose writes are refused. */
  const unwritable = new Set<string>();
  /** Nodes with an Event that reports a problem, and its reason. */
  const reportedNodes = new Map<string, ConditionReason>();

  const resolveCluster = (): void =>
    events.recordOnLease({
      type: 'Normal',
      reason: 'Resolved',
      message: 'the condition of several nodes is resolved',
    });

  const end = (name: string): boolean => {
    const { onNode, onCluster } = causes.end(name);
    if (onCluster) resolveCluster();
    return onNode;
  };

  const resolve = (node: NodeReference, what: string): void => {
    const reason = reportedNodes.get(node.name);
    if (reason === undefined) return;
    reportedNodes.delete(node.name);
    events.record(node, { type: 'Normal', reason: 'Resolved', message: `${reason} is resolved: ${what}` });
  };

  const announce = (node: NodeReference, condition: NodeCondition | undefined): void => {
    if (condition === undefined) {
      const level = end(node.name) ? 'info' : 'debug';
      if (quiet.allows(node.name)) log[level]('node condition resolved', { node: node.name });
      return;
    }
    const { isFirst, onNode, onCluster, clusterEnded } = causes.beginCause(node.name, condition);
    if (clusterEnded) resolveCluster();
    meterRefusal(metrics, condition.reason);
    const { reason, message } = condition;
    // A rejected write is logged separately.
    const level = isFirst && reason !== 'WriteRefused' ? 'warn' : 'debug';
    if (quiet.allows(node.name))
      log[level]('node cannot be satisfied', { node: node.name, reason, why: message });
    if (onCluster) events.recordOnLease({ type: 'Warning', reason, message: `several nodes: ${message}` });
    if (!onNode) return;
    reportedNodes.set(node.name, reason);
    events.record(node, { type: 'Warning', reason, message });
  };

  const reports: Reports = {
    step: ({ node, finished }) => {
      meter(metrics, finished);
      logStep(log, node.name, finished);
      logOrphan(log, node.name, finished, collects);
    },
    release: ({ node, release }) => {
      meterRelease(metrics, release);
      logRelease(log, node.name, release);
    },
    retired: ({ node, holdings }) =>
      log.info('withdrew excluded addresses', {
        node: node.name,
        interfaces: [...new Set(holdings.map(({ interfaceId }) => interfaceId))],
        addresses: holdings.reduce((sum, { addresses }) => sum + addresses.length, 0),
      }),
    interfaceRelease: ({ node, release }) => {
      const { interfaceId, subnetId, at, failure } = release;
      const details = { node: node.name, interface: interfaceId, subnet: subnetId };
      if (failure === undefined) log.info('released idle interface', details);
      else
        log[levelOf(failure)]('could not release idle interface', {
          ...details,
          at,
          ...failureFields(failure),
        });
    },
    staticAddress: ({ node, publicAddress, interfaceId }) =>
      log.info('associated a static public address', {
        node: node.name,
        address: publicAddress,
        interface: interfaceId,
      }),
    dryRun: ({ node, decision }) => logDryRunDecision(log, node.name, decision),
    housekeepingFailure: ({ node, interfaceId, failure }) =>
      log[levelOf(failure)]('could not set delete-on-termination yet', {
        node: node.name,
        interface: interfaceId,
        ...failureFields(failure),
      }),
    write: ({ part, outcome }) => metrics.headwater_ciliumnode_writes_total.add({ part, outcome }),
    readTrouble: ({ node, problem }) =>
      log.warn('cannot release addresses: the CiliumNode cannot be read', { node: node.name, problem }),
    writeTrouble: ({ node: { name }, problem }) => {
      // Most often one right or webhook concerns all nodes.
      const level = unwritable.has(name) || unwritable.size < maxNodesReported ? 'warn' : 'debug';
      unwritable.add(name);
      log[level]('cannot publish a node', { node: name, reason: 'WriteRefused', problem });
    },
    condition: ({ node, condition }) => {
      if (condition?.reason !== 'WriteRefused') unwritable.delete(node.name);
      announce(node, condition);
    },
    blocked: ({ node, condition }) => {
      announce(node, condition);
      if (condition === undefined) resolve(node, 'the CiliumNode is no longer blocked');
    },
    resolved: ({ node }) => resolve(node, 'the node has the addresses that it needs'),
    warning: ({ node, warning }) => {
      if (quiet.allows(node.name))
        log.warn('node has warnings', {
          node: node.name,
          reason: warning.reason,
          why: warning.message,
          ...(warning.addresses !== undefined && { addresses: warning.addresses }),
        });
      events.record(node, { type: 'Warning', reason: warning.reason, message: warning.message });
    },
    exclusions: ({ node: { name }, exclusions }) => {
      const interfaces = exclusions.filter(({ addresses }) => addresses === undefined);
      const inPart = exclusions.filter(({ addresses }) => addresses !== undefined);
      if (interfaces.length > 0) log.info('interfaces of a node carry no pods', { node: name, interfaces });
      else log.info('pods may use every interface of a node', { node: name });
      if (inPart.length > 0)
        log.info('some addresses of a node carry no pods', { node: name, interfaces: inPart });
    },
    satisfied: ({ duration, calls }) => {
      metrics.headwater_allocation_latency_seconds.observe(duration / 1000);
      metrics.headwater_allocation_calls.observe(calls);
    },
    malformed: ({ node }) => {
      const entries = node.warnings.map(({ field, problem }) => `${field}: ${problem}`);
      const text = entries.join('; ');
      if (warned.get(node.name) === text) return;
      warned.set(node.name, text);
      if (quiet.allows(node.name))
        log.warn('invalid entries of a CiliumNode are ignored', { node: node.name, entries });
    },
    removed: ({ name }) => {
      warned.delete(name);
      unwritable.delete(name);
      reportedNodes.delete(name);
      end(name);
      forgetNode(name);
    },
  };
  return (event) => (reports[event.kind] as (event: ReportedEvent) => void)(event);
}

function meter(metrics: MetricRegistry['metrics'], { step, result, duration }: FinishedStep): void {
  if (step.kind === 'adoptInterface') {
    metrics.headwater_orphan_adoptions_total.add({ result: result.kind === 'done' ? 'attached' : 'failed' });
    return;
  }
  const type = step.kind === 'createInterface' ? 'createInterfaceAndAllocateIP' : 'allocateIP';
  const labels = { type, status: statusOf(result), subnet_id: step.subnetId } as const;
  metrics.cilium_operator_ipam_allocation_duration_seconds.observe(labels, duration / 1000);
  if (result.kind !== 'done') return;
  const subnet = { subnet_id: step.subnetId };
  metrics.cilium_operator_ipam_ip_allocation_ops.add(subnet, secondaryAddressesOf(step));
  if (step.kind === 'createInterface') metrics.cilium_operator_ipam_interface_creation_ops.add(subnet);
}

function meterRefusal(metrics: MetricRegistry['metrics'], reason: ConditionReason): void {
  const status = refusals[reason];
  if (status === undefined) return;
  const labels = { type: 'createInterfaceAndAllocateIP', status, subnet_id: '' } as const;
  metrics.cilium_operator_ipam_allocation_duration_seconds.observe(labels, 0);
}

function meterRelease(metrics: MetricRegistry['metrics'], release: FinishedRelease): void {
  const { kind, subnetId, count, failure, duration } = release;
  const type = kind === 'releaseIPs' ? 'releaseIP' : 'releaseIPPrefixes';
  const labels = { type, status: failure === undefined ? 'success' : 'failed', subnet_id: subnetId } as const;
  metrics.cilium_operator_ipam_release_duration_seconds.observe(labels, duration / 1000);
  if (failure === undefined) metrics.cilium_operator_ipam_ip_release_ops.add({ subnet_id: subnetId }, count);
}

function logRelease(log: Logger, name: string, release: FinishedRelease): void {
  const { interfaceId, subnetId, holdings, count, failure, isOpen, duration } = release;
  const details = { node: name, interface: interfaceId, subnet: subnetId, addresses: count };
  // A refusal that lasts ends with calls that name one.
  const named = holdings.length === 1 && { holding: holdings[0] };
  if (failure === undefined) {
    log.info('released addresses', { ...details, seconds: Math.round(duration) / 1000 });
  } else if (isOpen) {
    log.info('addresses may have been released: reading the instance first', {
      ...details,
      ...failureFields(failure),
    });
  } else if (failure.kind === 'fenced') {
    log.debug('release deferred: outside the safe lease window', { ...details, ...failureFields(failure) });
  } else if (failure.kind === 'stopped') {
    log.debug('release deferred: releases are paused', { ...details, ...failureFields(failure) });
  } else {
    const level = failure.permission === undefined ? 'warn' : 'debug';
    log[level]('could not release addresses', { ...details, ...named, ...failureFields(failure) });
  }
}

/** Names from cilium-operator for why no attempt is made (docs/ciliumnode-contract.md 5). */
const refusals: Partial<
  Record<ConditionReason, 'unableToDetermineLimits' | 'unableToFindSubnet' | 'unableToGetSecurityGroups'>
> = {
  InstanceTypeUnknown: 'unableToDetermineLimits',
  InstanceTypeUnreadable: 'unableToDetermineLimits',
  NoSubnetMatches: 'unableToFindSubnet',
  SubnetsExhausted: 'unableToFindSubnet',
  SubnetsRefused: 'unableToFindSubnet',
  NoSecurityGroupMatches: 'unableToGetSecurityGroups',
  SecurityGroupsUnknown: 'unableToGetSecurityGroups',
};

/** Names from cilium-operator for the outcome of an attempt. A stopped instance is not an attach failure. */
function statusOf(
  result: FinishedStep['result'],
): 'success' | 'failed' | 'unableToCreateENI' | 'unableToAttachENI' {
  if (result.kind === 'done') return result.isAttaching === true ? 'unableToAttachENI' : 'success';
  if (result.failure.kind === 'instanceNotRunning') return 'failed';
  return attemptsEndedAt[result.at];
}

const attemptsEndedAt = {
  create: 'unableToCreateENI',
  attach: 'unableToAttachENI',
  allocate: 'failed',
  allocateIpv6: 'failed',
} as const;

const stepWords = {
  allocateIPs: ['assigned', 'assign', 'addresses'],
  allocatePrefixes: ['assigned', 'assign', 'prefixes'],
  allocateIpv6Prefix: ['assigned', 'assign', 'IPv6 prefix'],
  adoptInterface: ['attached', 'attach', 'orphaned interface'],
  createInterface: ['attached', 'attach', 'new interface'],
} as const satisfies Record<
  FinishedStep['step']['kind'],
  readonly [done: string, toDo: string, what: string]
>;

function stepDetails(step: PlannedStep): Record<string, unknown> {
  return {
    subnet: step.subnetId,
    addresses: secondaryAddressesOf(step),
    ...(prefixesOf(step) > 0 && { prefixes: prefixesOf(step) }),
    ...(bringsIpv6(step) && { ipv6Prefixes: 1 }),
    ...(deviceIndexOf(step) !== undefined && { deviceIndex: deviceIndexOf(step) }),
    ...(step.kind !== 'createInterface' && { interface: step.interfaceId }),
  };
}

/** A missing permission is logged once for the fleet, so each node logs it at debug level. */
function levelOf({ permission }: CloudFailure): 'info' | 'debug' {
  return permission === undefined ? 'info' : 'debug';
}

function logStep(log: Logger, name: string, { step, result, duration }: FinishedStep): void {
  const [done, toDo, what] = stepWords[step.kind];
  const details = { node: name, ...stepDetails(step), seconds: Math.round(duration) / 1000 };
  if (result.kind === 'done') {
    const known = { ...details, interface: result.interfaceId };
    if (result.isAttaching === true) log.warn(`${what} is still being attached`, known);
    else log.info(`${done} ${what}`, known);
    return;
  }
  const message = `could not ${toDo} ${what}`;
  log[levelOf(result.failure)](message, { ...details, at: result.at, ...failureFields(result.failure) });
}

function logDryRunDecision(log: Logger, node: string, decision: DryRunDecision): void {
  switch (decision.kind) {
    case 'step': {
      const [, toDo, what] = stepWords[decision.step.kind];
      log.info(`dry run: would ${toDo} ${what}`, { node, ...stepDetails(decision.step) });
      return;
    }
    case 'deleteOnTermination':
      log.info('dry run: would set delete-on-termination', { node, interface: decision.interfaceId });
      return;
    case 'staticAddress': {
      const { interfaceId, tags } = decision;
      log.info('dry run: would associate a static public address', { node, interface: interfaceId, tags });
      return;
    }
    case 'write':
      log.info('dry run: would write a CiliumNode', { node, ...decision.write });
  }
}

/** Logs what a failed step may have leaked, and what handles it. */
function logOrphan(log: Logger, name: string, { step, result }: FinishedStep, collects: boolean): void {
  if (result.kind === 'done') return;
  const level = collects ? 'info' : 'error';
  if (result.uncertain === true) {
    const what = 'an interface may have been created, but the answer was lost';
    const next = collects
      ? 'it is attached or deleted once it is found'
      : 'it is attached once its node needs one, and never deleted: look for one with our tags and description';
    log[level](`${what}: ${next}`, { node: name, subnet: step.subnetId });
  }
  if (result.left !== undefined) {
    const what = 'an interface was created, may be detached, and could not be deleted';
    const next = collects
      ? 'if it is detached, it is attached later, or deleted'
      : 'if it is detached, it is attached once its node needs one, and never deleted: check it, and delete it unless it is in use';
    log[level](`${what}: ${next}`, { node: name, interface: result.left });
  }
}
