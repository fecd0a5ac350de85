// Reads the third-party server through the AWS SDK: the source of truth of the checks.
import {
  AssignPrivateIpAddressesCommand,
  DeleteSubnetCommand,
  DescribeInstancesCommand,
  DescribeNetworkInterfacesCommand,
  DescribeVpcsCommand,
  EC2Client,
  type Instance,
  type NetworkInterface,
  UnassignPrivateIpAddressesCommand,
} from '@aws-sdk/client-ec2';
import type { MachineFacts } from '../src/simulator/cluster/embedded-cluster.ts';
import { credentials, region } from './network-plan.ts';
import { seedNetwork, type SeededNetwork } from './seeding-api.ts';

/** An interface as the server lists it. */
export interface ListedInterface {
  readonly id: string;
  readonly description: string;
  readonly vpcId: string;
  readonly subnetId: string;
  readonly zone: string;
  readonly mac: string;
  readonly primaryAddress: string;
  /** As the server lists them, duplicates included. */
  readonly secondaryAddresses: readonly string[];
  /** For an attached interface these servers add the groups of the instance, which EC2 does not. */
  readonly groupIds: readonly string[];
  readonly tags: Readonly<Record<string, string>>;
  /** Undefined while the interface is detached. */
  readonly attachment: ListedAttachment | undefined;
}

export interface ListedAttachment {
  readonly id: string;
  readonly instanceId: string;
  readonly deviceIndex: number;
}

export class ThirdPartyEc2 {
  readonly #client: EC2Client;

  constructor(endpoint: string) {
    this.#client = new EC2Client({ endpoint, region, credentials, maxAttempts: 1 });
  }

  /** Why the server does not answer; undefined once it does. */
  async problem(signal: AbortSignal): Promise<string | undefined> {
    try {
      await this.#client.send(new DescribeVpcsCommand({}), { abortSignal: signal });
      return undefined;
    } catch (error) {
      signal.throwIfAborted();
      return error instanceof Error ? error.message || error.name : String(error);
    }
  }

  seed(): Promise<SeededNetwork> {
    return seedNetwork(this.#client);
  }

  async interfaces(vpcId: string): Promise<readonly ListedInterface[]> {
    const Filters = [{ Name: 'vpc-id', Values: [vpcId] }];
    const { NetworkInterfaces = [] } = await this.#client.send(
      new DescribeNetworkInterfacesCommand({ Filters }),
    );
    return NetworkInterfaces.map(listedInterface);
  }

  /** The facts of each instance, in the order of `instanceIds`. Throws if one does not run. */
  async machines(instanceIds: readonly string[]): Promise<readonly MachineFacts[]> {
    const command = new DescribeInstancesCommand({ InstanceIds: [...instanceIds] });
    const { Reservations = [] } = await this.#client.send(command);
    const shown = Reservations.flatMap(({ Instances = [] }) => Instances);
    return instanceIds.map((id) => {
      const instance = shown.find(({ InstanceId }) => InstanceId === id);
      if (instance?.State?.Name !== 'running') throw new Error(`the server does not run instance ${id}`);
      return machineFacts(instance);
    });
  }

  async deleteSubnet(id: string): Promise<void> {
    await this.#client.send(new DeleteSubnetCommand({ SubnetId: id }));
  }

  /** Assigns an address even if another interface has it: these servers do not check. */
  async assign(interfaceId: string, address: string): Promise<void> {
    const input = { NetworkInterfaceId: interfaceId, PrivateIpAddresses: [address] };
    await this.#client.send(new AssignPrivateIpAddressesCommand(input));
  }

  async unassign(interfaceId: string, address: string): Promise<void> {
    const input = { NetworkInterfaceId: interfaceId, PrivateIpAddresses: [address] };
    await this.#client.send(new UnassignPrivateIpAddressesCommand(input));
  }

  close(): void {
    this.#client.destroy();
  }
}

function listedInterface(shown: NetworkInterface): ListedInterface {
  const { Attachment: attachment, PrivateIpAddresses: addresses = [] } = shown;
  return {
    id: said(shown.NetworkInterfaceId),
    description: said(shown.Description),
    vpcId: said(shown.VpcId),
    subnetId: said(shown.SubnetId),
    zone: said(shown.AvailabilityZone),
    mac: said(shown.MacAddress),
    primaryAddress: said(shown.PrivateIpAddress),
    secondaryAddresses: addresses
      .filter(({ Primary }) => Primary !== true)
      .map(({ PrivateIpAddress = '' }) => PrivateIpAddress),
    groupIds: (shown.Groups ?? []).map(({ GroupId = '' }) => GroupId),
    tags: Object.fromEntries((shown.TagSet ?? []).map(({ Key = '', Value = '' }) => [Key, Value])),
    attachment: attachment?.InstanceId === undefined ? undefined : listedAttachment(attachment),
  };
}

function listedAttachment(shown: NonNullable<NetworkInterface['Attachment']>): ListedAttachment {
  const { AttachmentId: id = '', InstanceId: instanceId = '', DeviceIndex: deviceIndex = 0 } = shown;
  return { id, instanceId, deviceIndex };
}

function machineFacts(shown: Instance): MachineFacts {
  const { PrivateIpAddress: primaryAddress = '' } = shown;
  return {
    name: `ip-${primaryAddress.replaceAll('.', '-')}`,
    instanceId: said(shown.InstanceId),
    instanceType: said(shown.InstanceType),
    vpcId: said(shown.VpcId),
    zone: said(shown.Placement?.AvailabilityZone),
    subnetId: said(shown.SubnetId),
    primaryAddress,
  };
}

/** For what the SDK types as possibly missing: a check reports the empty text as wrong. */
function said(text: string | undefined): string {
  return text ?? '';
}
