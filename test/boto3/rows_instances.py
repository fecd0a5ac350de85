"""Launching, stopping and terminating instances; instance types."""

from table import ERRORS, IDEMPOTENCY, INTERFACES, page, refused, yields

RUN = page('RunInstances')
DESCRIBE = page('DescribeInstances')
STATUS = page('DescribeInstanceStatus')
TYPES = page('DescribeInstanceTypes')
TERMINATE = page('TerminateInstances')
STOP = page('StopInstances')

IMAGE = 'ami-0123456789abcdef0'


def run(s, count=1, **what):
    launched = s.ec2.run_instances(ImageId=IMAGE, MinCount=what.pop('MinCount', count), MaxCount=count, **what)
    return launched['Instances']


def spec(index=0, **more):
    return {'DeviceIndex': index, **more}


def primary(s, **what):
    return s.primary_of(s.launch(**what))


def with_interfaces(s):
    specs = [spec(SubnetId=s.subnet), spec(1, SubnetId=s.subnet, SecondaryPrivateIpAddressCount=2)]
    instance = s.launch(NetworkInterfaces=specs)
    second = next(one for one in s.enis_of(instance) if one['Attachment']['DeviceIndex'] == 1)
    return len(second['PrivateIpAddresses']), second['Attachment']['DeleteOnTermination']


def with_existing(s):
    instance = s.launch(NetworkInterfaces=[spec(NetworkInterfaceId=s.eni)])
    found = s.primary_of(instance)
    return found['NetworkInterfaceId'] == s.eni, found['Attachment']['DeleteOnTermination']


def as_many_as_fit(s):
    s.fill(s.tiny_subnet, 3)
    return len(run(s, 5, MinCount=2, SubnetId=s.tiny_subnet, InstanceType='m5.large'))


def nothing_left_behind(s):
    s.fill(s.tiny_subnet, 3)
    try:
        run(s, 5, SubnetId=s.tiny_subnet, InstanceType='m5.large')
    except s.ec2.exceptions.ClientError:
        return s.available(s.tiny_subnet)


def same_token(s, **change):
    what = {'SubnetId': s.subnet, 'InstanceType': 'm5.large', 'ClientToken': f'run-{s.subnet}'}
    first = run(s, **what)
    second = run(s, **{**what, **change})
    return first[0]['InstanceId'] == second[0]['InstanceId'], len(s.ec2.describe_instances(Filters=[{'Name': 'subnet-id', 'Values': [s.subnet]}])['Reservations'])


def token_of_the_dead(s):
    what = {'SubnetId': s.subnet, 'InstanceType': 'm5.large', 'ClientToken': f'dead-{s.subnet}'}
    s.ec2.terminate_instances(InstanceIds=[run(s, **what)[0]['InstanceId']])
    return run(s, **what)


def states(s):
    """What an instance goes through in hours."""
    instance = s.launch()
    seen = [s.state(instance)]
    steps = [lambda **_: None, s.ec2.stop_instances, s.ec2.start_instances, s.ec2.terminate_instances]
    for step in steps:
        step(InstanceIds=[instance])
        seen.append(s.state(instance))
        s.cloud.advance(3700)
        seen.append(s.state(instance))
    return seen


def forgotten(s):
    instance = s.launch()
    s.ec2.terminate_instances(InstanceIds=[instance])
    s.cloud.advance(3700)
    s.cloud.advance(37_000)
    return s.state(instance)


def changes(s, act):
    answer = act(InstanceIds=[s.instance])
    [change] = next(value for key, value in answer.items() if key.endswith('Instances'))
    return change['PreviousState']['Name'], change['CurrentState']['Name'], change['CurrentState']['Code']


def info(s, name):
    return s.ec2.describe_instance_types(InstanceTypes=[name])['InstanceTypes'][0]


def network(s, name):
    found = info(s, name)['NetworkInfo']
    return found['MaximumNetworkInterfaces'], found['Ipv4AddressesPerInterface'], found['MaximumNetworkCards']


def type_pages(s, size):
    pages = list(s.ec2.get_paginator('describe_instance_types').paginate(PaginationConfig={'PageSize': size}))
    names = [one['InstanceType'] for page in pages for one in page['InstanceTypes']]
    return len(pages) > 1 and len(names) == len(set(names)) >= 40


def filtered_types(s, name, value):
    return s.ec2.describe_instance_types(Filters=[{'Name': name, 'Values': [value]}])['InstanceTypes']


def status_of(s, **what):
    return [one['InstanceState']['Name'] for one in s.ec2.describe_instance_status(InstanceIds=[s.instance], **what)['InstanceStatuses']]


ROWS = [
    # Launching
    yields('run: the primary interface is deleted on termination', INTERFACES, lambda s: primary(s)['Attachment']['DeleteOnTermination'], True),
    yields('run: it is at index 0', INTERFACES, lambda s: primary(s)['Attachment']['DeviceIndex'], 0),
    yields('run: count', RUN, lambda s: len(run(s, 3, SubnetId=s.subnet, InstanceType='m5.large')), 3),
    yields('run: as many as there is room for', RUN, as_many_as_fit, 3),
    yields('run: nothing is left of what was too much', RUN, nothing_left_behind, 3),
    yields('run: a certain address', RUN, lambda s: primary(s, PrivateIpAddress='10.0.0.44')['PrivateIpAddress'], '10.0.0.44'),
    yields('run: groups', RUN, lambda s: [one['GroupName'] for one in primary(s, SecurityGroupIds=[s.group])['Groups']], ['rows']),
    yields('run: several interfaces', RUN, with_interfaces, (3, False)),
    yields('run: an interface that exists stays', RUN, with_existing, (True, False)),
    yields('run: the first state', page('InstanceState'), lambda s: (state := run(s, SubnetId=s.subnet, InstanceType='m5.large')[0]['State']) and state['Name'], lambda name: name in ('pending', 'running')),
    yields('run: tags on instance and interface', RUN, lambda s: primary(s, TagSpecifications=[{'ResourceType': 'network-interface', 'Tags': [{'Key': 'a', 'Value': 'b'}]}])['TagSet'], [{'Key': 'a', 'Value': 'b'}]),
    yields('run: prefixes', RUN, lambda s: len(s.primary_of(s.launch(NetworkInterfaces=[spec(SubnetId=s.subnet, Ipv4PrefixCount=2)]))['Ipv4Prefixes']), 2),
    refused('run: too few addresses', ERRORS, lambda s: (s.fill(s.tiny_subnet, 3), run(s, 5, SubnetId=s.tiny_subnet, InstanceType='m5.large')), 'InsufficientFreeAddressesInSubnet'),
    refused('run: an unknown type', RUN, lambda s: run(s, SubnetId=s.subnet, InstanceType='m5.huge'), 'InvalidParameterValue', "Invalid value 'm5.huge' for InstanceType"),
    refused('run: more addresses than the type carries', ERRORS, lambda s: s.launch('t3.nano', NetworkInterfaces=[spec(SubnetId=s.subnet, SecondaryPrivateIpAddressCount=2)]), 'InvalidInterface.IpAddressLimitExceeded'),
    refused('run: more interfaces than the type takes', ERRORS, lambda s: s.launch('t3.nano', NetworkInterfaces=[spec(index, SubnetId=s.subnet) for index in range(3)]), 'AttachmentLimitExceeded', 'Interface count 3 exceeds the limit for t3.nano'),
    refused('run: an interface that is in use', ERRORS, lambda s: (s.attach(), s.launch(NetworkInterfaces=[spec(NetworkInterfaceId=s.eni)])), 'InvalidNetworkInterface.InUse', r'Interface: \[eni-'),
    refused('run: one interface for two instances', RUN, lambda s: run(s, 2, NetworkInterfaces=[spec(NetworkInterfaceId=s.eni)]), 'InvalidParameterCombination'),
    refused('run: interfaces and a subnet', RUN, lambda s: run(s, SubnetId=s.subnet, NetworkInterfaces=[spec(SubnetId=s.subnet)]), 'InvalidParameterCombination', 'may not be specified on the same request'),
    refused('run: nowhere', ERRORS, lambda s: run(s, InstanceType='m5.large'), 'VPCIdNotSpecified', 'No default VPC'),
    refused('run: less than one', RUN, lambda s: run(s, 0, SubnetId=s.subnet), 'InvalidParameterValue'),
    refused('run: an unknown group', ERRORS, lambda s: run(s, SubnetId=s.subnet, InstanceType='m5.large', SecurityGroupIds=['sg-00000000000000000']), 'InvalidGroup.NotFound', 'does not exist'),
    yields('run: one token, one launch', IDEMPOTENCY, same_token, (True, 1)),
    refused('run: one token, two wishes', IDEMPOTENCY, lambda s: same_token(s, InstanceType='m5.xlarge'), 'IdempotentParameterMismatch', 'inconsistent'),
    refused('run: the token of a terminated instance', ERRORS, token_of_the_dead, 'IdempotentInstanceTerminated'),
    # States
    yields('state: through a whole life', page('InstanceState'), states, ['pending', 'pending', 'running', 'stopping', 'stopped', 'pending', 'running', 'shutting-down', 'terminated'], cloud='slow'),
    yields('state: terminate', TERMINATE, lambda s: changes(s, s.ec2.terminate_instances), ('running', 'shutting-down', 32)),
    yields('state: terminate twice', TERMINATE, lambda s: (changes(s, s.ec2.terminate_instances), changes(s, s.ec2.terminate_instances))[1], ('terminated', 'terminated', 48)),
    yields('state: stop', STOP, lambda s: changes(s, s.ec2.stop_instances), ('running', 'stopping', 64)),
    yields('state: start', page('StartInstances'), lambda s: (changes(s, s.ec2.stop_instances), changes(s, s.ec2.start_instances))[1], ('stopped', 'pending', 0)),
    yields('state: terminated is seen a while', DESCRIBE, lambda s: (s.ec2.terminate_instances(InstanceIds=[s.instance]), s.state())[1], 'terminated'),
    refused('state: and then forgotten', DESCRIBE, forgotten, 'InvalidInstanceID.NotFound', cloud='slow'),
    refused('state: stop a terminated one', ERRORS, lambda s: (s.ec2.terminate_instances(InstanceIds=[s.instance]), s.ec2.stop_instances(InstanceIds=[s.instance])), 'IncorrectInstanceState', 'is not in a state from which it can be stopped'),
    refused('state: an unknown one', ERRORS, lambda s: s.ec2.terminate_instances(InstanceIds=['i-00000000000000000']), 'InvalidInstanceID.NotFound'),
    refused('state: none', ERRORS, lambda s: s.ec2.terminate_instances(InstanceIds=[]), 'InvalidParameterCombination'),
    yields('status: running ones', STATUS, lambda s: status_of(s), ['running']),
    yields('status: stopped ones are left out', STATUS, lambda s: (s.ec2.stop_instances(InstanceIds=[s.instance]), status_of(s))[1], []),
    yields('status: unless all are wanted', STATUS, lambda s: (s.ec2.stop_instances(InstanceIds=[s.instance]), status_of(s, IncludeAllInstances=True))[1], ['stopped']),
    # Types
    yields('type: m5.large', INTERFACES, lambda s: network(s, 'm5.large'), (3, 10, 1)),
    yields('type: m5.xlarge', INTERFACES, lambda s: network(s, 'm5.xlarge'), (4, 15, 1)),
    yields('type: m5.metal', INTERFACES, lambda s: network(s, 'm5.metal'), (15, 50, 1)),
    yields('type: p4d.24xlarge', INTERFACES, lambda s: network(s, 'p4d.24xlarge'), (60, 50, 4)),
    yields('type: m3.large has no IPv6', INTERFACES, lambda s: info(s, 'm3.large')['NetworkInfo']['Ipv6Supported'], False),
    yields('type: hypervisors', TYPES, lambda s: (info(s, 'm5.large')['Hypervisor'], info(s, 'm4.large')['Hypervisor'], 'Hypervisor' in info(s, 'm5.metal'), info(s, 'm5.metal')['BareMetal']), ('nitro', 'xen', False, True)),
    yields('type: pages', TYPES, lambda s: type_pages(s, 7), True),
    yields('type: filters', TYPES, lambda s: filtered_types(s, 'processor-info.supported-architecture', 'arm64'), lambda all: len(all) > 3 and all[0]['ProcessorInfo']['SupportedArchitectures'] == ['arm64']),
    refused('type: an unknown one', ERRORS, lambda s: info(s, 'm5.huge'), 'InvalidInstanceType', r'\[m5\.huge\]'),
    refused('type: pages too short', TYPES, lambda s: s.ec2.describe_instance_types(MaxResults=4), 'InvalidMaxResults', r'from \( 5 \) to  \( 100 \)'),
    refused('type: pages too long', TYPES, lambda s: s.ec2.describe_instance_types(MaxResults=101), 'InvalidMaxResults'),
]
