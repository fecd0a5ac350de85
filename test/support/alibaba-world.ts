// A cluster on Alibaba Cloud in one process and in virtual time, with agents and pods.
import { composeAlibaba } from '../../src/controller/clouds/alibaba.ts';
import type { Cloud, CloudDeps } from '../../src/controller/clouds/cloud.ts';
import type { RpcAction, RpcApi, RpcInput, RpcOutput } from '../../src/providers/alibaba/rpc-api.ts';
import type { Sending } from '../../src/providers/gate/cloud-call.ts';
import type { AlibabaTopology } from '../../src/simulator/alibaba/alibaba-topology.ts';
import type { Faults } from '../../src/simulator/cloud/faults.ts';
import { createEmbeddedAlibaba, type EmbeddedAlibaba } from '../../src/simulator/cluster/embedded-cluster.ts';
import type { NodeFacts } from '../../src/simulator/workload/node-facts.ts';
import { testAlibaba } from './alibaba-cloud.ts';
import { type CallingProcess, ClusterWorld, type ClusterWorldOptions } from './cluster-world.ts';
import { InProcessRpc } from './in-process-rpc.ts';
import { ramPermissions } from './ram-policy.ts';

export interface AlibabaWorldOptions extends ClusterWorldOptions {
  readonly cloud?: AlibabaTopology;
}

export class AlibabaWorld extends ClusterWorld<EmbeddedAlibaba> {
  readonly flags = { ipam: 'alibabacloud' };

  constructor({ cloud = testAlibaba(), ...options }: AlibabaWorldOptions = {}) {
    // No test may need more than the shipped policy allows.
    const credentials = cloud.credentials.map((each) => ({ ...each, actions: [...ramPermissions] }));
    super(options, (rest) => createEmbeddedAlibaba({ ...rest, topology: { ...cloud, credentials } }));
  }

  connect({ pass, onCall, tamper }: CallingProcess): (deps: CloudDeps) => Cloud {
    const { gateway, network } = this.cluster.alibaba;
    const inner = new InProcessRpc(gateway, onCall);
    const api: RpcApi = {
      send: async <A extends RpcAction>(action: A, input: RpcInput<A>, sending: Sending) => {
        const send = (): Promise<RpcOutput<A>> => inner.send(action, input, sending);
        const output = await pass(action, !action.startsWith('Describe'), send);
        return tamper(action, output, input);
      },
    };
    return (deps) => composeAlibaba({ api, regionId: network.region }, deps);
  }

  /** Pods use every address of an interface but the primary one. */
  override held(machine: Pick<NodeFacts, 'instanceId'>): readonly string[] {
    return this.interfaces(machine).flatMap(({ addresses, deviceIndex }) =>
      deviceIndex === 0 ? [] : addresses,
    );
  }

  protected get faults(): Faults {
    return this.cluster.alibaba.gateway.faults;
  }
}
