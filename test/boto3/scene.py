"""What one row acts in: a VPC of its own, so that no row sees another's addresses.

Interfaces in the subnet of zone a get the addresses from 10.0.0.20 on, so that a row can name others without meeting
one that was handed out by chance.
"""

import functools
import itertools


class Scene:
    def __init__(self, cloud):
        self.cloud = cloud
        self.ec2 = cloud.ec2
        self._low = itertools.count(20)

    @functools.cached_property
    def vpc(self):
        return self.ec2.create_vpc(CidrBlock='10.0.0.0/16')['Vpc']['VpcId']

    @functools.cached_property
    def other_vpc(self):
        return self.ec2.create_vpc(CidrBlock='10.9.0.0/16')['Vpc']['VpcId']

    def new_subnet(self, block, zone='a', **more):
        made = self.ec2.create_subnet(VpcId=self.vpc, CidrBlock=block, AvailabilityZone=f'us-east-1{zone}', **more)
        return made['Subnet']['SubnetId']

    @functools.cached_property
    def subnet(self):
        """10.0.0.0/24 in zone a."""
        return self.new_subnet('10.0.0.0/24')

    @functools.cached_property
    def far_subnet(self):
        """10.0.1.0/24 in zone b."""
        return self.new_subnet('10.0.1.0/24', 'b')

    @functools.cached_property
    def tiny_subnet(self):
        """10.0.2.0/28 in zone a: 11 addresses, no prefix."""
        return self.new_subnet('10.0.2.0/28')

    @functools.cached_property
    def dual_subnet(self):
        """10.0.3.0/24 in zone a with an IPv6 block of its own."""
        self.ec2.associate_vpc_cidr_block(VpcId=self.vpc, Ipv6CidrBlock='2001:db8:1::/56')
        return self.new_subnet('10.0.3.0/24', Ipv6CidrBlock='2001:db8:1:3::/64')

    @functools.cached_property
    def group(self):
        return self.new_group(self.vpc)

    def new_group(self, vpc, name='rows'):
        made = self.ec2.create_security_group(GroupName=name, Description='rows', VpcId=vpc)
        return made['GroupId']

    @functools.cached_property
    def instance(self):
        """An m5.large in zone a."""
        return self.launch()

    def launch(self, type='m5.large', subnet=None, **more):
        if 'NetworkInterfaces' not in more:
            more = {**self._place(subnet, more), **more}
        image = 'ami-0123456789abcdef0'
        launched = self.ec2.run_instances(ImageId=image, InstanceType=type, MinCount=1, MaxCount=1, **more)
        return launched['Instances'][0]['InstanceId']

    def new_eni(self, subnet=None, **more):
        made = self.ec2.create_network_interface(**self._place(subnet, more), **more)
        return made['NetworkInterface']['NetworkInterfaceId']

    def _place(self, subnet, more):
        if subnet is not None or 'PrivateIpAddress' in more:
            return {'SubnetId': subnet or self.subnet}
        return {'SubnetId': self.subnet, 'PrivateIpAddress': f'10.0.0.{next(self._low)}'}

    @functools.cached_property
    def eni(self):
        """An interface in the subnet of zone a, attached to nothing."""
        return self.new_eni()

    def attach(self, eni=None, index=1, instance=None, **more):
        answer = self.ec2.attach_network_interface(
            NetworkInterfaceId=eni or self.eni, InstanceId=instance or self.instance, DeviceIndex=index, **more
        )
        return answer['AttachmentId']

    def assign(self, eni=None, **what):
        return self.ec2.assign_private_ip_addresses(NetworkInterfaceId=eni or self.eni, **what)

    def unassign(self, eni=None, **what):
        return self.ec2.unassign_private_ip_addresses(NetworkInterfaceId=eni or self.eni, **what)

    def modify(self, eni=None, **what):
        return self.ec2.modify_network_interface_attribute(NetworkInterfaceId=eni or self.eni, **what)

    def look(self, eni=None):
        found = self.ec2.describe_network_interfaces(NetworkInterfaceIds=[eni or self.eni])
        return found['NetworkInterfaces'][0]

    def enis_of(self, instance):
        filters = [{'Name': 'attachment.instance-id', 'Values': [instance]}]
        return self.ec2.describe_network_interfaces(Filters=filters)['NetworkInterfaces']

    def primary_of(self, instance):
        return next(one for one in self.enis_of(instance) if one['Attachment']['DeviceIndex'] == 0)

    def addresses(self, eni=None):
        return [one['PrivateIpAddress'] for one in self.look(eni)['PrivateIpAddresses']]

    def prefixes(self, eni=None):
        return [one['Ipv4Prefix'] for one in self.look(eni).get('Ipv4Prefixes', [])]

    def available(self, subnet=None):
        return self.ec2.describe_subnets(SubnetIds=[subnet or self.subnet])['Subnets'][0]['AvailableIpAddressCount']

    def state(self, instance=None):
        found = self.ec2.describe_instances(InstanceIds=[instance or self.instance])
        return found['Reservations'][0]['Instances'][0]['State']['Name']

    def fill(self, subnet, left):
        """Takes addresses until so many are left."""
        while self.available(subnet) > left:
            wanted = min(self.available(subnet) - left, 49)
            self.new_eni(subnet, **({'SecondaryPrivateIpAddressCount': wanted - 1} if wanted > 1 else {}))

    def splinter(self, subnet, base='10.0.0'):
        """Takes one address of every /28 of a /24, so that no whole block is left."""
        for first in range(16, 240, 16):
            self.new_eni(subnet, PrivateIpAddress=f'{base}.{first}')

    def allocate(self, **more):
        return self.ec2.allocate_address(Domain='vpc', **more)['AllocationId']
