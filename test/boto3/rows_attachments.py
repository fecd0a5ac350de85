"""Attaching and detaching: places, limits, states over time."""

from table import ERRORS, INTERFACES, page, refused, yields

ATTACH = page('AttachNetworkInterface')
DETACH = page('DetachNetworkInterface')
TERMINATE = page('TerminateInstances')

UNKNOWN_ENI = 'eni-00000000000000000'
UNKNOWN_INSTANCE = 'i-00000000000000000'


def detach(s, attachment, **more):
    return s.ec2.detach_network_interface(AttachmentId=attachment, **more)


def attached(s):
    attachment = s.attach(index=2)
    found = s.look()
    kept = found['Attachment']
    return found['Status'], kept['Status'], kept['DeviceIndex'], kept['InstanceId'] == s.instance, kept['AttachmentId'] == attachment


def round_trip(s):
    detach(s, s.attach())
    return s.look()['Status'], len(s.enis_of(s.instance))


def again(s):
    detach(s, s.attach())
    return s.attach()


def primary_attachment(s):
    return s.primary_of(s.instance)['Attachment']


def full(s, type, limit, subnet=None):
    """Attaches until the type is full, then one more."""
    instance = s.launch(type, subnet)
    for index in range(1, limit + 1):
        s.attach(s.new_eni(subnet), index, instance)


def cards(s, card, count, first=1):
    instance = s.launch('p4d.24xlarge')
    for index in range(first, first + count):
        s.attach(s.new_eni(), index, instance, NetworkCardIndex=card)
    return len(s.enis_of(instance))


def overloaded(s, type, **carries):
    return s.attach(s.new_eni(**carries), 1, s.launch(type))


def in_time(s):
    """The states of an attachment while the cloud's hours pass."""
    instance = s.launch()
    s.cloud.advance(3700)
    attachment = s.attach(instance=instance)
    seen = [s.look()['Attachment']['Status']]
    s.cloud.advance(3700)
    seen.append(s.look()['Attachment']['Status'])
    detach(s, attachment)
    seen.append(s.look()['Attachment']['Status'])
    seen.append(s.look()['Status'])
    s.cloud.advance(3700)
    found = s.look()
    seen += [found['Status'], 'Attachment' in found]
    return seen


def while_detaching(s, act):
    instance = s.launch()
    s.cloud.advance(3700)
    attachment = s.attach(instance=instance)
    s.cloud.advance(3700)
    detach(s, attachment)
    return act(instance, attachment)


def launching(s):
    return s.attach(instance=s.launch())


def after(s, act, seconds):
    """Attaches so many seconds after something was done to a running instance."""
    instance = s.launch()
    s.cloud.advance(3700)
    act(InstanceIds=[instance])
    s.cloud.advance(seconds)
    return s.attach(instance=instance)


def kept_and_gone(s):
    """What becomes of the interfaces of a terminated instance."""
    kept, gone = s.new_eni(), s.new_eni()
    s.attach(kept, 1)
    s.modify(gone, Attachment={'AttachmentId': s.attach(gone, 2), 'DeleteOnTermination': True})
    primary = s.primary_of(s.instance)['NetworkInterfaceId']
    s.ec2.terminate_instances(InstanceIds=[s.instance])
    filters = [{'Name': 'subnet-id', 'Values': [s.subnet]}]
    left = [one['NetworkInterfaceId'] for one in s.ec2.describe_network_interfaces(Filters=filters)['NetworkInterfaces']]
    return kept in left, gone in left, primary in left


ROWS = [
    # What an attachment is
    yields('attach: in use at its place', ATTACH, attached, ('in-use', 'attached', 2, True, True)),
    yields('attach: not deleted on termination', ATTACH, lambda s: (s.attach(), s.look()['Attachment']['DeleteOnTermination'])[1], False),
    yields('attach: an attachment id', ATTACH, lambda s: s.attach(), lambda one: one.startswith('eni-attach-')),
    yields('attach: the network card', ATTACH, lambda s: s.ec2.attach_network_interface(NetworkInterfaceId=s.eni, InstanceId=s.instance, DeviceIndex=1, NetworkCardIndex=0)['NetworkCardIndex'], 0),
    yields('attach: shown with the instance', page('DescribeInstances'), lambda s: (s.attach(), s.ec2.describe_instances(InstanceIds=[s.instance])['Reservations'][0]['Instances'][0]['NetworkInterfaces'])[1], lambda all: sorted(one['Attachment']['DeviceIndex'] for one in all) == [0, 1]),
    yields('attach: indexes need not be dense', ATTACH, lambda s: (s.attach(index=7), s.look()['Attachment']['DeviceIndex'])[1], 7),
    # Refusals
    refused('attach: a taken index', ATTACH, lambda s: (s.attach(), s.attach(s.new_eni())), 'InvalidParameterValue', r"Instance 'i-\w+' already has an interface attached at device index '1'\."),
    refused('attach: index 0', ATTACH, lambda s: s.attach(index=0), 'InvalidParameterValue', "attached at device index '0'"),
    refused('attach: a negative index', ATTACH, lambda s: s.attach(index=-1), 'InvalidParameterValue'),
    refused('attach: an attached interface', ERRORS, lambda s: (s.attach(), s.attach(index=2)), 'InvalidNetworkInterface.InUse', r'Interface: \[eni-\w+\] in use'),
    refused('attach: one that another instance has', ERRORS, lambda s: (s.attach(), s.attach(instance=s.launch())), 'InvalidNetworkInterface.InUse'),
    refused('attach: another zone', ATTACH, lambda s: s.attach(s.new_eni(s.far_subnet)), 'InvalidParameterCombination', 'not in the same availability zone'),
    refused('attach: an unknown interface', ERRORS, lambda s: s.attach(UNKNOWN_ENI), 'InvalidNetworkInterfaceID.NotFound', 'does not exist'),
    refused('attach: an unknown instance', ERRORS, lambda s: s.attach(instance=UNKNOWN_INSTANCE), 'InvalidInstanceID.NotFound', f"The instance ID '{UNKNOWN_INSTANCE}' does not exist"),
    refused('attach: a malformed instance', ERRORS, lambda s: s.attach(instance='i-1'), 'InvalidInstanceID.Malformed', 'Invalid id: "i-1"'),
    refused('attach: a malformed interface', ERRORS, lambda s: s.attach('eni-1'), 'InvalidNetworkInterfaceId.Malformed'),
    refused('attach: an interface id for an instance', ERRORS, lambda s: s.attach(instance=s.eni), 'InvalidInstanceID.Malformed'),
    # Limits
    refused('limit: m5.large takes three', INTERFACES, lambda s: full(s, 'm5.large', 3), 'AttachmentLimitExceeded', 'Interface count 4 exceeds the limit for m5.large'),
    refused('limit: t3.nano takes two', INTERFACES, lambda s: full(s, 't3.nano', 2), 'AttachmentLimitExceeded', 'Interface count 3 exceeds the limit for t3.nano'),
    refused('limit: m5.4xlarge takes eight', INTERFACES, lambda s: full(s, 'm5.4xlarge', 8), 'AttachmentLimitExceeded', 'Interface count 9'),
    refused('limit: m4.large takes two', INTERFACES, lambda s: full(s, 'm4.large', 2), 'AttachmentLimitExceeded'),
    refused('limit: c7g.xlarge takes four', INTERFACES, lambda s: full(s, 'c7g.xlarge', 4), 'AttachmentLimitExceeded'),
    yields('cards: the second has indexes of its own', ATTACH, lambda s: cards(s, 1, 15), 16),
    refused('cards: one card is full before the type is', ATTACH, lambda s: cards(s, 1, 16), 'AttachmentLimitExceeded'),
    refused('cards: one that is not there', ATTACH, lambda s: cards(s, 4, 1), 'InvalidParameterValue', 'networkCardIndex'),
    refused('cards: m5.large has one', ATTACH, lambda s: s.attach(NetworkCardIndex=1), 'InvalidParameterValue', 'networkCardIndex'),
    refused('limit: an interface that carries too much', INTERFACES, lambda s: overloaded(s, 'm5.large', SecondaryPrivateIpAddressCount=10), 'PrivateIpAddressLimitExceeded'),
    refused('limit: one with prefixes on a type without', INTERFACES, lambda s: overloaded(s, 'm4.xlarge', Ipv4PrefixCount=1), 'UnsupportedOperation'),
    refused('type: an adapter on a type without', INTERFACES, lambda s: overloaded(s, 'm5.large', InterfaceType='efa'), 'InvalidParameterCombination', 'Elastic Fabric'),
    # Detaching
    yields('detach: available again', DETACH, round_trip, ('available', 1)),
    yields('detach: it can be attached again', DETACH, again, lambda one: one.startswith('eni-attach-')),
    refused('detach: the primary interface', DETACH, lambda s: detach(s, primary_attachment(s)['AttachmentId']), 'OperationNotPermitted', 'device index 0 cannot be detached'),
    refused('detach: nor by force', DETACH, lambda s: detach(s, primary_attachment(s)['AttachmentId'], Force=True), 'OperationNotPermitted'),
    refused('detach: an unknown attachment', ERRORS, lambda s: detach(s, 'eni-attach-00000000000000000'), 'InvalidAttachmentID.NotFound', 'does not exist'),
    refused('detach: a malformed attachment', ERRORS, lambda s: detach(s, s.eni), 'InvalidNetworkInterfaceAttachmentId.Malformed'),
    refused('detach: twice', DETACH, lambda s: (attachment := s.attach()) and (detach(s, attachment), detach(s, attachment)), 'InvalidAttachmentID.NotFound'),
    # Time
    yields('time: attaching, attached, detaching, available', ATTACH, in_time, ['attaching', 'attached', 'detaching', 'in-use', 'available', False], cloud='slow'),
    refused('time: detaching, and attached elsewhere', ERRORS, lambda s: while_detaching(s, lambda instance, _: s.attach(instance=instance, index=3)), 'InvalidNetworkInterface.InUse', cloud='slow'),
    refused('time: detaching, and the index still taken', ATTACH, lambda s: while_detaching(s, lambda instance, _: s.attach(s.new_eni(), instance=instance)), 'InvalidParameterValue', 'already has an interface', cloud='slow'),
    refused('time: detaching, and deleted', page('DeleteNetworkInterface'), lambda s: while_detaching(s, lambda *_: s.ec2.delete_network_interface(NetworkInterfaceId=s.eni)), 'InvalidParameterValue', 'currently in use', cloud='slow'),
    refused('time: detaching, and again', DETACH, lambda s: while_detaching(s, lambda _, attachment: detach(s, attachment)), 'IncorrectState', cloud='slow'),
    refused('time: to an instance that is pending', ERRORS, launching, 'IncorrectState', r"Instance 'i-\w+' is not 'running'\.", cloud='slow'),
    refused('time: to one that is stopping', ERRORS, lambda s: after(s, s.ec2.stop_instances, 1), 'IncorrectState', "is not 'running'", cloud='slow'),
    yields('time: to one that is stopped', INTERFACES, lambda s: after(s, s.ec2.stop_instances, 3700), lambda one: one.startswith('eni-attach-'), cloud='slow'),
    refused('time: to one that shuts down', ERRORS, lambda s: after(s, s.ec2.terminate_instances, 1), 'IncorrectState', "is not 'running'", cloud='slow'),
    refused('time: to one that is terminated', ERRORS, lambda s: after(s, s.ec2.terminate_instances, 3700), 'IncorrectState', "is not 'running'", cloud='slow'),
    yields('terminate: keeps what is not to be deleted', TERMINATE, kept_and_gone, (True, False, False)),
]
