// A rig for tests of reads: an EC2 with given answers, page by page, and a record of the requests.
import type { Ec2NetworkInterface } from '../../../../src/providers/aws/ec2-api.ts';
import type { ReadOptions } from '../../../../src/providers/aws/read-list.ts';
import { ec2Interface } from './ec2-shapes.ts';
import { type Answering, type Ec2ClientRig, ec2ClientRig } from './ec2-client-rig.ts';

export const options: ReadOptions = {
  pageSize: 1000,
  instanceTags: {},
  subnetIds: [],
  subnetTags: {},
  tolerance: 'few',
};
export const networks = {
  kind: 'all',
  networkIds: ['vpc-00000001', 'vpc-00000002'],
  instanceIds: [],
} as const;
export const instances = { kind: 'instances', instanceIds: ['i-00000001', 'i-00000002'] } as const;

/** EC2 with these answers to each action, page by page. */
export function ec2(pages: Readonly<Record<string, readonly object[]>>): Ec2ClientRig {
  const given = new Map<string, number>();
  const answering: Answering = ({ action }) => {
    const page = given.get(action) ?? 0;
    given.set(action, page + 1);
    const answer = pages[action]?.[page];
    if (answer === undefined) throw new Error(`${action} is not expected`);
    return answer;
  };
  return ec2ClientRig(answering);
}

/** A valid answer of EC2 that Headwater cannot use. */
export function withoutIpv4(NetworkInterfaceId: string): Ec2NetworkInterface {
  return ec2Interface({ NetworkInterfaceId, PrivateIpAddress: undefined, PrivateIpAddresses: [] });
}

export function described(...states: (readonly [id: string, state: string | undefined])[]): object {
  return {
    Reservations: states.map(([InstanceId, Name]) => ({ Instances: [{ InstanceId, State: { Name } }] })),
  };
}
