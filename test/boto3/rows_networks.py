"""VPCs, subnets, reservations, route tables, security groups, tags, Elastic IPs, zones."""

from table import ERRORS, RESERVATIONS, SUBNET_SIZE, TAGS, page, refused, yields

VPC = page('CreateVpc')
SUBNET = page('CreateSubnet')
TABLES = page('DescribeRouteTables')
GROUPS = page('CreateSecurityGroup')
GROUPS_FOR = page('GetSecurityGroupsForVpc')
CREATE_TAGS = page('CreateTags')
DELETE_TAGS = page('DeleteTags')
ADDRESSES = page('AssociateAddress')
ZONES = page('DescribeAvailabilityZones')


def vpc_of(s):
    return s.ec2.describe_vpcs(VpcIds=[s.vpc])['Vpcs'][0]


def subnet_of(s, subnet):
    return s.ec2.describe_subnets(SubnetIds=[subnet])['Subnets'][0]


def reserve(s, block, type='prefix'):
    made = s.ec2.create_subnet_cidr_reservation(SubnetId=s.subnet, Cidr=block, ReservationType=type)
    return made['SubnetCidrReservation']['SubnetCidrReservationId']


def reservations(s):
    found = s.ec2.get_subnet_cidr_reservations(SubnetId=s.subnet)
    return [one['Cidr'] for one in found['SubnetIpv4CidrReservations']]


def unreserved(s):
    before = s.available()
    s.ec2.delete_subnet_cidr_reservation(SubnetCidrReservationId=reserve(s, '10.0.0.64/26'))
    return before - s.available(), reservations(s)


def table(s):
    return s.ec2.create_route_table(VpcId=s.vpc)['RouteTable']['RouteTableId']


def associated(s):
    made = table(s)
    s.ec2.associate_route_table(RouteTableId=made, SubnetId=s.subnet)
    filters = [{'Name': 'association.subnet-id', 'Values': [s.subnet]}]
    found = s.ec2.describe_route_tables(Filters=filters)['RouteTables']
    return [one['RouteTableId'] for one in found] == [made]


def main_tables(s):
    filters = [{'Name': 'vpc-id', 'Values': [s.vpc]}, {'Name': 'association.main', 'Values': ['true']}]
    return len(s.ec2.describe_route_tables(Filters=filters)['RouteTables'])


def twice_associated(s):
    s.ec2.associate_route_table(RouteTableId=table(s), SubnetId=s.subnet)
    return s.ec2.associate_route_table(RouteTableId=table(s), SubnetId=s.subnet)


def groups_for_vpc(s):
    wanted = s.group
    found = s.ec2.get_security_groups_for_vpc(VpcId=s.vpc)['SecurityGroupForVpcs']
    return sorted(one['GroupName'] for one in found), wanted in [one['GroupId'] for one in found]


def tag(s, *pairs, resources=None):
    tags = [{'Key': key, 'Value': value} for key, value in pairs]
    return s.ec2.create_tags(Resources=resources or [s.eni], Tags=tags)


def tags_after(s, removals):
    tag(s, ('a', '1'), ('b', '2'))
    s.ec2.delete_tags(Resources=[s.eni], **({} if removals is None else {'Tags': removals}))
    return sorted(one['Key'] for one in s.look()['TagSet'])


def described_tags(s):
    tag(s, ('a', '1'))
    filters = [{'Name': 'resource-id', 'Values': [s.eni]}, {'Name': 'resource-type', 'Values': ['network-interface']}, {'Name': 'key', 'Values': ['a']}]
    return s.ec2.describe_tags(Filters=filters)['Tags'] == [{'Key': 'a', 'Value': '1', 'ResourceId': s.eni, 'ResourceType': 'network-interface'}]


def associate(s, allocation=None, **what):
    return s.ec2.associate_address(AllocationId=allocation or s.allocate(), **what)


def shown_on_interface(s):
    allocation = s.allocate()
    associate(s, allocation, NetworkInterfaceId=s.eni)
    found = s.look()['Association']
    [address] = s.ec2.describe_addresses(AllocationIds=[allocation])['Addresses']
    return found['PublicIp'] == address['PublicIp'] and address['NetworkInterfaceId'] == s.eni


def reassociated(s, allow):
    allocation = s.allocate()
    associate(s, allocation, NetworkInterfaceId=s.new_eni())
    associate(s, allocation, NetworkInterfaceId=s.eni, AllowReassociation=allow)
    return 'Association' in s.look()


def disassociated(s):
    made = associate(s, NetworkInterfaceId=s.eni)
    s.ec2.disassociate_address(AssociationId=made['AssociationId'])
    return 'Association' in s.look()


def release_used(s):
    allocation = s.allocate()
    associate(s, allocation, NetworkInterfaceId=s.eni)
    return s.ec2.release_address(AllocationId=allocation)


def free_of_pool(s):
    tags = [{'ResourceType': 'elastic-ip', 'Tags': [{'Key': 'pool', 'Value': s.vpc}]}]
    used = s.allocate(TagSpecifications=tags)
    s.allocate(TagSpecifications=tags)
    associate(s, used, NetworkInterfaceId=s.eni)
    found = s.ec2.describe_addresses(Filters=[{'Name': 'tag:pool', 'Values': [s.vpc]}])['Addresses']
    return len(found), sum('AssociationId' not in one for one in found)


ROWS = [
    # VPCs and subnets
    yields('vpc: its block is associated', VPC, lambda s: vpc_of(s)['CidrBlockAssociationSet'], lambda all: [(one['CidrBlock'], one['CidrBlockState']['State']) for one in all] == [('10.0.0.0/16', 'associated')]),
    yields('vpc: another block', page('AssociateVpcCidrBlock'), lambda s: (s.ec2.associate_vpc_cidr_block(VpcId=s.vpc, CidrBlock='100.64.0.0/16'), len(vpc_of(s)['CidrBlockAssociationSet']))[1], 2),
    yields('vpc: host bits are cleared', VPC, lambda s: s.ec2.create_vpc(CidrBlock='10.5.7.9/16')['Vpc']['CidrBlock'], '10.5.0.0/16'),
    refused('vpc: too large', ERRORS, lambda s: s.ec2.create_vpc(CidrBlock='10.0.0.0/8'), 'InvalidVpc.Range', 'is invalid'),
    refused('vpc: no block', VPC, lambda s: s.ec2.create_vpc(CidrBlock='10.0.0.0'), 'InvalidParameterValue', 'cidrBlock'),
    refused('vpc: an unknown one', ERRORS, lambda s: s.ec2.describe_vpcs(VpcIds=['vpc-00000000000000000']), 'InvalidVpcID.NotFound', "The vpc ID 'vpc-00000000000000000' does not exist"),
    refused('vpc: a malformed one', ERRORS, lambda s: s.ec2.describe_vpcs(VpcIds=['vpc']), 'InvalidVpcID.Malformed', 'Invalid id: "vpc"'),
    refused('vpc: delete one with subnets', page('DeleteVpc'), lambda s: (s.subnet, s.ec2.delete_vpc(VpcId=s.vpc)), 'DependencyViolation', 'has dependencies and cannot be deleted'),
    refused('vpc: deleted', page('DeleteVpc'), lambda s: (s.vpc, s.ec2.delete_vpc(VpcId=s.vpc), vpc_of(s)), 'InvalidVpcID.NotFound'),
    yields('subnet: a /24 has 251', SUBNET_SIZE, lambda s: s.available(), 251),
    yields('subnet: a /28 has 11', SUBNET_SIZE, lambda s: s.available(s.tiny_subnet), 11),
    yields('subnet: zone and its id', SUBNET, lambda s: (found := subnet_of(s, s.far_subnet)) and (found['AvailabilityZone'], found['AvailabilityZoneId']), ('us-east-1b', 'use1-az2')),
    yields('subnet: an instance takes one', SUBNET_SIZE, lambda s: (s.instance, s.available())[1], 250),
    yields('subnet: a stopped instance keeps it', ERRORS, lambda s: (s.ec2.stop_instances(InstanceIds=[s.instance]), s.available())[1], 250),
    yields('subnet: a terminated one gives it back', ERRORS, lambda s: (s.ec2.terminate_instances(InstanceIds=[s.instance]), s.available())[1], 251),
    refused('subnet: outside the VPC', ERRORS, lambda s: s.new_subnet('10.1.0.0/24'), 'InvalidSubnet.Range', "The CIDR '10.1.0.0/24' is invalid"),
    refused('subnet: smaller than /28', ERRORS, lambda s: s.new_subnet('10.0.7.0/29'), 'InvalidSubnet.Range'),
    refused('subnet: overlapping', ERRORS, lambda s: (s.subnet, s.new_subnet('10.0.0.128/25')), 'InvalidSubnet.Conflict', 'conflicts with another subnet'),
    refused('subnet: no such zone', SUBNET, lambda s: s.ec2.create_subnet(VpcId=s.vpc, CidrBlock='10.0.0.0/24', AvailabilityZone='mars-1a'), 'InvalidParameterValue', 'availabilityZone'),
    refused('subnet: an unknown one', ERRORS, lambda s: s.available('subnet-00000000000000000'), 'InvalidSubnetID.NotFound', "The subnet ID 'subnet-00000000000000000' does not exist"),
    refused('subnet: delete one in use', page('DeleteSubnet'), lambda s: (s.eni, s.ec2.delete_subnet(SubnetId=s.subnet)), 'DependencyViolation', 'has dependencies'),
    # Reservations
    yields('reservation: listed', RESERVATIONS, lambda s: (reserve(s, '10.0.0.64/26'), reservations(s))[1], ['10.0.0.64/26']),
    yields('reservation: ended', RESERVATIONS, unreserved, (0, [])),
    refused('reservation: outside the subnet', RESERVATIONS, lambda s: reserve(s, '10.0.1.0/28'), 'InvalidParameterValue'),
    refused('reservation: overlapping', RESERVATIONS, lambda s: (reserve(s, '10.0.0.64/26'), reserve(s, '10.0.0.96/28')), 'InvalidParameterValue', 'conflicts'),
    # Route tables
    yields('route tables: a VPC has a main one', TABLES, main_tables, 1),
    yields('route tables: by subnet', TABLES, associated, True),
    refused('route tables: a subnet has one', ERRORS, twice_associated, 'Resource.AlreadyAssociated'),
    refused('route tables: an unknown one', ERRORS, lambda s: s.ec2.describe_route_tables(RouteTableIds=['rtb-00000000000000000']), 'InvalidRouteTableID.NotFound'),
    refused('route tables: pages longer than a hundred', TABLES, lambda s: s.ec2.describe_route_tables(MaxResults=101), 'InvalidParameterValue', 'maxResults'),
    # Security groups
    yields('groups: of a VPC', GROUPS_FOR, groups_for_vpc, (['default', 'rows'], True)),
    refused('groups: one name twice', ERRORS, lambda s: (s.group, s.new_group(s.vpc)), 'InvalidGroup.Duplicate', 'already exists'),
    refused('groups: the reserved name', ERRORS, lambda s: s.new_group(s.vpc, 'default'), 'InvalidGroup.Reserved'),
    refused('groups: an unknown one', ERRORS, lambda s: s.ec2.describe_security_groups(GroupIds=['sg-00000000000000000']), 'InvalidGroup.NotFound', "The security group 'sg-00000000000000000' does not exist"),
    refused('groups: a malformed one', ERRORS, lambda s: s.ec2.describe_security_groups(GroupIds=['rows']), 'InvalidGroupId.Malformed'),
    refused('groups: of an unknown VPC', ERRORS, lambda s: s.ec2.get_security_groups_for_vpc(VpcId='vpc-00000000000000000'), 'InvalidVpcID.NotFound'),
    refused('groups: delete one in use', page('DeleteSecurityGroup'), lambda s: (s.new_eni(Groups=[s.group]), s.ec2.delete_security_group(GroupId=s.group)), 'DependencyViolation', 'has a dependent object'),
    # Tags
    yields('tags: added', CREATE_TAGS, lambda s: (tag(s, ('a', '1')), s.look()['TagSet'])[1], [{'Key': 'a', 'Value': '1'}]),
    yields('tags: replaced', CREATE_TAGS, lambda s: (tag(s, ('a', '1')), tag(s, ('a', '2')), s.look()['TagSet'])[2], [{'Key': 'a', 'Value': '2'}]),
    yields('tags: described', page('DescribeTags'), described_tags, True),
    yields('tags: removed by key', DELETE_TAGS, lambda s: tags_after(s, [{'Key': 'a'}]), ['b']),
    yields('tags: removed where the value is right', DELETE_TAGS, lambda s: tags_after(s, [{'Key': 'a', 'Value': '9'}, {'Key': 'b', 'Value': '2'}]), ['a']),
    yields('tags: all of them', DELETE_TAGS, lambda s: tags_after(s, None), []),
    refused('tags: on nothing', ERRORS, lambda s: tag(s, ('a', '1'), resources=['eni-00000000000000000']), 'InvalidNetworkInterfaceID.NotFound'),
    refused('tags: on an unknown kind of thing', ERRORS, lambda s: tag(s, ('a', '1'), resources=['thing-00000000']), 'InvalidID', 'is not valid'),
    refused('tags: a reserved key', TAGS, lambda s: tag(s, ('aws:a', '1')), 'InvalidParameterValue', 'reserved for internal use'),
    refused('tags: more than fifty', TAGS, lambda s: tag(s, *[(f'k{n}', 'v') for n in range(51)]), 'TagLimitExceeded'),
    # Elastic IPs
    yields('address: shown on the interface', ADDRESSES, shown_on_interface, True),
    yields('address: moved', ADDRESSES, lambda s: reassociated(s, True), True),
    yields('address: disassociated', page('DisassociateAddress'), disassociated, False),
    yields('address: the free ones of a pool', page('DescribeAddresses'), free_of_pool, (2, 1)),
    yields('address: of an instance with one interface', ADDRESSES, lambda s: (associate(s, InstanceId=s.instance), 'Association' in s.primary_of(s.instance))[1], True),
    refused('address: not moved', ADDRESSES, lambda s: reassociated(s, False), 'Resource.AlreadyAssociated', 'already associated'),
    refused('address: of an instance with two', ERRORS, lambda s: (s.attach(), associate(s, InstanceId=s.instance)), 'InvalidInstanceID', 'multiple interfaces'),
    refused('address: an unknown one', ERRORS, lambda s: associate(s, 'eipalloc-00000000000000000', NetworkInterfaceId=s.eni), 'InvalidAllocationID.NotFound', 'does not exist'),
    refused('address: an unknown interface', ERRORS, lambda s: associate(s, NetworkInterfaceId='eni-00000000000000000'), 'InvalidNetworkInterfaceID.NotFound'),
    refused('address: release one in use', ERRORS, release_used, 'InvalidIPAddress.InUse'),
    refused('address: of an instance that is pending', ERRORS, lambda s: associate(s, NetworkInterfaceId=s.primary_of(s.launch())['NetworkInterfaceId']), 'IncorrectInstanceState', cloud='slow'),
    refused('address: an unknown association', ERRORS, lambda s: s.ec2.disassociate_address(AssociationId='eipassoc-00000000000000000'), 'InvalidAssociationID.NotFound'),
    refused('address: an unknown public one', ERRORS, lambda s: s.ec2.describe_addresses(PublicIps=['192.0.2.1']), 'InvalidAddress.NotFound'),
    # The region
    yields('zones: with their ids', ZONES, lambda s: [(one['ZoneName'], one['ZoneId'], one['State']) for one in s.ec2.describe_availability_zones()['AvailabilityZones']][:2], [('us-east-1a', 'use1-az1', 'available'), ('us-east-1b', 'use1-az2', 'available')]),
    refused('zones: an unknown one', ZONES, lambda s: s.ec2.describe_availability_zones(ZoneNames=['us-east-1z']), 'InvalidParameterValue', 'us-east-1z'),
    yields('regions: this one', page('DescribeRegions'), lambda s: [one['RegionName'] for one in s.ec2.describe_regions()['Regions']], ['us-east-1']),
    yields('account: no default VPC', page('DescribeAccountAttributes'), lambda s: s.ec2.describe_account_attributes(AttributeNames=['default-vpc'])['AccountAttributes'][0]['AttributeValues'], [{'AttributeValue': 'none'}]),
]
