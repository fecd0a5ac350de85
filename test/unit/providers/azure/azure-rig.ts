// The provider of Azure over the model of ARM, in virtual time.
import { failureOf } from '../../../../src/providers/azure/errors.ts';
import { ArmClient, callOf } from '../../../../src/providers/azure/arm-client.ts';
import type { ArmRequest } from '../../../../src/providers/azure/arm-api.ts';
import type { Json } from '../../../../src/runtime/json.ts';
import { Changes } from '../../../../src/providers/azure/changes.ts';
import { FailedModels } from '../../../../src/providers/azure/failed-models.ts';
import { type InstanceRef, Spellings } from '../../../../src/providers/azure/ids.ts';
import { azureLimits } from '../../../../src/providers/azure/limits.ts';
import { PublicAddresses } from '../../../../src/providers/azure/public-addresses.ts';
import { PublicIpPrefixes } from '../../../../src/providers/azure/public-ip-prefixes.ts';
import { observe } from '../../../../src/providers/azure/read.ts';
import { InstanceReleases } from '../../../../src/providers/azure/instance-releases.ts';
import { Subnets } from '../../../../src/providers/azure/subnets.ts';
import { admittedFor } from '../../../../src/providers/azure/model-change.ts';
import { updateInstance, type InstanceUpdate } from '../../../../src/providers/azure/update-instance.ts';
import type {
  CallContext,
  ObservationScope,
  ObservedPage,
} from '../../../../src/providers/contract/cloud.ts';
import type { Outcome, ReleaseIPs } from '../../../../src/providers/contract/operations.ts';
import type { Instance, UnusableInterface } from '../../../../src/providers/contract/facts.ts';
import type { NetworkInterface } from '../../../../src/providers/contract/network-interface.ts';
import { CallGate, type FinishedCall } from '../../../../src/providers/gate/call-gate.ts';
import { MutationPermission, noPauses } from '../../../../src/providers/gate/mutation-permission.ts';
import { ConcurrencyLimiter } from '../../../../src/providers/rate-limit/concurrency-limiter.ts';
import { RateLimiter } from '../../../../src/providers/rate-limit/rate-limiter.ts';
import type { VirtualClock } from '../../../support/virtual-clock.ts';
import { InProcessArm } from '../../../support/in-process-arm.ts';
import type { Fault } from '../../../../src/simulator/cloud/faults.ts';
import { armRig, type ArmRig, groupPath } from '../../simulator/arm/arm-rig.ts';

export interface AzureRig extends Omit<ArmRig, 'codeOf'> {
  readonly api: InProcessArm;
  readonly gate: CallGate;
  readonly client: ArmClient;
  readonly changes: Changes;
  readonly spellings: Spellings;
  readonly subnets: Subnets;
  readonly rateLimiter: RateLimiter;
  /** Answered requests, with their results. */
  readonly sent: readonly { readonly request: ArmRequest; readonly result: string }[];
  readonly finished: readonly FinishedCall[];
  /** Operations that were sent, with how often. */
  readonly counts: () => Readonly<Record<string, number>>;
  readonly observe: (scope: ObservationScope) => Promise<Observed>;
  /** Begins an update; time passes only in `ended`. */
  readonly begin: (operation: InstanceUpdate, change?: Partial<CallContext>) => Promise<Outcome>;
  /** Begins a release; time passes only in `ended`. */
  readonly release: (operation: Omit<ReleaseIPs, 'kind'>) => Promise<Outcome>;
  /** From now on requests of this operation meet the fault, all or some. */
  readonly fault: (operation: string, fault: Fault, count?: number) => void;
  /** Lets time pass until it has ended. */
  readonly ended: <T>(work: Promise<T>) => Promise<T>;
}

export interface Observed {
  readonly pages: readonly ObservedPage[];
  readonly interfaces: readonly NetworkInterface[];
  readonly instances: readonly Instance[];
  readonly unusable: readonly UnusableInterface[];
  /** By instance, the codes of failed reads. */
  readonly failed: Readonly<Record<string, string>>;
}

export const group = groupPath;

/** The id of a VM of the scale set `pool`, as agents write it. */
export function vmId(number: number, set = 'pool'): string {
  return `${group}/providers/microsoft.compute/virtualmachinescalesets/${set}/virtualmachines/${number}`.toLowerCase();
}

export const context: CallContext = { caller: { priority: 'high' }, signal: new AbortController().signal };

export interface AzureRigOptions {
  readonly topology?: string;
  readonly behaviour?: string;
  readonly crowd?: number;
  readonly isInScope?: (instance: InstanceRef) => boolean;
}

export function azureRig(options: AzureRigOptions = {}): AzureRig {
  const { crowd, isInScope = () => true } = options;
  const arm = armRig(options.topology, options.behaviour);
  const { time: clock, gateway } = arm;
  const sent: { request: ArmRequest; result: string }[] = [];
  const finished: FinishedCall[] = [];
  const rateLimiter = new RateLimiter({ clock, sizes: azureLimits, overall: undefined });
  const gate = new CallGate({
    rateLimiter,
    concurrency: new ConcurrencyLimiter(50),
    clock,
    timeout: 20_000,
    fence: { leads: () => true, isInSafeLeaseWindow: () => true },
    permission: new MutationPermission(noPauses),
    failureOf,
    listener: { onCall: (call) => finished.push(call), onWait: () => undefined },
  });
  const api = new InProcessArm(gateway, (request, result) => sent.push({ request, result }));
  const client = new ArmClient({ api, gate });
  const spellings = new Spellings();
  const subnets = new Subnets(client, clock);
  const changes = new Changes({ client, spellings, clock, ...(crowd !== undefined && { crowd }) });
  const failedModels = new FailedModels(clock, 20_000);
  const releases = new InstanceReleases({ client, changes, spellings, failedModels }, clock);
  const publicAddresses = new PublicAddresses(client, clock);
  const prefixes = new PublicIpPrefixes(client, spellings, clock);
  const parts = { client, spellings, subnets, failedModels, publicAddresses, prefixes, clock, isInScope };
  return {
    ...arm,
    api,
    gate,
    client,
    changes,
    spellings,
    subnets,
    rateLimiter,
    sent,
    finished,
    counts: () => countsOf(sent.map(({ request }) => request.operation)),
    fault: (operation, fault, count) =>
      void gateway.faults.add({
        action: operation.replace(/^Interfaces/, 'NetworkInterfaces'),
        rate: 1,
        count,
        match: {},
        fault,
      }),
    ended: (work) => ended(clock, work),
    observe: (scope) => ended(clock, allOf(observe(parts, scope, context)).then(observedIn)),
    release: async (operation) => {
      const within = { ...context, instanceId: operation.instanceId };
      const admitted = admittedFor(operation.instanceId, 'takesAway');
      if (admitted !== undefined) await gate.admit([callOf(admitted)], within);
      return releases.release({ kind: 'releaseIPs', ...operation }, within);
    },
    begin: async (operation, change = {}) => {
      const within = { ...context, ...change };
      const admitted = admittedFor(operation.instanceId);
      if (admitted !== undefined) await gate.admit([callOf(admitted)], within);
      return updateInstance({ client, changes, spellings, failedModels }, operation, within);
    },
  };
}

/** From now on this operation has other answers. */
export function answerInstead({ api }: AzureRig, operation: string, bodyFor: (body: Json) => Json): void {
  const send = api.send.bind(api);
  api.send = async (request, sending) => {
    const answer = await send(request, sending);
    return request.operation === operation ? { ...answer, body: bodyFor(answer.body) } : answer;
  };
}

export async function allOf<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function ended<T>(clock: VirtualClock, work: Promise<T>): Promise<T> {
  let isDone = false;
  const end = (): void => void (isDone = true);
  work.then(end, end);
  if (!(await clock.runUntil(() => isDone, 3_600_000))) throw new Error('it does not end within an hour');
  return work;
}

function countsOf(names: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

export function observedIn(pages: readonly ObservedPage[]): Observed {
  const observations = pages.flatMap((page) => page.observations);
  return {
    pages,
    interfaces: observations.flatMap((item) => (item.kind === 'interface' ? [item.interface] : [])),
    instances: observations.flatMap((item) => (item.kind === 'instance' ? [item.instance] : [])),
    unusable: observations.flatMap((item) =>
      item.kind === 'interface' || item.kind === 'instance' ? [] : [item],
    ),
    failed: Object.fromEntries(
      pages.flatMap(({ failed = [] }) =>
        failed.map(({ instanceId, error }) => [instanceId, error.failure.code] as const),
      ),
    ),
  };
}
