// Answers of EC2 for tests: a complete one of each kind, with the changes that a test gives.
import type { Ec2NetworkInterface, Ec2Subnet } from '../../../../src/providers/aws/ec2-api.ts';

export function ec2Interface(change: Partial<Ec2NetworkInterface> = {}): Ec2NetworkInterface {
  return {
    NetworkInterfaceId: 'eni-1',
    Description: 'first',
    VpcId: 'vpc-00000001',
    SubnetId: 'subnet-1',
    AvailabilityZone: 'us-west-1a',
    MacAddress: '02:00:00:00:00:01',
    PrivateIpAddress: '10.0.0.4',
    PrivateIpAddresses: [
      { PrivateIpAddress: '10.0.0.4', Primary: true },
      { PrivateIpAddress: '10.0.0.10', Primary: false },
    ],
    Ipv4Prefixes: [],
    Groups: [{ GroupId: 'sg-2' }, { GroupId: 'sg-1' }],
    TagSet: [{ Key: 'name', Value: 'one' }],
    InterfaceType: 'interface',
    RequesterManaged: false,
    Attachment: ec2Attachment(),
    ...change,
  };
}

/** An EFA without IP, as a p5 has one on each of its cards. */
export function efaOnly(networkCard: number, change: Partial<Ec2NetworkInterface> = {}): Ec2NetworkInterface {
  const { PrivateIpAddress: _, ...rest } = ec2Interface();
  return {
    ...rest,
    NetworkInterfaceId: `eni-e${networkCard}`,
    PrivateIpAddresses: [],
    InterfaceType: 'efa-only',
    Attachment: ec2Attachment({ DeviceIndex: 1, NetworkCardIndex: networkCard }),
    ...change,
  };
}

export function ec2Attachment(
  change: Partial<NonNullable<Ec2NetworkInterface['Attachment']>> = {},
): NonNullable<Ec2NetworkInterface['Attachment']> {
  return {
    AttachmentId: 'eni-attach-1',
    InstanceId: 'i-00000001',
    DeviceIndex: 0,
    NetworkCardIndex: 0,
    Status: 'attached',
    DeleteOnTermination: true,
    ...change,
  };
}

export function ec2Subnet(change: Partial<Ec2Subnet> = {}): Ec2Subnet {
  return {
    SubnetId: 'subnet-1',
    CidrBlock: '10.0.0.0/24',
    VpcId: 'vpc-00000001',
    AvailabilityZone: 'us-west-1a',
    AvailableIpAddressCount: 200,
    Tags: [],
    ...change,
  };
}
