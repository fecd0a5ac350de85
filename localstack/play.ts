// What the acts of a run share: the test bed, the controller that runs in it, and the states that acts wait for. The checks
// read the server's own listing, the agents' memory, the Kubernetes objects and the wire, and never trust the
// controller's own reports.
import { ControllerProcess, type LogLine } from '../src/commands/demo/controller-process.ts';
import type { Clock } from '../src/runtime/clock.ts';
import type { KubernetesObject } from '../src/simulator/kubernetes/objects/kubernetes-object.ts';
import type { NodeView } from '../src/simulator/workload/node-view.ts';
import { Checks, type Problems } from './checks.ts';
import {
  belowWatermarks,
  orphaned,
  madeFor,
  offeredTwice,
  offeredWrongly,
  shownWrongly,
  usedWithoutHolding,
} from './node-problems.ts';
import { credentials, region } from './network-plan.ts';
import type { TestBed } from './test-bed.ts';
import type { ProcessEnvironment } from './process-environment.ts';
import type { ListedInterface } from './third-party-api.ts';
import { deleteOnTerminationCalls } from './wire-problems.ts';

const keptLines = 200;

export class Play {
  readonly testBed: TestBed;
  readonly checks: Checks;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
  readonly #flags: readonly string[];
  readonly #lines: LogLine[] = [];
  #controller: ControllerProcess | undefined;
  #pods = 0;

  /** `flags`: of the controller, before those that say where things are on this machine. */
  constructor(testBed: TestBed, processEnvironment: ProcessEnvironment, flags: readonly string[] = []) {
    this.testBed = testBed;
    this.#flags = flags;
    this.clock = processEnvironment.clock;
    this.signal = processEnvironment.signal;
    this.say = processEnvironment.say;
    this.checks = new Checks(processEnvironment);
  }

  get nodes(): readonly NodeView[] {
    return this.testBed.workload.views;
  }

  /** The last of what the controller logged. */
  get lines(): readonly LogLine[] {
    return this.#lines;
  }

  /** All interfaces, as the server lists them now. */
  listing(): Promise<readonly ListedInterface[]> {
    return this.testBed.ec2.interfaces(this.testBed.network.vpcId);
  }

  ciliumNode(name: string): KubernetesObject | undefined {
    return this.testBed.kubernetes.get('ciliumnodes.cilium.io', name);
  }

  startController(): Promise<void> {
    return this.#start('run', this.#flags);
  }

  /** Starts what gives each Node the prefixes of its instance. */
  startCloudAllocator(): Promise<void> {
    return this.#start('nodeipam', ['--cidr-allocator-type=CloudAllocator', '--cloud-provider=aws']);
  }

  async #start(command: 'nodeipam' | 'run', flags: readonly string[]): Promise<void> {
    const { kubeconfig, tap } = this.testBed;
    const controller = new ControllerProcess({
      command,
      flags: [
        ...flags,
        `--k8s-kubeconfig-path=${kubeconfig}`,
        `--ec2-api-endpoint=${tap.url}`,
        `--aws-region=${region}`,
        '--serve-addr=127.0.0.1:0',
      ],
      environment: {
        AWS_ACCESS_KEY_ID: credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      },
      onLine: (line) => {
        this.#lines.push(line);
        if (this.#lines.length > keptLines) this.#lines.shift();
      },
    });
    this.#controller = controller;
    void controller.ended.then(({ code, complaint }) => {
      // A controller that we stopped may end.
      if (this.#controller !== controller) return;
      this.checks.abandon(`the controller ended with exit code ${String(code)} ${complaint}`);
    });
    await this.checks.until('the controller is ready', () => readiness(controller.address));
  }

  /** Why each of these Nodes waits, by the answer of /status. */
  async reasons(names: readonly string[]): Promise<ReadonlyMap<string, string | undefined>> {
    const address = this.#controller?.address ?? '';
    const entries = names.map(async (name) => {
      const answer = await fetch(`http://${address}/status?node=${name}`);
      const { reason } = (await answer.json()) as { readonly reason?: string };
      return [name, reason] as const;
    });
    return new Map(await Promise.all(entries));
  }

  async endController(): Promise<void> {
    const controller = this.#controller;
    if (controller === undefined) return;
    this.#controller = undefined;
    const { code, complaint } = await controller.stop();
    this.checks.expect(
      'on SIGTERM, the controller ends with exit code 0',
      code === 0 ? [] : [`exit code ${String(code)}: ${complaint}`],
    );
    const leases = this.testBed.kubernetes.list('leases.coordination.k8s.io');
    this.checks.expect('it releases its Lease', leases.flatMap(holderOf));
    this.checks.expect('no interface is orphaned', orphaned(await this.listing()));
  }

  /** Kills the controller, if one runs. */
  kill(): void {
    const controller = this.#controller;
    this.#controller = undefined;
    controller?.kill();
  }

  /** Waits until every node has what its watermarks ask for, and every CiliumNode shows exactly that. */
  async settled(): Promise<void> {
    await this.checks.until(
      'every agent serves, and every node has what its watermarks ask for',
      async () => {
        const listed = await this.listing();
        return this.nodes.flatMap((node) => [
          ...(node.phase === 'serving' ? [] : [`the agent of ${node.nodeName} is ${node.phase}`]),
          ...belowWatermarks(node, listed),
        ]);
      },
    );
    await this.checks.until('the CiliumNodes show exactly what the server lists', async () => {
      const { network } = this.testBed;
      const listed = await this.listing();
      return this.nodes.flatMap((node) => {
        const object = this.ciliumNode(node.nodeName);
        return [
          ...shownWrongly(node, object, { listed, network }),
          ...(node.protocol === 'crd-allocator' ? offeredWrongly(node, object, listed) : []),
        ];
      });
    });
    const listed = await this.listing();
    this.checks.expect(
      'the server holds every address in use on the instance that uses it',
      this.nodes.flatMap((node) => usedWithoutHolding(node, listed)),
    );
    this.checks.expect(
      'no address is offered on two nodes',
      offeredTwice(this.testBed.kubernetes.list('ciliumnodes.cilium.io')),
    );
  }

  /** Adds one pod to each node. */
  async podOnEach(name: string): Promise<void> {
    const { nodes } = this;
    for (const { nodeName } of nodes) {
      await this.testBed.workload.createPod({ name: `${name}-${nodeName}`, nodeName });
    }
    await this.podsAreServed(nodes.length, `pods ${name}`);
  }

  /** Waits until `count` pods more than before have their addresses. */
  async podsAreServed(count: number, what: string): Promise<void> {
    this.#pods += count;
    await this.checks.until(`${what} get their addresses`, () => {
      const pods = this.testBed.kubernetes.list('pods', 'default');
      return [
        ...(pods.length === this.#pods ? [] : [`${pods.length} pods of ${this.#pods} are there`]),
        ...pods.flatMap((pod) => (addressOf(pod) === undefined ? [`${pod.metadata.name} waits`] : [])),
      ];
    });
  }

  /**
   * Waits until the calls from `first` on have set delete-on-termination once for each attachment of an interface that
   * the controller created, and for no other. These servers accept the call and never show its effect.
   */
  async setOnce(what: string, first: number): Promise<void> {
    await this.checks.until(what, async () => {
      const times = deleteOnTerminationCalls(this.testBed.tap.calls.slice(first));
      const listed = await this.listing();
      const made = this.nodes.flatMap((node) => madeFor(node, listed));
      const wanted = new Set(made.map(({ attachment }) => attachment.id));
      const missing = [...wanted].filter((id) => !times.has(id)).map((id) => `not set for ${id}`);
      const often = [...times].filter(([id, count]) => count > 1 || !wanted.has(id));
      return [...missing, ...often.map(([id, count]) => `set for ${id}, ${count} times`)];
    });
  }
}

async function readiness(address: string | undefined): Promise<Problems> {
  if (address === undefined) return ['it does not serve yet'];
  const answer = await fetch(`http://${address}/readyz`);
  return answer.ok ? [] : [`${answer.status} ${await answer.text()}`];
}

/** The reason that a CiliumNode gives why its node cannot be satisfied. */
export function errorOf(object: KubernetesObject | undefined): string | undefined {
  const { ipam } = (object?.['status'] ?? {}) as { ipam?: { 'operator-status'?: { error?: string } } };
  return ipam?.['operator-status']?.error;
}

function addressOf(pod: KubernetesObject): string | undefined {
  return ((pod['status'] ?? {}) as { podIP?: string }).podIP;
}

function holderOf(lease: KubernetesObject): readonly string[] {
  const { holderIdentity = '' } = (lease['spec'] ?? {}) as { holderIdentity?: string };
  return holderIdentity === '' ? [] : [`${holderIdentity} still holds it`];
}
