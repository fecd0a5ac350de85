"""Making, changing and deleting network interfaces."""

from table import API, ERRORS, INTERFACES, LIMITS, PREFIXES, SUBNET_SIZE, page, refused, yields

CREATE = page('CreateNetworkInterface')
DELETE = page('DeleteNetworkInterface')
MODIFY = page('ModifyNetworkInterfaceAttribute')
DESCRIBE = page('DescribeNetworkInterfaces')

UNKNOWN_ENI = 'eni-00000000000000000'
UNKNOWN_GROUP = 'sg-00000000000000000'
UNKNOWN_SUBNET = 'subnet-00000000000000000'


def created(s, **what):
    return s.ec2.create_network_interface(SubnetId=s.subnet, **what)['NetworkInterface']


def tagged(type, *tags):
    return [{'ResourceType': type, 'Tags': [{'Key': key, 'Value': value} for key, value in tags]}]


def delete(s, eni=None):
    return s.ec2.delete_network_interface(NetworkInterfaceId=eni or s.eni)


def deleted(s):
    delete(s)
    return s.look()


def given_back(s):
    before = s.available()
    eni = s.new_eni(SecondaryPrivateIpAddressCount=3)
    during = s.available()
    delete(s, eni)
    return before - during, before - s.available()


def delete_attached(s):
    s.attach()
    return delete(s)


def termination(s, wanted):
    attachment = s.attach()
    s.modify(Attachment={'AttachmentId': attachment, 'DeleteOnTermination': wanted})
    return s.look()['Attachment']['DeleteOnTermination']


def changed(s, key, **what):
    s.modify(**what)
    return s.look()[key]


def aligned(prefixes):
    ends = [one.split('.')[3].split('/') for one in prefixes]
    return len(ends) == 3 and all(int(first) % 16 == 0 and length == '28' for first, length in ends)


def primary_and_more(s):
    made = created(s, PrivateIpAddress='10.0.0.50', PrivateIpAddresses=[{'PrivateIpAddress': '10.0.0.51'}])
    return made['PrivateIpAddress'], [one['PrivateIpAddress'] for one in made['PrivateIpAddresses']]


ROWS = [
    # What an interface is made with
    yields('create: the answer says pending', CREATE, lambda s: created(s)['Status'], 'pending'),
    yields('create: it is available at once', CREATE, lambda s: s.look()['Status'], 'available'),
    yields('create: one address, which is the primary one', CREATE, lambda s: [one['Primary'] for one in created(s)['PrivateIpAddresses']], [True]),
    yields('create: the address lies in the subnet', CREATE, lambda s: created(s)['PrivateIpAddress'], lambda one: one.startswith('10.0.0.')),
    yields('create: zone and VPC are the subnet’s', CREATE, lambda s: (made := created(s)) and (made['AvailabilityZone'], made['VpcId'] == s.vpc), ('us-east-1a', True)),
    yields('create: the check of source and destination is on', CREATE, lambda s: created(s)['SourceDestCheck'], True),
    yields('create: no service manages it', CREATE, lambda s: created(s)['RequesterManaged'], False),
    yields('create: the usual type', CREATE, lambda s: created(s)['InterfaceType'], 'interface'),
    yields('create: the default group without any', CREATE, lambda s: [one['GroupName'] for one in created(s)['Groups']], ['default']),
    yields('create: the groups it names', CREATE, lambda s: [one['GroupId'] for one in created(s, Groups=[s.group])['Groups']] == [s.group], True),
    yields('create: the description', CREATE, lambda s: created(s, Description='Headwater (i-1)')['Description'], 'Headwater (i-1)'),
    yields('create: tags', CREATE, lambda s: created(s, TagSpecifications=tagged('network-interface', ('a', 'b')))['TagSet'], [{'Key': 'a', 'Value': 'b'}]),
    yields('create: an ENI id', CREATE, lambda s: s.eni, lambda eni: len(eni) == 21 and eni.startswith('eni-')),
    yields('create: a MAC address', CREATE, lambda s: created(s)['MacAddress'], lambda mac: len(mac.split(':')) == 6),
    yields('create: secondary addresses by count', CREATE, lambda s: len(created(s, SecondaryPrivateIpAddressCount=4)['PrivateIpAddresses']), 5),
    yields('create: certain addresses', CREATE, primary_and_more, ('10.0.0.50', ['10.0.0.50', '10.0.0.51'])),
    yields('create: prefixes by count', PREFIXES, lambda s: len(created(s, Ipv4PrefixCount=2)['Ipv4Prefixes']), 2),
    yields('create: a certain prefix', PREFIXES, lambda s: created(s, Ipv4Prefixes=[{'Ipv4Prefix': '10.0.0.64/28'}])['Ipv4Prefixes'], [{'Ipv4Prefix': '10.0.0.64/28'}]),
    yields('create: prefixes are /28 and aligned', PREFIXES, lambda s: [one['Ipv4Prefix'] for one in created(s, Ipv4PrefixCount=3)['Ipv4Prefixes']], aligned),
    yields('create: an IPv6 prefix', PREFIXES, lambda s: s.look(s.new_eni(s.dual_subnet, Ipv6PrefixCount=1))['Ipv6Prefixes'], lambda all: len(all) == 1 and all[0]['Ipv6Prefix'].endswith('/80')),
    yields('create: an address and its prefixes cost the subnet so much', SUBNET_SIZE, lambda s: (s.available(), s.new_eni(Ipv4PrefixCount=1), s.available())[::2], (251, 234)),
    # What it cannot be made with
    refused('create: an unknown subnet', ERRORS, lambda s: s.new_eni(UNKNOWN_SUBNET), 'InvalidSubnetID.NotFound', f"The subnet ID '{UNKNOWN_SUBNET}' does not exist"),
    refused('create: a malformed subnet', ERRORS, lambda s: s.new_eni('subnet-xyz'), 'InvalidSubnetID.Malformed', 'Invalid id: "subnet-xyz"'),
    refused('create: an unknown group', ERRORS, lambda s: created(s, Groups=[UNKNOWN_GROUP]), 'InvalidSecurityGroupID.NotFound', f"The securityGroup ID '{UNKNOWN_GROUP}' does not exist"),
    refused('create: a malformed group', ERRORS, lambda s: created(s, Groups=['default']), 'InvalidGroupId.Malformed', 'Invalid id: "default"'),
    refused('create: a group of another VPC', ERRORS, lambda s: created(s, Groups=[s.new_group(s.other_vpc)]), 'InvalidParameterValue', 'belong to different networks'),
    refused('create: too many groups', LIMITS, lambda s: created(s, Groups=[s.new_group(s.vpc, f'g{n}') for n in range(6)]), 'SecurityGroupsPerInterfaceLimitExceeded', 'maximum number of security groups'),
    refused('create: an address outside the subnet', ERRORS, lambda s: created(s, PrivateIpAddress='10.0.1.5'), 'InvalidParameterValue', "Address .* does not fall within the subnet's address range"),
    refused('create: the network address', SUBNET_SIZE, lambda s: created(s, PrivateIpAddress='10.0.0.0'), 'InvalidParameterValue', "in subnet's reserved address range"),
    refused('create: the third address', SUBNET_SIZE, lambda s: created(s, PrivateIpAddress='10.0.0.3'), 'InvalidParameterValue', "in subnet's reserved address range"),
    refused('create: the broadcast address', SUBNET_SIZE, lambda s: created(s, PrivateIpAddress='10.0.0.255'), 'InvalidParameterValue', "in subnet's reserved address range"),
    refused('create: no address', ERRORS, lambda s: created(s, PrivateIpAddress='10.0.0'), 'InvalidParameterValue', 'invalid value'),
    refused('create: an address in use', ERRORS, lambda s: created(s, PrivateIpAddress=s.look()['PrivateIpAddress']), 'InvalidIPAddress.InUse', 'already in use'),
    refused('create: an address twice', CREATE, lambda s: created(s, PrivateIpAddress='10.0.0.9', PrivateIpAddresses=[{'PrivateIpAddress': '10.0.0.9'}]), 'InvalidParameterValue', 'Duplicate'),
    refused('create: two primary addresses', CREATE, lambda s: created(s, PrivateIpAddress='10.0.0.9', PrivateIpAddresses=[{'PrivateIpAddress': '10.0.0.10', 'Primary': True}]), 'InvalidParameterValue', 'Only one primary'),
    refused('create: a count and certain addresses', CREATE, lambda s: created(s, SecondaryPrivateIpAddressCount=1, PrivateIpAddresses=[{'PrivateIpAddress': '10.0.0.10'}]), 'InvalidParameterValue', 'one and only one'),
    refused('create: addresses and prefixes by count', CREATE, lambda s: created(s, SecondaryPrivateIpAddressCount=1, Ipv4PrefixCount=1), 'InvalidParameterValue', 'one and only one'),
    refused('create: no secondary address at all', CREATE, lambda s: created(s, SecondaryPrivateIpAddressCount=0), 'InvalidParameterValue', 'must be a positive number'),
    refused('create: a prefix that is not aligned', PREFIXES, lambda s: created(s, Ipv4Prefixes=[{'Ipv4Prefix': '10.0.0.65/28'}]), 'InvalidParameterValue', 'prefix'),
    refused('create: a prefix of /27', PREFIXES, lambda s: created(s, Ipv4Prefixes=[{'Ipv4Prefix': '10.0.0.64/27'}]), 'InvalidParameterValue', 'prefix'),
    refused('create: more addresses than a tiny subnet has', ERRORS, lambda s: s.new_eni(s.tiny_subnet, SecondaryPrivateIpAddressCount=11), 'InsufficientFreeAddressesInSubnet', 'does not have enough free addresses'),
    refused('create: a full subnet', ERRORS, lambda s: (s.fill(s.tiny_subnet, 0), s.new_eni(s.tiny_subnet)), 'InsufficientFreeAddressesInSubnet', 'does not have enough free addresses'),
    refused('create: more than any type carries', ERRORS, lambda s: created(s, SecondaryPrivateIpAddressCount=64), 'PrivateIpAddressLimitExceeded', 'exceed limit'),
    refused('create: a prefix where no block is whole', PREFIXES, lambda s: (s.splinter(s.subnet), created(s, Ipv4PrefixCount=1)), 'InsufficientCidrBlocks', 'does not have enough free cidr blocks'),
    refused('create: more prefixes than addresses', PREFIXES, lambda s: created(s, Ipv4PrefixCount=16), 'InvalidParameterValue', "There aren't sufficient free Ipv4 addresses or prefixes"),
    refused('create: IPv6 in a subnet without', PREFIXES, lambda s: created(s, Ipv6PrefixCount=1), 'InvalidParameterValue', 'IPv6'),
    refused('create: a description with other signs', CREATE, lambda s: created(s, Description='süß'), 'InvalidParameterValue', 'Invalid interface description'),
    refused('create: a description of 256 signs', CREATE, lambda s: created(s, Description='x' * 256), 'InvalidParameterValue', 'less than 256'),
    refused('create: tags for another type of thing', f'{API}/API_TagSpecification.html', lambda s: created(s, TagSpecifications=tagged('instance', ('a', 'b'))), 'InvalidParameter', "'instance' is not a valid taggable resource type"),
    refused('create: a reserved tag', ERRORS, lambda s: created(s, TagSpecifications=tagged('network-interface', ('aws:x', 'y'))), 'InvalidParameterValue', 'reserved for internal use'),
    refused('create: an unknown type', CREATE, lambda s: created(s, InterfaceType='warp'), 'InvalidParameterValue', 'warp'),
    # Deleting
    yields('delete: everything comes back', DELETE, given_back, (4, 0)),
    refused('delete: it is gone', DELETE, deleted, 'InvalidNetworkInterfaceID.NotFound', "The networkInterface ID 'eni-.*' does not exist"),
    refused('delete: what is attached', DELETE, delete_attached, 'InvalidParameterValue', "Network interface 'eni-.*' is currently in use"),
    refused('delete: an unknown one', ERRORS, lambda s: delete(s, UNKNOWN_ENI), 'InvalidNetworkInterfaceID.NotFound', 'does not exist'),
    refused('delete: a malformed one', ERRORS, lambda s: delete(s, 'eni-1'), 'InvalidNetworkInterfaceId.Malformed', 'Invalid id: "eni-1"'),
    refused('delete: twice', DELETE, lambda s: (delete(s), delete(s)), 'InvalidNetworkInterfaceID.NotFound'),
    # Changing
    yields('modify: delete on termination', MODIFY, lambda s: termination(s, True), True),
    yields('modify: and not', MODIFY, lambda s: termination(s, False), False),
    yields('modify: description', MODIFY, lambda s: changed(s, 'Description', Description={'Value': 'new'}), 'new'),
    yields('modify: the check', MODIFY, lambda s: changed(s, 'SourceDestCheck', SourceDestCheck={'Value': False}), False),
    yields('modify: groups', MODIFY, lambda s: changed(s, 'Groups', Groups=[s.group]), lambda groups: [one['GroupName'] for one in groups] == ['rows']),
    refused('modify: nothing', MODIFY, lambda s: s.modify(), 'InvalidParameterCombination', 'No attributes specified'),
    refused('modify: two things at once', MODIFY, lambda s: s.modify(Description={'Value': 'x'}, SourceDestCheck={'Value': True}), 'InvalidParameterCombination', 'multiple attribute types'),
    refused('modify: an attachment without a wish', MODIFY, lambda s: s.modify(Attachment={'AttachmentId': s.attach()}), 'MissingParameter', 'deleteOnTermination'),
    refused('modify: an unknown attachment', ERRORS, lambda s: s.modify(Attachment={'AttachmentId': 'eni-attach-00000000000000000', 'DeleteOnTermination': True}), 'InvalidAttachmentID.NotFound', 'does not exist'),
    refused('modify: an unknown interface', ERRORS, lambda s: s.modify(UNKNOWN_ENI, Description={'Value': 'x'}), 'InvalidNetworkInterfaceID.NotFound'),
    refused('modify: an unknown group', ERRORS, lambda s: s.modify(Groups=[UNKNOWN_GROUP]), 'InvalidGroup.NotFound', 'does not exist'),
    refused('modify: a group of another VPC', ERRORS, lambda s: s.modify(Groups=[s.new_group(s.other_vpc)]), 'InvalidGroup.NotFound', 'different networks'),
    # Describing
    refused('describe: an unknown one', ERRORS, lambda s: s.look(UNKNOWN_ENI), 'InvalidNetworkInterfaceID.NotFound', f"The networkInterface ID '{UNKNOWN_ENI}' does not exist"),
    refused('describe: a malformed one', ERRORS, lambda s: s.look('i-00000000'), 'InvalidNetworkInterfaceId.Malformed', 'expecting "eni-..."'),
    refused('describe: one known and one not', DESCRIBE, lambda s: s.ec2.describe_network_interfaces(NetworkInterfaceIds=[s.eni, UNKNOWN_ENI]), 'InvalidNetworkInterfaceID.NotFound'),
    yields('describe: no attachment where there is none', INTERFACES, lambda s: 'Attachment' in s.look(), False),
]
