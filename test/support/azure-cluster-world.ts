// A cluster on Azure in one process and in virtual time. What controllers write to Azure is judged on arrival.
import { composeAzure } from '../../src/controller/clouds/azure.ts';
import type { Cloud, CloudDeps } from '../../src/controller/clouds/cloud.ts';
import type { ArmAnswer } from '../../src/providers/azure/arm-api.ts';
import type { ArmTopology } from '../../src/simulator/arm/arm-topology.ts';
import type { Faults } from '../../src/simulator/cloud/faults.ts';
import { createEmbeddedAzure, type EmbeddedAzure } from '../../src/simulator/cluster/embedded-cluster.ts';
import { type Json, listAt } from '../../src/simulator/workload/json.ts';
import type { NodeFacts } from '../../src/simulator/workload/node-facts.ts';
import { ArmHand } from './arm-hand.ts';
import { judgeArm } from './arm-judge.ts';
import { addUnknownFields, controllerPrincipal, otherPrincipal, testAzure } from './azure-cloud.ts';
import { type CallingProcess, ClusterWorld, type ClusterWorldOptions } from './cluster-world.ts';
import { InProcessArm } from './in-process-arm.ts';

export interface AzureClusterWorldOptions extends ClusterWorldOptions {
  readonly cloud?: ArmTopology;
}

export class AzureClusterWorld extends ClusterWorld<EmbeddedAzure> {
  readonly flags = { ipam: 'azure' };
  /** Another client of Azure. */
  readonly hand: ArmHand;

  constructor({ cloud = testAzure(), ...options }: AzureClusterWorldOptions = {}) {
    super(options, (rest) => createEmbeddedAzure({ ...rest, topology: cloud }));
    const { arm } = this.cluster;
    addUnknownFields(arm.cloud);
    judgeArm(
      arm,
      (caller) => caller === controllerPrincipal,
      (misdeed) => this.bugs.push(misdeed),
    );
    this.hand = new ArmHand(arm.gateway, otherPrincipal);
  }

  connect({ pass, onCall, tamper }: CallingProcess): (deps: CloudDeps) => Cloud {
    const inner = new InProcessArm(this.cluster.arm.gateway, (request, result) =>
      onCall(request.operation, { url: request.url, ifMatch: request.ifMatch ?? '' }, result),
    );
    const api = {
      send: async (...[request, sending]: Parameters<InProcessArm['send']>): Promise<ArmAnswer> => {
        const { operation, method } = request;
        const answer = await pass(operation, method !== 'GET', () => inner.send(request, sending));
        return tamper(operation, answer, request) as ArmAnswer;
      },
    };
    return (deps) => composeAzure({ api, cloud: 'AzurePublicCloud', place: undefined }, deps);
  }

  /** The published interfaces, in their order. */
  shown(machine: Pick<NodeFacts, 'name'>): readonly Json[] {
    return listAt(this.ciliumNode(machine), 'status', 'azure', 'interfaces');
  }

  /** Names of the configurations of an instance in Azure, without the primary ones. */
  configurations({ instanceId }: Pick<NodeFacts, 'instanceId'>): readonly string[] {
    const { cloud } = this.cluster.arm;
    return cloud
      .interfacesOf(cloud.machine(instanceId))
      .flatMap(({ configurations }) => configurations.filter(({ isPrimary }) => !isPrimary))
      .map(({ name }) => name);
  }

  protected get faults(): Faults {
    return this.cluster.arm.gateway.faults;
  }
}
