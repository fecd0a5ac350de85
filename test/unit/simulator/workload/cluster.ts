// An embedded Kubernetes API in virtual time, with everything that a test needs to act as administrator, operator and
// cloud.
import { Random } from '../../../../src/runtime/random.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { ciliumNodeCrd } from '../../../../src/simulator/kubernetes/ciliumnode-crd.ts';
import type { KubernetesHandler } from '../../../../src/simulator/kubernetes/exchange.ts';
import { KubernetesModel } from '../../../../src/simulator/kubernetes/kubernetes-model.ts';
import { AddressLedger } from '../../../../src/simulator/workload/address-ledger.ts';
import type { Agent } from '../../../../src/simulator/workload/agent.ts';
import type { AgentContext } from '../../../../src/simulator/workload/agent-context.ts';
import { CrdAgent } from '../../../../src/simulator/workload/crd-agent.ts';
import { recorderFor, type WorkloadEvent } from '../../../../src/simulator/workload/journal.ts';
import { type Json, type JsonObject, textAt, textsAt } from '../../../../src/simulator/workload/json.ts';
import { KubernetesClient } from '../../../../src/simulator/workload/kubernetes-client.ts';
import { MachineMemory } from '../../../../src/simulator/workload/machine-memory.ts';
import { MultiPoolAgent } from '../../../../src/simulator/workload/multi-pool-agent.ts';
import type { NodeFacts, Protocol } from '../../../../src/simulator/workload/node-facts.ts';
import { ViolationLog } from '../../../../src/simulator/workload/violation-log.ts';
import { callKubernetes, type Method } from '../../../support/kubernetes-call.ts';

export const nodeFacts: NodeFacts = {
  name: 'node-1',
  instanceId: 'i-1',
  instanceType: 'm5.large',
  vpcId: 'vpc-1',
  zone: 'us-west-2a',
  subnetId: 'subnet-1',
  primaryAddress: '10.0.0.10',
  protocol: 'crd-allocator',
  agentAddresses: [],
};

/** An interface as an operator publishes it. */
export function eni(id: string, addresses: readonly string[], more: JsonObject = {}): JsonObject {
  return {
    id,
    ip: '10.0.0.11',
    mac: '02:00:00:00:00:01',
    subnet: { id: 'subnet-1', cidr: '10.0.0.0/16' },
    vpc: { id: 'vpc-1', 'primary-cidr': '10.0.0.0/16' },
    addresses,
    ...more,
  };
}

/** `count` addresses from 10.0.1.1 on. */
export function addresses(count: number, from = 1): readonly string[] {
  return Array.from({ length: count }, (_, index) => `10.0.1.${from + index}`);
}

export class Cluster {
  readonly clock = new VirtualClock();
  readonly events: WorkloadEvent[] = [];
  readonly bugs: unknown[] = [];
  readonly model: KubernetesModel;
  readonly handler: KubernetesHandler;
  readonly #client: KubernetesClient;
  readonly #random: Random;
  readonly #ledger = new AddressLedger();

  constructor(seed = 'cluster') {
    this.#random = new Random(seed);
    this.model = new KubernetesModel({
      clock: this.clock,
      random: this.#random.fork('kubernetes'),
      crds: [ciliumNodeCrd],
    });
    this.handler = this.model.handle;
    this.#client = new KubernetesClient(this.handler, 'test');
  }

  /** The object in the answer; throws if the API refuses. */
  call(method: Method, path: string, body: JsonObject = {}): Promise<JsonObject> {
    return callKubernetes(this.#client, { method, path, body });
  }

  ciliumNode(name = nodeFacts.name): Promise<JsonObject> {
    return this.call('GET', `/apis/cilium.io/v2/ciliumnodes/${name}`);
  }

  patchSpec(spec: JsonObject, name = nodeFacts.name): Promise<JsonObject> {
    return this.call('PATCH', `/apis/cilium.io/v2/ciliumnodes/${name}`, { spec });
  }

  patchStatus(status: JsonObject, name = nodeFacts.name): Promise<JsonObject> {
    return this.call('PATCH', `/apis/cilium.io/v2/ciliumnodes/${name}/status`, { status });
  }

  /** Publishes these interfaces, then their addresses in the pool, as an operator does. */
  async offer(enis: readonly JsonObject[], name = nodeFacts.name): Promise<void> {
    const entries: Record<string, Json> = {};
    for (const each of enis) entries[textAt(each, 'id')] = each;
    await this.patchStatus({ eni: { enis: entries } }, name);

    const pool: Record<string, Json> = {};
    for (const each of enis) {
      for (const address of textsAt(each, 'addresses')) pool[address] = { resource: each['id'] };
    }
    await this.patchSpec({ ipam: { pool } }, name);
  }

  createNode(facts: NodeFacts = nodeFacts): Promise<JsonObject> {
    return this.call('POST', '/api/v1/nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: facts.name },
    });
  }

  memoryOf(facts: NodeFacts = nodeFacts): MachineMemory {
    const record = recorderFor(facts.name, this.clock, (event) => this.events.push(event));
    return new MachineMemory(facts, this.#ledger, new ViolationLog(facts.name, this.clock, record));
  }

  context(options: Partial<AgentContext> = {}): AgentContext {
    const facts = options.facts ?? nodeFacts;
    return {
      facts,
      client: new KubernetesClient(this.handler, 'agent'),
      clock: this.clock,
      random: this.#random.fork(`agent-${facts.name}`),
      memory: this.memoryOf(facts),
      record: recorderFor(facts.name, this.clock, (event) => this.events.push(event)),
      watchLag: 0,
      startLag: 0,
      onBug: (error) => this.bugs.push(error),
      ...options,
    };
  }

  agent(protocol: Protocol, options: Partial<AgentContext> = {}): Agent {
    const context = this.context(options);
    return protocol === 'multi-pool' ? new MultiPoolAgent(context) : new CrdAgent(context);
  }
}
