// Serves the embedded Alibaba Cloud for the command simulate.
import type { Random } from '../runtime/random.ts';
import { systemClock as clock } from '../runtime/system-clock.ts';
import { startAlibabaServer } from '../simulator/alibaba/alibaba-server.ts';
import type { AlibabaTopology } from '../simulator/alibaba/alibaba-topology.ts';
import { type Alibaba, createAlibaba } from '../simulator/alibaba/create-alibaba.ts';
import { refusalOf } from '../simulator/alibaba/refusal-of-problem.ts';
import { CloudRefusal } from '../simulator/cloud/cloud-refusal.ts';
import { askForAnother, Misuse, type Served } from './simulate-served.ts';

/** A valid topology may still not fit into its vSwitches. */
export function alibabaFrom(path: string, topology: AlibabaTopology, random: Random): Alibaba {
  try {
    return createAlibaba({ topology, clock, random });
  } catch (error) {
    const refusal = error instanceof CloudRefusal ? refusalOf(error.problem) : undefined;
    if (refusal === undefined) throw error;
    const { code, message } = refusal;
    throw new Misuse(`${path}: Alibaba Cloud would refuse to build this: ${code}: ${message}`);
  }
}

export async function serveAlibaba(options: {
  readonly topology: AlibabaTopology;
  readonly alibaba: Alibaba;
  readonly host: string;
  readonly port: number;
  readonly metadataPort: number;
}): Promise<Served> {
  const { topology, alibaba, host, port, metadataPort } = options;
  const { gateway, network } = alibaba;
  const server = await startAlibabaServer({ gateway, clock, port, metadataPort, host }).catch(
    askForAnother('--alibaba-cloud-port or --alibaba-cloud-metadata-port'),
  );
  const [credential] = topology.credentials;
  const [vpc] = network.all('vpcs').keys();
  return {
    close: async () => {
      await server.close();
      alibaba.clock.stop();
    },
    lines: [
      `# Alibaba Cloud with ${network.instances.size} instances; its state and its faults: ${server.url}/_headwater/`,
      `# --alibaba-cloud-endpoint=${server.url} --alibaba-cloud-metadata-endpoint=${server.metadataUrl}`,
      `# --alibaba-cloud-region=${topology.region} --alibaba-cloud-vpc-id=${vpc ?? ''}`,
      ...(credential === undefined
        ? []
        : [
            `export ALIBABA_CLOUD_ACCESS_KEY_ID=${credential.accessKeyId}`,
            `export ALIBABA_CLOUD_ACCESS_KEY_SECRET=${credential.accessKeySecret}`,
            ...(credential.securityToken === undefined
              ? []
              : [`export ALIBABA_CLOUD_SECURITY_TOKEN=${credential.securityToken}`]),
          ]),
    ],
  };
}
