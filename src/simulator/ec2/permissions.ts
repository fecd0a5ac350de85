// The permissions that EC2 checks for a call, with resources and condition keys
// (https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html). A resource that
// the reference calls optional counts as checked whenever the call touches it.
import type { CloudNetwork } from '../cloud/cloud-network.ts';
import type { NetworkInterface, Tags } from '../cloud/records.ts';
import type { Permission } from './iam-policy.ts';

type Input = Readonly<Record<string, unknown>>;

/** The permissions that a call needs. Unknown actions are checked without a resource. */
export function permissionsFor(action: string, input: Input, network: CloudNetwork): readonly Permission[] {
  const resources = resourcesOf[action]?.(input, new Resources(network)) ?? [];
  if (resources.length === 0) return [{ action: `ec2:${action}`, resource: '*', context: new Map() }];
  return [
    ...resources.map((resource) => ({ action: `ec2:${action}`, ...resource })),
    ...taggingBy(action, input, new Resources(network)),
  ];
}

type Resource = Omit<Permission, 'action'>;

const resourcesOf: Readonly<Record<string, (input: Input, known: Resources) => readonly Resource[]>> = {
  CreateNetworkInterface: (input, known) => [
    known.newInterface(requestTags(input)),
    known.subnet(textOf(input, 'SubnetId')),
    ...listOf(input, 'Groups').map((id) => known.group(String(id))),
  ],
  DeleteNetworkInterface: (input, known) => [known.interface(textOf(input, 'NetworkInterfaceId'))],
  AttachNetworkInterface: (input, known) => [
    known.interface(textOf(input, 'NetworkInterfaceId')),
    known.instance(textOf(input, 'InstanceId')),
  ],
  DetachNetworkInterface: (input, known) => known.attached(textOf(input, 'AttachmentId')),
  ModifyNetworkInterfaceAttribute: (input, known) =>
    known.interfaceAndInstance(textOf(input, 'NetworkInterfaceId')),
  AssignPrivateIpAddresses: (input, known) => [known.interface(textOf(input, 'NetworkInterfaceId'))],
  AssignIpv6Addresses: (input, known) => [known.interface(textOf(input, 'NetworkInterfaceId'))],
  UnassignPrivateIpAddresses: (input, known) => [known.interface(textOf(input, 'NetworkInterfaceId'))],
  AssociateAddress: (input, known) => [
    known.publicAddress(textOf(input, 'AllocationId')),
    ...known.interfaceAndInstance(textOf(input, 'NetworkInterfaceId')),
  ],
};

/** Tags on a created resource need their own permission. */
function taggingBy(action: string, input: Input, known: Resources): readonly Permission[] {
  const tags = requestTags(input);
  if (action !== 'CreateNetworkInterface' || tags.size === 0) return [];
  const { resource, context = [] } = known.newInterface(tags);
  return [
    { action: 'ec2:CreateTags', resource, context: new Map([...context, ['ec2:CreateAction', action]]) },
  ];
}

class Resources {
  readonly #network: CloudNetwork;

  constructor(network: CloudNetwork) {
    this.#network = network;
  }

  newInterface(context: ReadonlyMap<string, string>): Resource {
    return { resource: this.#arn('network-interface', '*'), context };
  }

  interface(id: string): Resource {
    return this.#resource('network-interface', id, this.#network.interfaces.get(id));
  }

  subnet(id: string): Resource {
    return this.#resource('subnet', id, this.#network.subnets.get(id));
  }

  group(id: string): Resource {
    return this.#resource('security-group', id, this.#network.all('groups').get(id));
  }

  instance(id: string): Resource {
    return this.#resource('instance', id, this.#network.instances.get(id));
  }

  publicAddress(id: string): Resource {
    return this.#resource('elastic-ip', id, this.#network.all('publicAddresses').get(id));
  }

  interfaceAndInstance(id: string): readonly Resource[] {
    const { instanceId } = this.#network.interfaces.get(id) ?? {};
    return [this.interface(id), ...(instanceId === undefined ? [] : [this.instance(instanceId)])];
  }

  /** The two sides of an attachment. */
  attached(attachmentId: string): readonly Resource[] {
    const hasAttachmentId = ({ attachment }: NetworkInterface): boolean => attachment?.id === attachmentId;
    const found = [...this.#network.interfaces.values()].find(hasAttachmentId);
    if (found !== undefined) return this.interfaceAndInstance(found.id);
    return ['network-interface', 'instance'].map((type) => this.#resource(type, '*', undefined));
  }

  #resource(
    type: string,
    id: string,
    record: { readonly tags: Tags; readonly vpcId?: string } | undefined,
  ): Resource {
    const resource = this.#arn(type, id);
    if (record === undefined) return { resource, context: undefined };
    const context = new Map(
      Object.entries(record.tags).map(([key, value]) => [`aws:ResourceTag/${key}`, value]),
    );
    // For instances and public addresses the network is not a condition key.
    if (record.vpcId !== undefined && type !== 'instance')
      context.set('ec2:Vpc', this.#arn('vpc', record.vpcId));
    return { resource, context };
  }

  #arn(type: string, id: string): string {
    const { region, account } = this.#network;
    return `arn:aws:ec2:${region}:${account}:${type}/${id}`;
  }
}

function requestTags(input: Input): ReadonlyMap<string, string> {
  const tags = listOf(input, 'TagSpecifications').flatMap((specification) =>
    isInput(specification) ? listOf(specification, 'Tags') : [],
  );
  return new Map(
    tags.filter(isInput).map((tag) => [`aws:RequestTag/${textOf(tag, 'Key')}`, textOf(tag, 'Value')]),
  );
}

function isInput(value: unknown): value is Input {
  return typeof value === 'object' && value !== null;
}

function listOf(input: Input, name: string): readonly unknown[] {
  const value = input[name];
  return Array.isArray(value) ? value : [];
}

function textOf(input: Input, name: string): string {
  const value = input[name];
  return typeof value === 'string' ? value : '';
}
