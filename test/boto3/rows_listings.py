"""Filters and pages."""

from table import ERRORS, FILTERS, page, refused, yields

ENIS = page('DescribeNetworkInterfaces')
INSTANCES = page('DescribeInstances')


def enis(s, **filters):
    """How many interfaces of the VPC fit; underscores in names stand for dashes, double ones for dots."""
    wanted = [{'Name': 'vpc-id', 'Values': [s.vpc]}]
    for name, values in filters.items():
        shown = name.replace('__', '.').replace('_', '-')
        wanted.append({'Name': shown, 'Values': values if isinstance(values, list) else [values]})
    return len(s.ec2.describe_network_interfaces(Filters=wanted)['NetworkInterfaces'])


def one_attached(s):
    """An attached interface with more addresses, and one that is attached to nothing."""
    s.attach()
    s.assign(PrivateIpAddresses=['10.0.0.200'], AllowReassignment=True)
    s.new_eni(Description='spare', TagSpecifications=[{'ResourceType': 'network-interface', 'Tags': [{'Key': 'pool', 'Value': 'spare one'}]}])
    return s


def tagged(s, name, *values):
    one_attached(s)
    filters = [{'Name': 'vpc-id', 'Values': [s.vpc]}, {'Name': name, 'Values': list(values)}]
    return len(s.ec2.describe_network_interfaces(Filters=filters)['NetworkInterfaces'])


def pages(s, count, size):
    for _ in range(count):
        s.new_eni()
    filters = [{'Name': 'subnet-id', 'Values': [s.subnet]}]
    paginator = s.ec2.get_paginator('describe_network_interfaces')
    found = list(paginator.paginate(Filters=filters, PaginationConfig={'PageSize': size}))
    ids = [one['NetworkInterfaceId'] for page in found for one in page['NetworkInterfaces']]
    return [len(page['NetworkInterfaces']) for page in found], len(set(ids))


def token(s, **change):
    for _ in range(6):
        s.new_eni()
    request = {'Filters': [{'Name': 'subnet-id', 'Values': [s.subnet]}], 'MaxResults': 5}
    given = s.ec2.describe_network_interfaces(**request)['NextToken']
    return s.ec2.describe_network_interfaces(**{**request, 'NextToken': given, **change})


def large_account(s, **what):
    s.cloud.admin('PUT', 'settings', {'refuseUnpaginated': True})
    return len(s.ec2.describe_network_interfaces(**what)['NetworkInterfaces'])


def by_subnet(s):
    return [{'Name': 'subnet-id', 'Values': [s.subnet]}]


ROWS = [
    # Filters
    yields('filter: vpc-id', ENIS, lambda s: enis(one_attached(s)), 3),
    yields('filter: subnet-id', ENIS, lambda s: enis(one_attached(s), subnet_id=s.subnet), 3),
    yields('filter: status', ENIS, lambda s: enis(one_attached(s), status='available'), 1),
    yields('filter: attachment.instance-id', ENIS, lambda s: enis(one_attached(s), attachment__instance_id=s.instance), 2),
    yields('filter: attachment.device-index', ENIS, lambda s: enis(one_attached(s), attachment__device_index='1'), 1),
    yields('filter: attachment.status', ENIS, lambda s: enis(one_attached(s), attachment__status='attached'), 2),
    yields('filter: attachment.delete-on-termination', ENIS, lambda s: enis(one_attached(s), attachment__delete_on_termination='true'), 1),
    yields('filter: private-ip-address finds secondary ones', ENIS, lambda s: enis(one_attached(s), private_ip_address='10.0.0.200'), 1),
    yields('filter: private-ip-address of anything', ENIS, lambda s: enis(one_attached(s), private_ip_address='*'), 3),
    yields('filter: addresses.private-ip-address', ENIS, lambda s: enis(one_attached(s), addresses__private_ip_address='10.0.0.200'), 1),
    yields('filter: description', ENIS, lambda s: enis(one_attached(s), description='spare'), 1),
    yields('filter: group-name', ENIS, lambda s: enis(one_attached(s), group_name='default'), 3),
    yields('filter: availability-zone', ENIS, lambda s: enis(one_attached(s), availability_zone='us-east-1b'), 0),
    yields('filter: network-interface-id', ENIS, lambda s: enis(one_attached(s), network_interface_id=[s.eni]), 1),
    yields('filter: interface-type', ENIS, lambda s: enis(one_attached(s), interface_type='interface'), 3),
    yields('filter: several values are alternatives', FILTERS, lambda s: enis(one_attached(s), status=['available', 'in-use']), 3),
    yields('filter: several filters all hold', FILTERS, lambda s: enis(one_attached(s), status='in-use', attachment__device_index='1'), 1),
    yields('filter: * and ?', FILTERS, lambda s: enis(one_attached(s), description='sp?r*'), 1),
    yields('filter: a backslash takes a sign as it is', FILTERS, lambda s: enis(one_attached(s), description='sp\\*'), 0),
    yields('filter: case matters', FILTERS, lambda s: enis(one_attached(s), description='Spare'), 0),
    yields('filter: a value that nothing has', FILTERS, lambda s: enis(one_attached(s), subnet_id='subnet-00000000000000000'), 0),
    yields('filter: a tag', FILTERS, lambda s: tagged(s, 'tag:pool', 'spare*'), 1),
    yields('filter: a tag key', FILTERS, lambda s: tagged(s, 'tag-key', 'pool'), 1),
    yields('filter: a tag that nothing has', FILTERS, lambda s: tagged(s, 'tag:owner', '*'), 0),
    yields('filter: 200 values', FILTERS, lambda s: enis(one_attached(s), description=[str(n) for n in range(198)] + ['spare']), 1),
    refused('filter: 201 values', ERRORS, lambda s: enis(s, description=[str(n) for n in range(201)]), 'FilterLimitExceeded', 'is 200'),
    refused('filter: an unknown name', ENIS, lambda s: enis(s, colour='red'), 'InvalidParameterValue', "The filter 'colour' is invalid"),
    refused('filter: a name in other letters', ENIS, lambda s: enis(s, VPC_ID='vpc-1'), 'InvalidParameterValue', "The filter 'VPC-ID' is invalid"),
    # Pages
    yields('pages: all of it, once', ENIS, lambda s: pages(s, 13, 5), ([5, 5, 3], 13)),
    yields('pages: no token after the last', ENIS, lambda s: pages(s, 10, 5), ([5, 5], 10)),
    yields('pages: the rest', ENIS, lambda s: len(token(s)['NetworkInterfaces']), 1),
    yields('pages: everything without a size', ENIS, lambda s: (pages(s, 12, 5), enis(s))[1], 12),
    refused('pages: shorter than five', ENIS, lambda s: s.ec2.describe_network_interfaces(MaxResults=4), 'InvalidParameterValue', r'Value \( 4 \) for parameter maxResults is invalid'),
    refused('pages: longer than a thousand', ENIS, lambda s: s.ec2.describe_network_interfaces(MaxResults=1001), 'InvalidParameterValue', r'Value \( 1001 \)'),
    refused('pages: a token of one’s own making', ERRORS, lambda s: token(s, NextToken='abc'), 'InvalidParameterValue', 'Unable to parse pagination token'),
    refused('pages: a token of another listing', ERRORS, lambda s: token(s, Filters=[{'Name': 'status', 'Values': ['available']}]), 'InvalidParameterValue', 'pagination token'),
    refused('pages: ids and a size', ENIS, lambda s: s.ec2.describe_network_interfaces(NetworkInterfaceIds=[s.eni], MaxResults=5), 'InvalidParameterCombination', 'cannot be used with the parameter maxResults'),
    refused('pages: ids and a token', ENIS, lambda s: s.ec2.describe_network_interfaces(NetworkInterfaceIds=[s.eni], NextToken='x'), 'InvalidParameterCombination', 'cannot be used with the parameter nextToken'),
    refused('pages: instances, ids and a size', INSTANCES, lambda s: s.ec2.describe_instances(InstanceIds=[s.instance], MaxResults=5), 'InvalidParameterCombination', 'The parameter instancesSet cannot be used with the parameter maxResults'),
    refused('pages: instances, shorter than five', INSTANCES, lambda s: s.ec2.describe_instances(MaxResults=2), 'InvalidParameterValue', 'Expecting a value greater than 5'),
    # Large accounts
    refused('large account: everything', ENIS, lambda s: large_account(s), 'OperationNotPermitted'),
    refused('large account: filters that do not narrow', ENIS, lambda s: large_account(s, Filters=[{'Name': 'status', 'Values': ['available']}]), 'OperationNotPermitted'),
    yields('large account: filters that do', ENIS, lambda s: (s.eni, large_account(s, Filters=by_subnet(s)))[1], 1),
    yields('large account: pages', ENIS, lambda s: (s.eni, large_account(s, MaxResults=5))[1], lambda count: count > 0),
    yields('large account: ids', ENIS, lambda s: large_account(s, NetworkInterfaceIds=[s.eni]), 1),
    # Instances
    yields('instances: by tag', INSTANCES, lambda s: (s.launch(TagSpecifications=[{'ResourceType': 'instance', 'Tags': [{'Key': 'row', 'Value': s.vpc}]}]), s.ec2.describe_instances(Filters=[{'Name': 'tag:row', 'Values': [s.vpc]}]))[1]['Reservations'], lambda all: len(all) == 1),
    yields('instances: by state', INSTANCES, lambda s: (s.instance, s.ec2.describe_instances(Filters=[{'Name': 'vpc-id', 'Values': [s.vpc]}, {'Name': 'instance-state-name', 'Values': ['stopped']}]))[1]['Reservations'], []),
    yields('instances: one launch is one reservation', INSTANCES, lambda s: (s.ec2.run_instances(ImageId='ami-0123456789abcdef0', InstanceType='m5.large', SubnetId=s.subnet, MinCount=3, MaxCount=3), s.ec2.describe_instances(Filters=[{'Name': 'vpc-id', 'Values': [s.vpc]}]))[1]['Reservations'], lambda all: [len(one['Instances']) for one in all] == [3]),
    refused('instances: an unknown one', ERRORS, lambda s: s.state('i-00000000000000000'), 'InvalidInstanceID.NotFound', 'does not exist'),
]
