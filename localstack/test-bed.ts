// Everything in a run but the controller: the seeded third-party EC2, a tap on the wire to it, an embedded Kubernetes API,
// and agents and kubelets on the seeded instances.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../src/runtime/clock.ts';
import { Random } from '../src/runtime/random.ts';
import { ciliumNodeCrd } from '../src/simulator/kubernetes/ciliumnode-crd.ts';
import { KubernetesModel } from '../src/simulator/kubernetes/kubernetes-model.ts';
import { kubeConfigFor, startKubernetesServer } from '../src/simulator/kubernetes/kubernetes-server.ts';
import { WorkloadFleet } from '../src/simulator/workload/workload-fleet.ts';
import type { NodeFacts } from '../src/simulator/workload/node-facts.ts';
import { nodePlans } from './network-plan.ts';
import type { SeededNetwork } from './seeding-api.ts';
import type { ThirdPartyEc2 } from './third-party-api.ts';
import { WireTap } from './wire-tap.ts';

/** Agents run faster than in reality: their 15 s become 1.5 s. */
const agentPace = 10;

export interface TestBed {
  readonly ec2: ThirdPartyEc2;
  readonly network: SeededNetwork;
  /** The subnet that a run deletes. */
  readonly doomedSubnetId: string;
  /** The node that joins late and asks for that subnet. */
  readonly late: NodeFacts;
  readonly kubernetes: KubernetesModel;
  readonly workload: WorkloadFleet;
  readonly tap: WireTap;
  readonly kubeconfig: string;
  readonly close: () => Promise<void>;
}

export async function startTestBed(ec2: ThirdPartyEc2, endpoint: string, clock: Clock): Promise<TestBed> {
  const network = await ec2.seed();
  const machines = await ec2.machines(network.instanceIds);
  const doomedSubnetId = network.subnets.get('doomed')?.id;
  const lateMachine = machines.at(-1);
  if (doomedSubnetId === undefined || lateMachine === undefined) throw new Error('not all was seeded');
  const random = new Random('third-party');
  const kubernetes = new KubernetesModel({ clock, random: random.fork('kubernetes'), crds: [ciliumNodeCrd] });
  const workload = new WorkloadFleet({
    handler: kubernetes.handle,
    clock,
    random: random.fork('workload'),
    nodes: machines.flatMap((machine, index) => {
      const plan = nodePlans[index];
      return plan === undefined ? [] : [{ ...machine, ...plan.agent }];
    }),
    pace: agentPace,
  });
  const tap = await WireTap.start(endpoint);
  const api = await startKubernetesServer({ model: kubernetes, clock, port: 0 });
  const directory = await mkdtemp(join(tmpdir(), 'headwater-third-party-'));
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(kubeconfig, kubeConfigFor({ url: api.url }));
  return {
    ec2,
    network,
    doomedSubnetId,
    late: {
      ...lateMachine,
      protocol: 'crd-allocator',
      eni: { firstInterfaceIndex: 1, subnetIds: [doomedSubnetId] },
    },
    kubernetes,
    workload,
    tap,
    kubeconfig,
    close: async () => {
      await workload.stop();
      await Promise.all([api.close(), tap.close()]);
      await rm(directory, { recursive: true, force: true });
    },
  };
}
