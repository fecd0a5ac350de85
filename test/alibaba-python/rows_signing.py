"""Who asks, and whether the request is one at all."""

from cloud import KEY, SECRET
from table import ERRORS, METADATA, OLDER_SIGNING, RAM, SIGNING, refused, yields

TEMPORARY = {'key': 'STS.temporary001', 'secret': 'temporary-secret'}
READER = {'key': 'LTAIreader000001', 'secret': 'reader-secret'}
ODD = 'a b+c/ü*~!(\'")&=%'


def instances(call, **more):
    return call('DescribeInstances', InstanceIds='["i-far"]', **more)['TotalCount']


def tagged_oddly(s):
    s.call('TagResources', ResourceType='instance', ResourceId=[s.instance], Tag=[{'Key': ODD, 'Value': ODD}])
    found = s.call('DescribeInstances', Tag=[{'Key': ODD, 'Value': ODD}])['Instances']['Instance']
    return s.instance in [one['InstanceId'] for one in found]


def role_keys(s):
    session = s.cloud.meta('api/token', 'PUT', {'X-aliyun-ecs-metadata-token-ttl-seconds': '60'})
    headers = {'X-aliyun-ecs-metadata-token': session}
    role = s.cloud.meta('meta-data/ram/security-credentials/', headers=headers)
    return role, '"AccessKeyId":"STS.temporary001"' in s.cloud.meta(f'meta-data/ram/security-credentials/{role}', headers=headers)


ROWS = [
    yields('signature: of a known key', SIGNING, lambda s: instances(s.call), 1),
    yields('signature: over every sign', SIGNING, tagged_oddly, True),
    yields('signature: of a temporary key with its token', SIGNING, lambda s: instances(s.as_other(**TEMPORARY, token='temporary-token')), 1),
    refused('signature: of a temporary key without its token', SIGNING, lambda s: instances(s.as_other(**TEMPORARY)), 'MissingSecurityToken'),
    refused('signature: of a temporary key with another token', SIGNING, lambda s: instances(s.as_other(**TEMPORARY, token='other')), 'InvalidSecurityToken.MismatchWithAccessKey'),
    refused('signature: with another secret', ERRORS, lambda s: instances(s.as_other(key=KEY, secret='other')), 'SignatureDoesNotMatch', 400, '', lines=('newer',)),
    # This client compares what it has signed with what the answer says, and blames the secret if they are the same.
    refused('signature: with another secret, over the same text', OLDER_SIGNING, lambda s: instances(s.as_other(key=KEY, secret='other')), 'InvalidAccessKeySecret', 400, '', lines=('older',)),
    refused('signature: of an unknown key', ERRORS, lambda s: instances(s.as_other(key='LTAIunknown00001', secret=SECRET)), 'InvalidAccessKeyId.NotFound', 404),
    yields('policy: what it allows', RAM, lambda s: instances(s.as_other(**READER)), 1),
    refused('policy: what it does not allow', RAM, lambda s: s.as_other(**READER)('DescribeSecurityGroups'), 'Forbidden.RAM', 403, 'not authorized'),
    refused('policy: before what it asks for is looked at', RAM, lambda s: s.as_other(**READER)('DeleteNetworkInterface', NetworkInterfaceId='eni-none'), 'Forbidden.RAM', 403),
    yields('metadata: the region', METADATA, lambda s: s.cloud.meta('meta-data/region-id'), 'cn-hangzhou', lines=('newer',)),
    yields('metadata: the VPC', METADATA, lambda s: s.cloud.meta('meta-data/vpc-id'), 'vpc-main', lines=('newer',)),
    yields('metadata: keys of the role', METADATA, role_keys, ('role', True), lines=('newer',)),
]
