// Serves the embedded Azure for the command simulate.
import { writeFile } from 'node:fs/promises';
import type { Random } from '../runtime/random.ts';
import { systemClock as clock } from '../runtime/system-clock.ts';
import { ArmRefusal } from '../simulator/arm/arm-refusal.ts';
import { startArmServer } from '../simulator/arm/arm-server.ts';
import type { ArmTopology } from '../simulator/arm/arm-topology.ts';
import { type Arm, createArm } from '../simulator/arm/create-arm.ts';
import { askForAnother, messageOf, Misuse, type Served } from './simulate-served.ts';

/** A valid topology may still not fit into its subnets. */
export function armFrom(path: string, topology: ArmTopology, random: Random): Arm {
  try {
    return createArm({ topology, clock, random });
  } catch (error) {
    if (!(error instanceof ArmRefusal)) throw error;
    throw new Misuse(`${path}: Azure would refuse to build this: ${error.code}: ${error.message}`);
  }
}

export async function serveAzure(options: {
  readonly topology: ArmTopology;
  readonly arm: Arm;
  readonly host: string;
  readonly port: number;
  readonly metadataPort: number;
  /** Where to write the certificate of the authority. */
  readonly caFile: string | undefined;
}): Promise<Served> {
  const { topology, arm, host, port, metadataPort, caFile } = options;
  const { gateway, cloud } = arm;
  const server = await startArmServer({ gateway, port, metadataPort, host }).catch(
    askForAnother('--azure-port or --azure-metadata-port'),
  );
  if (caFile !== undefined) {
    await writeFile(caFile, server.ca).catch(async (error: unknown) => {
      await server.close();
      throw new Misuse(`--azure-ca-file is ${JSON.stringify(caFile)}: ${messageOf(error)}`);
    });
  }
  const [principal] = topology.principals;
  return {
    close: async () => {
      await server.close();
      arm.clock.stop();
    },
    lines: [
      `# Azure with ${cloud.machines.current.size} machines; its state and its faults: ${server.url}/_headwater/`,
      `# --azure-endpoint=${server.url} --azure-metadata-endpoint=${server.metadataUrl}`,
      ...(caFile === undefined
        ? ['# clients have to trust this authority:', server.ca]
        : [`export NODE_EXTRA_CA_CERTS=${caFile}`]),
      `export AZURE_AUTHORITY_HOST=${server.url}`,
      `export AZURE_TENANT_ID=${topology.tenant}`,
      `export AZURE_SUBSCRIPTION_ID=${topology.subscriptions[0]?.id ?? ''}`,
      ...(principal?.secret === undefined
        ? []
        : [`export AZURE_CLIENT_ID=${principal.clientId}`, `export AZURE_CLIENT_SECRET=${principal.secret}`]),
    ],
  };
}
