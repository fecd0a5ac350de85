// One cloud as the contract's cases use it: a model in process and in virtual time, and providers composed over it as
// processes compose them.
import { createMetricRegistry } from '../../src/observability/metrics.ts';
import type { Cloud, CloudDeps } from '../../src/controller/clouds/cloud.ts';
import { MutationPermission, noPauses } from '../../src/providers/gate/mutation-permission.ts';
import type { Tags } from '../../src/providers/contract/network-interface.ts';
import type { VirtualClock } from '../support/virtual-clock.ts';
import { assign } from '../../src/simulator/cloud/assignments.ts';
import { claim, nothing } from '../../src/simulator/cloud/claims.ts';
import type { CloudNetwork } from '../../src/simulator/cloud/cloud-network.ts';
import type { Faults } from '../../src/simulator/cloud/faults.ts';
import { terminate } from '../../src/simulator/cloud/instances.ts';
import { optionsOf } from '../support/given-options.ts';
import { type AuditLine, auditInto } from '../support/audit-lines.ts';
import { recordingLogger } from '../support/recording-logger.ts';

export interface CloudRig {
  readonly clock: VirtualClock;
  /** What is true. */
  readonly network: CloudNetwork;
  readonly faults: Faults;
  /** At least three, each with one interface, all in one subnet. */
  readonly instanceIds: readonly string[];
  /** Networks as nodes name them; empty if the cloud reads by instance alone. */
  readonly networkIds: readonly string[];
  /** Calls by the names that faults know. */
  readonly calls: {
    /** Adds addresses. */
    readonly grow: string;
    /** Removes addresses; the same call on some clouds. */
    readonly shrink: string;
    /** Shows all instances, page by page. */
    readonly list: string;
  };
  /** Names of requests, in the order of their sending. */
  readonly sent: readonly string[];
  /** What the processes wrote to the audit of their changes. */
  readonly audited: readonly AuditLine[];
  /** Composes the provider of another process. */
  readonly compose: () => Cloud['implementation'];
  /** Runs once, before the next request of this name is sent, and may throw in its place. */
  readonly before: (name: string, run: () => Promise<void> | void, nth?: number) => void;
  /** Others take all addresses of the subnet but so many. */
  readonly fill: (left: number) => void;
  /** Another client adds an address to the instance; resolves once it is accepted. */
  readonly addByOthers: (instanceId: string) => Promise<void>;
  /** From now on the cloud shows the interface of this instance without what is needed to use it. */
  readonly breakInterface: (instanceId: string) => void;
  readonly terminate: (instanceId: string) => void;
  /** Where public addresses can be associated: the tags of one that is free, and those that an instance has. */
  readonly publicAddresses?: {
    readonly tags: Tags;
    readonly call: string;
    readonly of: (instanceId: string) => readonly string[];
  };
  /** Where agents can use IPv6 prefixes: the call that assigns one, and what refuses all that name none. */
  readonly ipv6?: { readonly call: string; readonly exhaust: () => void };
  /** How a read shows an instance that is gone: by a positive word, or, where its cloud has none, as unknown. */
  readonly gone: 'terminated' | 'unknown';
  /** From now on every answer is that nothing is there. */
  readonly hideEverything: () => void;
}

type ByOthers = Pick<CloudRig, 'addByOthers' | 'fill' | 'terminate'> & {
  readonly interfaceOf: (instanceId: string) => string;
};

/** Where interfaces are changed one by one: the interface of each instance, and what others do. */
export function byOthersOn(network: CloudNetwork, subnetId: string): ByOthers {
  const interfaceOf = (instanceId: string): string =>
    network.instances.get(instanceId)?.interfaceIds[0] ?? '';
  return {
    interfaceOf,
    fill: (left) => fillSubnet(network, subnetId, left),
    addByOthers: (instanceId) => {
      assign(network, interfaceOf(instanceId), { ...nothing, count: 1 }, false);
      return Promise.resolve();
    },
    terminate: (instanceId) => void terminate(network, [instanceId]),
  };
}

/** Others take all addresses of the subnet but `left`. */
export function fillSubnet(network: CloudNetwork, subnetId: string, left: number): void {
  const { available } = network.find('subnets', subnetId);
  claim(network, subnetId, { ...nothing, count: available - left });
}

/** An answer whose lists are empty, on every level. */
export function shownEmpty(output: object): object {
  return Object.fromEntries(
    Object.entries(output).map(([name, value]: [string, unknown]) => [
      name,
      Array.isArray(value) ? [] : typeof value === 'object' && value !== null ? shownEmpty(value) : value,
    ]),
  );
}

/** What a leader composes a cloud with, without options. */
export function cloudDeps(clock: VirtualClock, audited: AuditLine[]): CloudDeps {
  const { metrics } = createMetricRegistry({ measureProcess: false });
  return {
    options: optionsOf({ 'cloud-call-timeout': '20s' }),
    clock,
    log: recordingLogger(),
    metrics,
    audit: auditInto(audited, { clock, metrics }),
    leads: () => true,
    isInSafeLeaseWindow: () => true,
    permission: new MutationPermission(noPauses),
  };
}

/** What runs before requests, each once. */
export class Interruptions {
  #armed: { readonly name: string; readonly run: () => Promise<void> | void; left: number }[] = [];
  readonly sent: string[] = [];

  arm(name: string, run: () => Promise<void> | void, nth = 1): void {
    this.#armed.push({ name, run, left: nth });
  }

  async sending(name: string): Promise<void> {
    this.sent.push(name);
    const reached = this.#armed.filter((each) => each.name === name && --each.left === 0);
    this.#armed = this.#armed.filter((each) => !reached.includes(each));
    for (const { run } of reached) await run();
  }
}
