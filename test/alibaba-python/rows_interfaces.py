"""Interfaces and their addresses: what is made and changed, and what is refused."""

from table import ERRORS, IDEMPOTENCY, RESERVED, STATES, TAGS, page, refused, yields

CREATE, DELETE = page('CreateNetworkInterface'), page('DeleteNetworkInterface')
ATTACH, DETACH = page('AttachNetworkInterface'), page('DetachNetworkInterface')
ASSIGN, UNASSIGN = page('AssignPrivateIpAddresses'), page('UnassignPrivateIpAddresses')
MODIFY, TAG = page('ModifyNetworkInterfaceAttribute'), page('TagResources')


def repeated(s, **more):
    first, second = (s.create(ClientToken=s.token, **more) for _ in range(2))
    return first['NetworkInterfaceId'] == second['NetworkInterfaceId'], first['RequestId'] == second['RequestId']


def other_request(s):
    s.create(ClientToken=s.token)
    return s.create(ClientToken=s.token, SecondaryPrivateIpAddressCount=3)


def token_of_other_action(s):
    s.assign(1, eni=s.new_eni(ClientToken=s.token), ClientToken=s.token)
    return True


def assigned_twice(s):
    first, second = (s.assign(2, ClientToken=s.token) for _ in range(2))
    return first == second, len(s.addresses())


def assigned_otherwise(s):
    s.assign(2, ClientToken=s.token)
    return s.assign(3, ClientToken=s.token)


def all_of_tiny(s):
    eni = s.new_eni(VSwitchId=s.tiny, SecondaryPrivateIpAddressCount=11)
    return sorted(int(one.split('.')[3]) for one in s.addresses(eni))


def full(s, act):
    s.new_eni(VSwitchId=s.tiny, SecondaryPrivateIpAddressCount=11)
    return act(s)


def assign_in_full(s):
    eni = s.new_eni(VSwitchId=s.tiny, SecondaryPrivateIpAddressCount=10)
    s.new_eni(VSwitchId=s.tiny)
    return s.assign(1, eni=eni)


def given_back(s):
    before = s.available(s.tiny)
    eni = s.new_eni(VSwitchId=s.tiny, SecondaryPrivateIpAddressCount=4)
    during = s.available(s.tiny)
    s.delete(eni)
    return before - during, s.available(s.tiny) - before


def still_held(s):
    eni = s.new_eni(VSwitchId=s.tiny, SecondaryPrivateIpAddressCount=4)
    s.cloud.advance(3700)
    s.delete(eni)
    during = s.available(s.tiny)
    s.cloud.advance(3700)
    return s.available(s.tiny) - during


def three(s):
    for _ in range(3):
        s.attach(s.new_eni())


def delete_attached(s):
    s.attach()
    return s.delete()


def detach_elsewhere(s):
    s.attach()
    return s.detach(instance='i-far')


def reattached(s):
    s.attach()
    s.detach()
    s.attach()
    return s.status()


def changed(s, name, **what):
    s.modify(**what)
    return s.look()[name]


def attached_more(s, count):
    s.attach()
    return s.assign(count)


def overloaded(s):
    return s.attach(s.new_eni(SecondaryPrivateIpAddressCount=6))


def unassigned(s):
    added = s.assign(3)
    s.unassign(*added[:2])
    return s.addresses()[1:] == added[2:]


def unassigned_in_part(s):
    added = s.assign(1)
    try:
        s.unassign(*added, '10.0.63.9')
    finally:
        s.kept = added == s.addresses()[1:]


def unassigned_twice(s):
    added = s.assign(1)
    s.unassign(*added)
    return s.unassign(*added)


def tagged(s, *pairs):
    return s.call('TagResources', ResourceType='eni', ResourceId=[s.eni], Tag=[{'Key': key, 'Value': value} for key, value in pairs])


def tags_of(s):
    return {one['TagKey']: one['TagValue'] for one in s.look()['Tags']['Tag']}


def retagged(s):
    tagged(s, ('cilium-eni-index', '1'), ('a', 'b'))
    tagged(s, ('cilium-eni-index', '2'))
    return tags_of(s)


def untagged(s):
    tagged(s, ('a', 'b'), ('c', 'd'))
    s.call('UntagResources', ResourceType='eni', ResourceId=[s.eni], TagKey=['a'])
    return tags_of(s)


def states(s):
    eni = s.new_eni()
    seen = [s.status(eni)]
    for act in (lambda: None, lambda: s.attach(eni), lambda: None, lambda: s.detach(eni), lambda: None, lambda: s.delete(eni), lambda: None):
        if act() is None and seen[-1] in ('Creating', 'Attaching', 'Detaching', 'Deleting'):
            s.cloud.advance(3700)
        seen.append(s.status(eni))
    return seen


def while_creating(s, act):
    s.eni
    return act(s)


def while_attaching(s, act):
    s.eni
    s.cloud.advance(3700)
    s.attach()
    return act(s)


def while_detaching(s, act):
    while_attaching(s, lambda s: s.cloud.advance(3700))
    s.detach()
    return act(s)


def while_deleting(s, act):
    s.eni
    s.cloud.advance(3700)
    s.delete()
    return act(s)


def two_switches(s):
    made = s.create(VSwitchId='vsw-far')
    return made['ZoneId'], made['VpcId']


ROWS = [
    # What an interface is made with
    yields('create: it is Secondary', CREATE, lambda s: s.create()['Type'], 'Secondary'),
    yields('create: one address, which is the primary one', CREATE, lambda s: [one['Primary'] for one in s.create()['PrivateIpSets']['PrivateIpSet']], [True]),
    yields('create: the primary address is named twice', CREATE, lambda s: (made := s.create(SecondaryPrivateIpAddressCount=2)) and made['PrivateIpAddress'] == made['PrivateIpSets']['PrivateIpSet'][0]['PrivateIpAddress'], True),
    yields('create: so many secondary addresses', CREATE, lambda s: len(s.create(SecondaryPrivateIpAddressCount=9)['PrivateIpSets']['PrivateIpSet']), 10),
    yields('create: zone and VPC are those of the vSwitch', CREATE, two_switches, ('cn-hangzhou-b', 'vpc-main')),
    yields('create: the groups it names', CREATE, lambda s: s.create(SecurityGroupIds=['sg-pods', 'sg-nodes'])['SecurityGroupIds']['SecurityGroupId'], ['sg-pods', 'sg-nodes']),
    yields('create: name and description', CREATE, lambda s: (made := s.create(NetworkInterfaceName='n', Description='d')) and (made['NetworkInterfaceName'], made['Description']), ('n', 'd')),
    yields('create: tags', TAGS, lambda s: s.create(Tag=[{'Key': 'cilium-eni-index', 'Value': '7'}])['Tags']['Tag'], [{'TagKey': 'cilium-eni-index', 'TagValue': '7'}]),
    yields('create: it goes with its instance unless it says otherwise', CREATE, lambda s: (s.look()['DeleteOnRelease'], s.look(s.new_eni(DeleteOnRelease=False))['DeleteOnRelease']), (True, False)),
    yields('create: a certain primary address', CREATE, lambda s: s.create(VSwitchId=s.tiny, PrimaryIpAddress=f'10.1.{s.tiny[8:]}.7')['PrivateIpAddress'].endswith('.7'), True),
    yields('create: every address of a vSwitch but the first and the last three', RESERVED, all_of_tiny, list(range(1, 13))),
    yields('create: the answer of a repeated request is the first one’s', IDEMPOTENCY, repeated, (True, False)),
    yields('create: a token counts for one action', IDEMPOTENCY, token_of_other_action, True),
    refused('create: a token with another request', IDEMPOTENCY, other_request, 'IdempotentParameterMismatch'),
    refused('create: an unknown vSwitch', ERRORS, lambda s: s.create(VSwitchId='vsw-none'), 'InvalidVSwitchId.NotFound', 404),
    refused('create: an unknown group', ERRORS, lambda s: s.create(SecurityGroupId='sg-none'), 'InvalidSecurityGroupId.NotFound', 404),
    refused('create: a group of another VPC', ERRORS, lambda s: s.create(SecurityGroupId='sg-other'), 'InvalidSecurityGroupId.VpcMismatch', 403),
    refused('create: too many groups', ERRORS, lambda s: s.create(SecurityGroupIds=[f'sg-more{number}' for number in range(6)]), 'SecurityGroupPerNetworkInterfaceLimitExceed', 403),
    refused('create: no group', CREATE, lambda s: s.call('CreateNetworkInterface', VSwitchId='vsw-nodes'), 'MissingSecurityGroupId'),
    refused('create: no vSwitch', CREATE, lambda s: s.call('CreateNetworkInterface', SecurityGroupId='sg-pods'), 'MissingVSwitchId'),
    refused('create: both forms of groups', CREATE, lambda s: s.create(SecurityGroupId='sg-pods', SecurityGroupIds=['sg-nodes']), 'InvalidParameter.Conflict'),
    refused('create: more than 49 secondary addresses', CREATE, lambda s: s.create(SecondaryPrivateIpAddressCount=50), 'InvalidSecondaryPrivateIpAddressCount'),
    refused('create: no secondary address by count', CREATE, lambda s: s.create(SecondaryPrivateIpAddressCount=0), 'InvalidSecondaryPrivateIpAddressCount'),
    refused('create: in a full vSwitch', ERRORS, lambda s: full(s, lambda s: s.create(VSwitchId=s.tiny)), 'InvalidVSwitchId.IpNotEnough', 403, 'not enough'),
    refused('create: more than a vSwitch has left', ERRORS, lambda s: s.create(VSwitchId=s.tiny, SecondaryPrivateIpAddressCount=12), 'InvalidVSwitchId.IpNotEnough', 403),
    refused('create: a reserved address', RESERVED, lambda s: s.create(VSwitchId=s.tiny, PrimaryIpAddress=f'10.1.{s.tiny[8:]}.14'), 'InvalidIp.Reserved'),
    refused('create: a reserved tag', TAGS, lambda s: s.create(Tag=[{'Key': 'acs:x', 'Value': 'y'}]), 'InvalidTagKey.Malformed'),
    refused('create: a tag that is a URL', TAGS, lambda s: s.create(Tag=[{'Key': 'x', 'Value': 'https://y'}]), 'InvalidTagValue.Malformed'),
    refused('create: a tag value of 129 characters', TAGS, lambda s: s.create(Tag=[{'Key': 'x', 'Value': 'y' * 129}]), 'InvalidTagValue.Malformed'),
    refused('create: prefixes, which the model has not', CREATE, lambda s: s.create(Ipv4PrefixCount=1), 'UnsupportedParameter'),
    # Deleting
    yields('delete: everything comes back', DELETE, given_back, (5, 0)),
    yields('delete: addresses are held until it is gone', STATES, still_held, 5, cloud='slow'),
    yields('delete: it is gone', DELETE, lambda s: (s.delete(), s.status())[1], None),
    refused('delete: what is attached', STATES, delete_attached, 'InvalidOperation.InvalidEniState'),
    refused('delete: an unknown one', ERRORS, lambda s: s.delete('eni-none'), 'InvalidEniId.NotFound', 404),
    refused('modify: what a service manages', ERRORS, lambda s: s.modify(s.ids(InstanceId='i-managed', NetworkInterfaceName='managed')[0], Description='x'), 'InvalidOperation.EniServiceManaged', 403),
    # Attaching and detaching
    yields('attach: it is in use', ATTACH, lambda s: (s.attach(), s.status())[1], 'InUse'),
    yields('attach: the next index', ATTACH, lambda s: (s.attach(s.new_eni()), s.attach(), s.look()['Attachment']['DeviceIndex'])[2], 2),
    yields('attach: the instance shows it', ATTACH, lambda s: (s.attach(), len(s.ids(InstanceId=s.instance)))[1], 2),
    yields('attach: again after it was detached', ATTACH, reattached, 'InUse'),
    refused('attach: more than the type has', ERRORS, three, 'EniPerInstanceLimitExceeded', 403),
    refused('attach: more addresses than the type carries', ERRORS, overloaded, 'InvalidOperation.Ipv4CountExceeded', 403),
    refused('attach: in another zone', ERRORS, lambda s: s.attach(instance='i-far'), 'InvalidOperation.AvailabilityZoneMismatch', 403),
    refused('attach: in another VPC', ERRORS, lambda s: s.attach(instance='i-other'), 'InvalidOperation.VpcMismatch', 403),
    refused('attach: to an unknown instance', ERRORS, lambda s: s.attach(instance='i-none'), 'InvalidEcsId.NotFound', 404),
    refused('attach: an unknown interface', ERRORS, lambda s: s.attach('eni-none'), 'InvalidEniId.NotFound', 404),
    refused('attach: twice', STATES, lambda s: (s.attach(), s.attach()), 'InvalidOperation.InvalidEniState'),
    refused('attach: on another card', ATTACH, lambda s: s.attach(NetworkCardIndex=1), 'InvalidNetworkCardIndex', lines=('newer',)),
    yields('detach: it is free', DETACH, lambda s: (s.attach(), s.detach(), s.status())[2], 'Available'),
    refused('detach: what is not attached', STATES, lambda s: s.detach(), 'InvalidOperation.InvalidEniState'),
    refused('detach: from another instance', ERRORS, detach_elsewhere, 'InvalidOperation.EniNotAttached'),
    refused('detach: the primary one', DETACH, lambda s: s.detach(s.primary()), 'InvalidOperation.DetachPrimaryEniNotAllowed'),
    # Addresses
    yields('assign: the answer has the new ones', ASSIGN, lambda s: s.assign(2) == s.addresses()[1:], True),
    yields('assign: certain ones', ASSIGN, lambda s: s.assign(eni=s.new_eni(VSwitchId=s.tiny, PrimaryIpAddress=f'10.1.{s.tiny[8:]}.1'), PrivateIpAddress=[f'10.1.{s.tiny[8:]}.9']), lambda all: [one.split('.')[3] for one in all] == ['9']),
    yields('assign: up to what the type carries', ASSIGN, lambda s: len(attached_more(s, 5)), 5),
    yields('assign: once for one token', IDEMPOTENCY, assigned_twice, (True, 3)),
    refused('assign: a token with another request', IDEMPOTENCY, assigned_otherwise, 'IdempotentParameterMismatch'),
    refused('assign: more than the type carries', ERRORS, lambda s: attached_more(s, 6), 'InvalidOperation.Ipv4CountExceeded', 403),
    refused('assign: more than 49 before it is attached', ERRORS, lambda s: (s.assign(40), s.assign(10)), 'SecondaryPrivateIpAddressesLimitExceeded', 403),
    refused('assign: in a full vSwitch', ERRORS, assign_in_full, 'InvalidVSwitchId.IpNotEnough', 403),
    refused('assign: nothing', ASSIGN, lambda s: s.assign(), 'MissingSecondaryPrivateIpAddressCount'),
    refused('assign: a count and certain ones', ASSIGN, lambda s: s.assign(1, PrivateIpAddress=['10.0.60.1']), 'InvalidParameter.Conflict'),
    refused('assign: what is assigned', ERRORS, lambda s: s.assign(PrivateIpAddress=s.assign(1)), 'InvalidIp.IpAssigned', 403),
    refused('assign: what another one has', ERRORS, lambda s: s.assign(PrivateIpAddress=s.assign(1, eni=s.new_eni())), 'InvalidIp.IpAssigned', 403),
    refused('assign: to an unknown interface', ERRORS, lambda s: s.assign(1, eni='eni-none'), 'InvalidEniId.NotFound', 404),
    yields('unassign: these and no others', UNASSIGN, unassigned, True),
    refused('unassign: the primary one', UNASSIGN, lambda s: s.unassign(s.addresses()[0]), 'InvalidIp.PrimaryIp'),
    refused('unassign: all or none', UNASSIGN, unassigned_in_part, 'InvalidIp.IpUnassigned'),
    refused('unassign: twice', UNASSIGN, unassigned_twice, 'InvalidIp.IpUnassigned'),
    refused('unassign: nothing', UNASSIGN, lambda s: s.call('UnassignPrivateIpAddresses', NetworkInterfaceId=s.eni), 'MissingPrivateIpAddress'),
    # Changing
    yields('modify: the name', MODIFY, lambda s: changed(s, 'NetworkInterfaceName', NetworkInterfaceName='new'), 'new'),
    yields('modify: whether it goes with its instance', MODIFY, lambda s: changed(s, 'DeleteOnRelease', DeleteOnRelease=False), False),
    yields('modify: groups', MODIFY, lambda s: changed(s, 'SecurityGroupIds', SecurityGroupId=['sg-nodes']), {'SecurityGroupId': ['sg-nodes']}),
    refused('modify: an unknown group', ERRORS, lambda s: s.modify(SecurityGroupId=['sg-none']), 'InvalidSecurityGroupId.NotFound', 404),
    yields('tag: a new value replaces the old one', TAG, retagged, {'cilium-eni-index': '2', 'a': 'b'}),
    yields('tag: taken away', TAG, untagged, {'c': 'd'}),
    refused('tag: too many', TAGS, lambda s: (tagged(s, *((f'a{n}', '') for n in range(15))), tagged(s, *((f'b{n}', '') for n in range(6)))), 'TagsPerResource.QuotaExceeded'),
    refused('tag: an unknown interface', ERRORS, lambda s: s.call('TagResources', ResourceType='eni', ResourceId=['eni-none'], Tag=[{'Key': 'a', 'Value': 'b'}]), 'InvalidEniId.NotFound', 404),
    # States over time
    yields('states: one after the other', STATES, states, ['Creating', 'Available', 'Attaching', 'InUse', 'Detaching', 'Available', 'Deleting', None], cloud='slow'),
    refused('creating: not attached', STATES, lambda s: while_creating(s, lambda s: s.attach()), 'InvalidOperation.InvalidEniState', 400, 'Creating', cloud='slow'),
    refused('creating: nothing assigned', STATES, lambda s: while_creating(s, lambda s: s.assign(1)), 'InvalidOperation.InvalidEniState', cloud='slow'),
    refused('attaching: nothing assigned', STATES, lambda s: while_attaching(s, lambda s: s.assign(1)), 'InvalidOperation.InvalidEniState', 400, 'Attaching', cloud='slow'),
    refused('attaching: not detached', STATES, lambda s: while_attaching(s, lambda s: s.detach()), 'InvalidOperation.InvalidEniState', cloud='slow'),
    refused('attaching: not deleted', STATES, lambda s: while_attaching(s, lambda s: s.delete()), 'InvalidOperation.InvalidEniState', cloud='slow'),
    refused('detaching: nothing unassigned', STATES, lambda s: while_detaching(s, lambda s: s.unassign('10.0.0.9')), 'InvalidOperation.InvalidEniState', 400, 'Detaching', cloud='slow'),
    refused('deleting: not attached', STATES, lambda s: while_deleting(s, lambda s: s.attach()), 'InvalidOperation.InvalidEniState', 400, 'Deleting', cloud='slow'),
]
