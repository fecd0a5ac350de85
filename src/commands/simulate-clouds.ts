// The clouds that the command simulate serves: each is built from its topology first, and served once all is known to be right.
import { writeFile } from 'node:fs/promises';
import type { RawFlags } from '../config/raw-option.ts';
import type { Random } from '../runtime/random.ts';
import { systemClock as clock } from '../runtime/system-clock.ts';
import { startAlibabaServer } from '../simulator/alibaba/alibaba-server.ts';
import type { AlibabaTopology } from '../simulator/alibaba/alibaba-topology.ts';
import { createAlibaba } from '../simulator/alibaba/create-alibaba.ts';
import { refusalOf as alibabaRefusal } from '../simulator/alibaba/refusal-of-problem.ts';
import { ArmRefusal } from '../simulator/arm/arm-refusal.ts';
import { startArmServer } from '../simulator/arm/arm-server.ts';
import type { ArmTopology } from '../simulator/arm/arm-topology.ts';
import { createArm } from '../simulator/arm/create-arm.ts';
import { CloudRefusal } from '../simulator/cloud/cloud-refusal.ts';
import type { Topology } from '../simulator/cloud/topology.ts';
import { createEc2 } from '../simulator/ec2/create-ec2.ts';
import { startEc2Server } from '../simulator/ec2/ec2-server.ts';
import { refusalOf as ec2Refusal } from '../simulator/ec2/refusal-of-problem.ts';
import { lastOf, readFlags } from './flag-values.ts';
import { portKind, usualPorts } from './simulate-description.ts';

/** A part that is served. */
export interface Served {
  /** Lines to print about it. */
  readonly lines: readonly string[];
  readonly close: () => Promise<void>;
}

export interface Place {
  readonly given: RawFlags;
  readonly host: string;
  readonly random: Random;
}

/** `path`: of its topology, for complaints. */
type CloudPlace = Place & { readonly path: string };

/** The request is invalid: one line per problem. */
export class Misuse extends Error {
  readonly problems: readonly string[];

  constructor(...problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'Misuse';
    this.problems = problems;
  }
}

export function ec2From(
  topology: Topology,
  { given, host, random, path }: CloudPlace,
): () => Promise<Served> {
  const port = portOf(given, 'ec2-port');
  const ec2 = built(
    `${path}: EC2`,
    () => createEc2({ topology, clock, random }),
    (error) => (error instanceof CloudRefusal ? ec2Refusal(error.problem, 'RunInstances') : undefined),
  );
  return async () => {
    const { gateway } = ec2;
    const server = await startEc2Server({ gateway, clock, port, host }).catch(askForAnother('--ec2-port'));
    const [credential] = topology.credentials;
    return {
      close: async () => {
        await server.close();
        // The cloud's own timers run for up to an hour: a terminated instance stays visible.
        ec2.clock.stop();
      },
      lines: [
        `# EC2 with ${gateway.network.instances.size} instances; its state and its faults: ${server.url}/_headwater/`,
        `export AWS_ENDPOINT_URL_EC2=${server.url}`,
        `export AWS_REGION=${topology.region}`,
        ...exported({
          AWS_ACCESS_KEY_ID: credential?.accessKeyId,
          AWS_SECRET_ACCESS_KEY: credential?.secretAccessKey,
        }),
      ],
    };
  };
}

export function azureFrom(
  topology: ArmTopology,
  { given, host, random, path }: CloudPlace,
): () => Promise<Served> {
  const [port, metadataPort] = [portOf(given, 'azure-port'), portOf(given, 'azure-metadata-port')];
  const arm = built(
    `${path}: Azure`,
    () => createArm({ topology, clock, random }),
    (error) => (error instanceof ArmRefusal ? error : undefined),
  );
  const caFile = lastOf(given, 'azure-ca-file');
  return async () => {
    const { gateway, cloud } = arm;
    const server = await startArmServer({ gateway, port, metadataPort, host }).catch(
      askForAnother('--azure-port or --azure-metadata-port'),
    );
    if (caFile !== undefined)
      await writeOrClose(server, caFile, { flag: '--azure-ca-file', text: server.ca });
    const [principal] = topology.principals;
    const isUser = principal?.secret !== undefined;
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
        ...exported({
          AZURE_AUTHORITY_HOST: server.url,
          AZURE_TENANT_ID: topology.tenant,
          AZURE_SUBSCRIPTION_ID: topology.subscriptions[0]?.id ?? '',
          AZURE_CLIENT_ID: isUser ? principal.clientId : undefined,
          AZURE_CLIENT_SECRET: principal?.secret,
        }),
      ],
    };
  };
}

export function alibabaFrom(
  topology: AlibabaTopology,
  { given, host, random, path }: CloudPlace,
): () => Promise<Served> {
  const port = portOf(given, 'alibaba-cloud-port');
  const metadataPort = portOf(given, 'alibaba-cloud-metadata-port');
  const alibaba = built(
    `${path}: Alibaba Cloud`,
    () => createAlibaba({ topology, clock, random }),
    (error) => (error instanceof CloudRefusal ? alibabaRefusal(error.problem) : undefined),
  );
  return async () => {
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
        ...exported({
          ALIBABA_CLOUD_ACCESS_KEY_ID: credential?.accessKeyId,
          ALIBABA_CLOUD_ACCESS_KEY_SECRET: credential?.accessKeySecret,
          ALIBABA_CLOUD_SECURITY_TOKEN: credential?.securityToken,
        }),
      ],
    };
  };
}

/** A valid topology may still not fit into its subnets. `refusalOf`: undefined for a bug, which is thrown. */
function built<T>(
  who: string,
  build: () => T,
  refusalOf: (error: unknown) => { readonly code: string; readonly message: string } | undefined,
): T {
  try {
    return build();
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal === undefined) throw error;
    throw new Misuse(`${who} would refuse to build this: ${refusal.code}: ${refusal.message}`);
  }
}

/** A line for each variable that has a value. */
function exported(variables: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(variables).flatMap(([name, value]) =>
    value === undefined ? [] : [`export ${name}=${value}`],
  );
}

export function portOf(given: RawFlags, name: keyof typeof usualPorts): number {
  const read = readFlags(given, { [name]: portKind });
  if (typeof read === 'string') throw new Misuse(read);
  return read[name] ?? usualPorts[name];
}

/** Writes a file that belongs to a server, which ends if that fails. */
export async function writeOrClose(
  server: { close(): Promise<void> },
  path: string,
  { flag, text }: { readonly flag: string; readonly text: string },
): Promise<void> {
  await writeFile(path, text).catch(async (error: unknown) => {
    await server.close();
    throw new Misuse(`${flag} is ${JSON.stringify(path)}: ${messageOf(error)}`);
  });
}

/** The error names the unavailable port; this adds the remedy. */
export function askForAnother(flag: string): (error: unknown) => never {
  return (error) => {
    const advice = isOfHost(error) ? '--host to an address of this machine' : flag;
    throw new Error(`${messageOf(error)}; set ${advice}`, { cause: error });
  };
}

function isOfHost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  return ['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN'].includes(code) || isOfHost(error.cause);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
