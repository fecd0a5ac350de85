// What happens to nodes, as log lines and metrics: one line a decision, with its reason and its cost.
import type { FleetHooks, NodeReference } from '../manager/fleet.ts';
import type { Diagnosis, DiagnosisReason } from '../node/diagnosis.ts';
import type { NodeHooks } from '../node/node-context.ts';
import type { FinishedRelease } from '../node/unassignments.ts';
import type { Rehearsed } from '../node/rehearsal.ts';
import { deviceIndexOf, type PlannedStep, prefixesOf, secondaryAddressesOf } from '../node/planned-step.ts';
import type { FinishedStep } from '../node/finished-step.ts';
import type { Logger } from '../observability/logger.ts';
import type { MetricRegistry } from '../observability/metrics.ts';
import type { CloudFailure } from '../providers/cloud-failure.ts';
import { triggerMeter } from '../observability/trigger-meter.ts';
import { told } from './told-failure.ts';

export interface NodeInstrumentsOptions {
  readonly log: Logger;
  readonly registry: MetricRegistry;
  /** Tells people about a node, where they look at it in Kubernetes. */
  readonly tell: (node: NodeReference, diagnosis: Diagnosis) => void;
  /** Whether interfaces that stay attached to nothing are collected. */
  readonly collects: boolean;
}

export function nodeInstruments(
  options: NodeInstrumentsOptions,
): Omit<NodeHooks, 'onContested' | 'onSpace'> & FleetHooks {
  const { log, registry, tell, collects } = options;
  const { metrics, forgetNode } = registry;
  const maintenance = triggerMeter(metrics, 'deficit_resolver');
  const publication = triggerMeter(metrics, 'k8s_sync');
  const remarked = new Map<string, string>();

  const announce = (node: NodeReference, diagnosis: Diagnosis | undefined): void => {
    if (diagnosis === undefined) {
      log.info('node is no longer held back', { node: node.name });
      return;
    }
    const status = refusals[diagnosis.reason];
    if (status !== undefined) {
      const labels = { type: 'createInterfaceAndAllocateIP', status, subnet_id: '' } as const;
      metrics.cilium_operator_ipam_allocation_duration_seconds.observe(labels, 0);
    }
    log.warn('node does not get what it needs', {
      node: node.name,
      reason: diagnosis.reason,
      why: diagnosis.text,
    });
    tell(node, diagnosis);
  };

  return {
    onMaintenanceRequested: () => maintenance.requested(),
    onMaintenance: (figures) => maintenance.ran(figures),
    onPublicationRequested: () => publication.requested(),
    onPublication: (figures) => publication.ran(figures),
    onStep: (name, step) => {
      meter(metrics, step);
      logStep(log, name, step);
      logLeftovers(log, name, step, collects);
    },
    onRelease: (name, release) => {
      meterRelease(metrics, release);
      logRelease(log, name, release);
    },
    onGivenBack: (name, { interfaceId, subnetId, at, failure }) => {
      const details = { node: name, interface: interfaceId, subnet: subnetId };
      if (failure === undefined) log.info('gave an idle interface back', details);
      else log.info('could not give an idle interface back', { ...details, at, ...told(failure) });
    },
    onStaticIp: (name, publicAddress, interfaceId) =>
      log.info('gave a node a static public address', {
        node: name,
        address: publicAddress,
        interface: interfaceId,
      }),
    onRehearsed: (name, decision) => logRehearsed(log, name, decision),
    onHousekeepingFailure: (name, interfaceId, failure) =>
      log[levelOf(failure)]('could not set delete-on-termination yet', {
        node: name,
        interface: interfaceId,
        ...told(failure),
      }),
    onWrite: (part, outcome) => metrics.headwater_publications_total.add({ part, outcome }),
    onReadTrouble: (name, problem) => log.warn('nothing is taken back from a node', { node: name, problem }),
    onWriteTrouble: (name, problem) => log.warn('cannot publish a node', { node: name, problem }),
    onDiagnosis: announce,
    onSetAside: announce,
    onRemark: (node, remark) => {
      log.warn('a node is served, but not all is well with it', {
        node: node.name,
        reason: remark.reason,
        why: remark.text,
      });
      tell(node, remark);
    },
    onExclusions: (name, exclusions) => {
      if (exclusions.length === 0) log.info('pods may use every interface of a node', { node: name });
      else log.info('interfaces of a node carry no pods', { node: name, interfaces: exclusions });
    },
    onSupplied: (duration, calls) => {
      metrics.headwater_time_to_supply_seconds.observe(duration / 1000);
      metrics.headwater_calls_per_supply.observe(calls);
    },
    onWarnings: (node) => {
      const entries = node.warnings.map(({ field, problem }) => `${field}: ${problem}`);
      const text = entries.join('; ');
      if (remarked.get(node.name) === text) return;
      remarked.set(node.name, text);
      log.warn('entries of a CiliumNode make no sense and are left out', { node: node.name, entries });
    },
    onRemoved: (name) => {
      remarked.delete(name);
      forgetNode(name);
    },
  };
}

function meter(metrics: MetricRegistry['metrics'], { step, result, duration }: FinishedStep): void {
  if (step.kind === 'adoptInterface') {
    metrics.headwater_adoptions_total.add({ result: result.kind === 'done' ? 'attached' : 'failed' });
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

function meterRelease(metrics: MetricRegistry['metrics'], release: FinishedRelease): void {
  const { kind, subnetId, count, failure, duration } = release;
  const type = kind === 'releaseIPs' ? 'releaseIP' : 'releaseIPPrefixes';
  const labels = { type, status: failure === undefined ? 'success' : 'failed', subnet_id: subnetId } as const;
  metrics.cilium_operator_ipam_release_duration_seconds.observe(labels, duration / 1000);
  if (failure === undefined) metrics.cilium_operator_ipam_ip_release_ops.add({ subnet_id: subnetId }, count);
}

function logRelease(log: Logger, name: string, release: FinishedRelease): void {
  const { interfaceId, subnetId, count, failure, isOpen, duration } = release;
  const details = { node: name, interface: interfaceId, subnet: subnetId, addresses: count };
  if (failure === undefined) {
    log.info('took back addresses of a node', { ...details, seconds: Math.round(duration) / 1000 });
  } else if (isOpen) {
    log.info('addresses of a node may have been taken back: looking before going on', {
      ...details,
      ...told(failure),
    });
  } else if (failure.kind === 'fenced') {
    log.debug('too early or too late in our lease to take addresses back', { ...details, ...told(failure) });
  } else if (failure.kind === 'stopped') {
    log.debug('addresses are not taken back for now', { ...details, ...told(failure) });
  } else log.warn('could not take back addresses of a node', { ...details, ...told(failure) });
}

/** Its words for why no attempt is made (contract 4.5). */
const refusals: Partial<
  Record<DiagnosisReason, 'unableToDetermineLimits' | 'unableToFindSubnet' | 'unableToGetSecurityGroups'>
> = {
  InstanceTypeUnknown: 'unableToDetermineLimits',
  InstanceTypeUnreadable: 'unableToDetermineLimits',
  NoSubnetMatches: 'unableToFindSubnet',
  SubnetsExhausted: 'unableToFindSubnet',
  NoSecurityGroupMatches: 'unableToGetSecurityGroups',
  SecurityGroupsUnknown: 'unableToGetSecurityGroups',
};

/** The words of cilium-operator for how an attempt ended. An instance that does not run is no fault of attaching. */
function statusOf(
  result: FinishedStep['result'],
): 'success' | 'failed' | 'unableToCreateENI' | 'unableToAttachENI' {
  if (result.kind === 'done') return 'success';
  if (result.failure.kind === 'instanceNotRunning') return 'failed';
  return ({ create: 'unableToCreateENI', attach: 'unableToAttachENI', allocate: 'failed' } as const)[
    result.at
  ];
}

const given = {
  allocateIPs: 'addresses',
  allocatePrefixes: 'prefixes',
  adoptInterface: 'an interface that was left over',
  createInterface: 'an interface',
} as const satisfies Record<FinishedStep['step']['kind'], string>;

function stepDetails(step: PlannedStep): Record<string, unknown> {
  return {
    subnet: step.subnetId,
    addresses: secondaryAddressesOf(step),
    ...(prefixesOf(step) > 0 && { prefixes: prefixesOf(step) }),
    ...(deviceIndexOf(step) !== undefined && { deviceIndex: deviceIndexOf(step) }),
    ...(step.kind !== 'createInterface' && { interface: step.interfaceId }),
  };
}

/** What is not permitted is told once, and each node that suffers from it says so once. */
function levelOf({ permission }: CloudFailure): 'info' | 'debug' {
  return permission === undefined ? 'info' : 'debug';
}

function logStep(log: Logger, name: string, { step, result, duration }: FinishedStep): void {
  const details = { node: name, ...stepDetails(step), seconds: Math.round(duration) / 1000 };
  if (result.kind === 'done') {
    log.info(`gave a node ${given[step.kind]}`, { ...details, interface: result.interfaceId });
    return;
  }
  const message = `could not give a node ${given[step.kind]}`;
  log[levelOf(result.failure)](message, { ...details, at: result.at, ...told(result.failure) });
}

function logRehearsed(log: Logger, node: string, decision: Rehearsed): void {
  switch (decision.kind) {
    case 'step':
      log.info(`dry run: would give a node ${given[decision.step.kind]}`, {
        node,
        ...stepDetails(decision.step),
      });
      return;
    case 'deleteOnTermination':
      log.info('dry run: would set delete-on-termination', { node, interface: decision.interfaceId });
      return;
    case 'write':
      log.info('dry run: would write a CiliumNode', { node, ...decision.write });
  }
}

/** What a step that failed may have left behind, and who sees to it. */
function logLeftovers(log: Logger, name: string, { step, result }: FinishedStep, collects: boolean): void {
  if (result.kind === 'done') return;
  const level = collects ? 'info' : 'error';
  if (result.uncertain === true) {
    const what = 'an interface may have been created whose answer got lost';
    const next = collects
      ? 'it is looked for, and attached or collected'
      : 'it is attached once its node needs one, and not collected: else look for one with our tags and description';
    log[level](`${what}: ${next}`, { node: name, subnet: step.subnetId });
  }
  if (result.left !== undefined) {
    const what = 'an interface was created, is not known to be attached, and could not be deleted again';
    const next = collects
      ? 'if it is attached to nothing it is attached later, or collected'
      : 'if it is attached to nothing it is attached once its node needs one, and not collected: look at it, and delete it unless it is in use';
    log[level](`${what}: ${next}`, { node: name, interface: result.left });
  }
}
