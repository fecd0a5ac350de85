"""What is listed, by what, and page by page."""

import json

from table import ERRORS, TAGS, page, refused, yields

ENIS, INSTANCES = page('DescribeNetworkInterfaces'), page('DescribeInstances')
TYPES, GROUPS = page('DescribeInstanceTypes'), page('DescribeSecurityGroups')
VPCS, SWITCHES = page('DescribeVpcs'), page('DescribeVSwitches')
TAGGED = page('ListTagResources')


def by_token(s, size):
    """Every interface of a VPC, and how many pages that took."""
    found, token, pages = [], None, 0
    while token != '':
        more = {} if token is None else {'NextToken': token}
        answer = s.call('DescribeNetworkInterfaces', VpcId='vpc-main', MaxResults=size, **more)
        found += [one['NetworkInterfaceId'] for one in answer['NetworkInterfaceSets']['NetworkInterfaceSet']]
        token, pages = answer['NextToken'], pages + 1
    return found, pages


def whole_by_token(s):
    few, pages = by_token(s, 90)
    many, _ = by_token(s, 500)
    return few == many, len(set(few)) == len(few), pages > 1


def short(s):
    s.cloud.settings(shortPages=0.5)
    found, _ = by_token(s, 90)
    s.cloud.settings(shortPages=0)
    return found == by_token(s, 500)[0]


def by_number(s):
    pages, number, total = [], 1, 1
    while (number - 1) * 100 < total:
        answer = s.call('DescribeInstances', PageNumber=number, PageSize=100)
        total, number = answer['TotalCount'], number + 1
        pages += [one['InstanceId'] for one in answer['Instances']['Instance']]
    return len(pages) == total == len(set(pages)), total


def token_of_other(s):
    answer = s.call('DescribeNetworkInterfaces', VpcId='vpc-main', MaxResults=2)
    return s.call('DescribeNetworkInterfaces', MaxResults=2, NextToken=answer['NextToken'])


def owned(s, **more):
    tags = [{'Key': 'owner', 'Value': s.token}]
    return s.new_eni(Tag=tags, **more), tags


def found_by_tags(s):
    eni, tags = owned(s)
    s.new_eni(Tag=[{'Key': 'owner', 'Value': 'other'}])
    return s.ids(Tag=tags) == [eni]


def found_by_all_tags(s):
    _, tags = owned(s)
    return s.ids(Tag=[*tags, {'Key': 'else', 'Value': 'x'}])


def found_by_status(s):
    eni, tags = owned(s)
    return s.ids(Tag=tags, Status='Available') == [eni], s.ids(Tag=tags, Status='InUse')


def switch(s, **filters):
    return [one['VSwitchId'] for one in s.call('DescribeVSwitches', **filters)['VSwitches']['VSwitch']]


def listed_tags(s, **filters):
    found = s.call('ListTagResources', ResourceType='instance', **filters)['TagResources']['TagResource']
    return [(one['ResourceId'], one['TagKey'], one['TagValue']) for one in found]


def limits_of(s, name):
    found = s.call('DescribeInstanceTypes', InstanceTypes=[name])['InstanceTypes']['InstanceType']
    return [(one['EniQuantity'], one['EniPrivateIpAddressQuantity']) for one in found]


def all_types(s):
    token, found = None, []
    while token != '':
        answer = s.call('DescribeInstanceTypes', MaxResults=7, **({} if token is None else {'NextToken': token}))
        token = answer['NextToken']
        found += [one['InstanceTypeId'] for one in answer['InstanceTypes']['InstanceType']]
    return len(found) == len(set(found)) > 20


ROWS = [
    yields('interfaces: page by page, each once', ENIS, whole_by_token, (True, True, True)),
    yields('interfaces: pages may be short although more follows', ENIS, short, True),
    yields('interfaces: by ids, without those that do not exist', ENIS, lambda s: s.ids(NetworkInterfaceId=[s.eni, 'eni-none']) == [s.eni], True),
    yields('interfaces: by instance', ENIS, lambda s: s.ids(InstanceId=s.instance) == [s.primary()], True),
    yields('interfaces: by an unknown instance', ENIS, lambda s: s.ids(InstanceId='i-none'), []),
    yields('interfaces: by another VPC', ENIS, lambda s: len(s.ids(VpcId='vpc-other')), 1),
    yields('interfaces: by a tag', TAGS, found_by_tags, True),
    yields('interfaces: by all tags', TAGS, found_by_all_tags, []),
    yields('interfaces: by status', ENIS, found_by_status, (True, [])),
    yields('interfaces: by primary address', ENIS, lambda s: s.ids(PrimaryIpAddress=s.addresses()[0], VpcId='vpc-main') == [s.eni], True),
    yields('interfaces: by any address', ENIS, lambda s: s.ids(PrivateIpAddress=s.assign(1), VpcId='vpc-main') == [s.eni], True),
    refused('interfaces: pages of more than 500', ENIS, lambda s: s.ids(MaxResults=501), 'InvalidMaxResults'),
    refused('interfaces: numbered pages of more than 100', ENIS, lambda s: s.ids(PageSize=101), 'InvalidPageSize'),
    refused('interfaces: more than 100 ids', ENIS, lambda s: s.ids(NetworkInterfaceId=[f'eni-{n}' for n in range(101)]), 'InvalidNetworkInterfaceId'),
    refused('interfaces: the token of another listing', ENIS, token_of_other, 'InvalidNextToken'),
    refused('interfaces: a token that nobody gave', ENIS, lambda s: s.ids(NextToken='abc', MaxResults=5), 'InvalidNextToken'),
    refused('interfaces: an unknown status', ENIS, lambda s: s.ids(Status='Broken'), 'InvalidStatus'),
    yields('instances: page by page', INSTANCES, by_number, (True, 183)),
    yields('instances: by ids', INSTANCES, lambda s: s.call('DescribeInstances', InstanceIds=json.dumps(['i-far', 'i-none']))['TotalCount'], 1),
    yields('instances: by a tag', INSTANCES, lambda s: [one['InstanceId'] for one in s.call('DescribeInstances', Tag=[{'Key': 'where', 'Value': 'far'}])['Instances']['Instance']], ['i-far']),
    yields('instances: their addresses and place', INSTANCES, lambda s: (one := s.call('DescribeInstances', InstanceIds='["i-far"]')['Instances']['Instance'][0]) and (one['Status'], one['ZoneId'], one['VpcAttributes']['VSwitchId'], len(one['NetworkInterfaces']['NetworkInterface'])), ('Running', 'cn-hangzhou-b', 'vsw-far', 1)),
    refused('instances: ids that are no JSON', INSTANCES, lambda s: s.call('DescribeInstances', InstanceIds='i-far'), 'InvalidInstanceIds.Malformed'),
    refused('instances: more than 100 ids', INSTANCES, lambda s: s.call('DescribeInstances', InstanceIds=json.dumps([f'i-{n}' for n in range(101)])), 'InvalidInstanceIds'),
    refused('instances: another region', ERRORS, lambda s: s.call('DescribeInstances', RegionId='cn-beijing'), 'InvalidRegionId.NotFound', 404, lines=('newer',)),
    yields('types: limits of one', TYPES, lambda s: limits_of(s, 'ecs.g7.large'), [(3, 6)]),
    refused('types: more than ten at once', TYPES, lambda s: s.call('DescribeInstanceTypes', InstanceTypes=['ecs.g7.large'] * 11), 'InvalidInstanceTypes'),
    yields('types: an unknown one', TYPES, lambda s: limits_of(s, 'ecs.none.large'), []),
    yields('types: all, page by page', TYPES, all_types, True),
    yields('groups: by VPC', GROUPS, lambda s: sorted(one['SecurityGroupName'] for one in s.call('DescribeSecurityGroups', VpcId='vpc-other')['SecurityGroups']['SecurityGroup']), ['default', 'other']),
    yields('groups: by tags', GROUPS, lambda s: [one['SecurityGroupId'] for one in s.call('DescribeSecurityGroups', Tag=[{'Key': 'purpose', 'Value': 'pods'}])['SecurityGroups']['SecurityGroup']], ['sg-pods']),
    refused('groups: pages of more than 50', GROUPS, lambda s: s.call('DescribeSecurityGroups', PageSize=51), 'InvalidPageSize'),
    yields('VPCs: first and further blocks', VPCS, lambda s: (one := s.call('DescribeVpcs', VpcId='vpc-main')['Vpcs']['Vpc'][0]) and (one['CidrBlock'], one['SecondaryCidrBlocks']['SecondaryCidrBlock']), ('10.0.0.0/8', ['192.168.0.0/16'])),
    yields('VPCs: an unknown one', VPCS, lambda s: s.call('DescribeVpcs', VpcId='vpc-none')['TotalCount'], 0),
    yields('vSwitches: by VPC', SWITCHES, lambda s: switch(s, VpcId='vpc-other'), ['vsw-other']),
    yields('vSwitches: by zone', SWITCHES, lambda s: switch(s, ZoneId='cn-hangzhou-b'), ['vsw-far']),
    yields('vSwitches: tags have other names than those of ECS', SWITCHES, lambda s: s.call('DescribeVSwitches', VSwitchId='vsw-nodes')['VSwitches']['VSwitch'][0]['Tags']['Tag'], [{'Key': 'for', 'Value': 'nodes'}]),
    yields('vSwitches: what is left of one', SWITCHES, lambda s: s.available(s.tiny), 12),
    yields('tags: of a resource', TAGGED, lambda s: listed_tags(s, ResourceId=['i-far']), [('i-far', 'where', 'far')]),
    yields('tags: resources that have one', TAGGED, lambda s: listed_tags(s, Tag=[{'Key': 'where', 'Value': 'far'}]), [('i-far', 'where', 'far')]),
    refused('tags: neither resource nor tag', TAGGED, lambda s: listed_tags(s), 'InvalidResourceId'),
]
