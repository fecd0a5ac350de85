"""Signatures, the Query protocol, dry runs and permissions."""

from table import API, ERRORS, SIGNING, page, refused, yields

VERSION = '2016-11-15'
QUERY = 'https://docs.aws.amazon.com/ec2/latest/devguide/ec2-query-api.html'
DRY_RUN = f'{API}/CommonParameters.html'


def raw(s, action='DescribeVpcs', version=VERSION, method='POST', sign=True, skew=0, key=None, headers=None, **parameters):
    options = {'method': method, 'sign': sign, 'skew': skew, 'headers': headers, **({'key': key} if key else {})}
    request = {**({'Action': action} if action else {}), **({'Version': version} if version else {}), **parameters}
    status, code, message, _ = s.cloud.raw(request, **options)
    return status, code, message


def code(s, **what):
    return raw(s, **what)[:2]


def another(s, **what):
    return s.cloud.client(**what).describe_vpcs()


def dry(s, act, **what):
    return act(DryRun=True, **what)


def dry_effect(s):
    before = s.available()
    try:
        s.new_eni(DryRun=True)
    except s.ec2.exceptions.ClientError:
        return before - s.available()


def only(s, *actions):
    s.vpc, s.subnet
    s.cloud.admin('PUT', 'allowed-actions', {'actions': list(actions)})
    return s


def headers_of(s):
    return s.ec2.describe_vpcs()['ResponseMetadata']['HTTPHeaders']


ROWS = [
    # Signatures
    refused('signing: an unknown key', ERRORS, lambda s: another(s, key='AKIAUNKNOWNUNKNOWN00'), 'AuthFailure', 'not able to validate the provided access credentials', 401),
    refused('signing: a wrong secret', ERRORS, lambda s: another(s, secret='wrong'), 'SignatureDoesNotMatch', 'does not match the signature you provided', 403),
    refused('signing: another region', SIGNING, lambda s: another(s, region='eu-west-1'), 'SignatureDoesNotMatch', 'scoped', 403),
    yields('signing: none', ERRORS, lambda s: code(s, sign=False), (403, 'MissingAuthenticationToken')),
    yields('signing: a clock 16 minutes behind', ERRORS, lambda s: raw(s, skew=-960), (400, 'RequestExpired', 'Request has expired.')),
    yields('signing: a clock 16 minutes ahead', ERRORS, lambda s: code(s, skew=960), (400, 'RequestExpired')),
    yields('signing: a clock 14 minutes behind', ERRORS, lambda s: code(s, skew=-840), (200, '')),
    yields('signing: not finished', ERRORS, lambda s: code(s, sign=False, headers={'Authorization': 'AWS4-HMAC-SHA256 Credential=x'}), (400, 'IncompleteSignature')),
    # The protocol
    yields('query: by POST', QUERY, lambda s: code(s), (200, '')),
    yields('query: by GET', QUERY, lambda s: code(s, method='GET'), (200, '')),
    yields('query: an unknown action', ERRORS, lambda s: raw(s, 'MakeCoffee'), (400, 'InvalidAction', 'The action MakeCoffee is not valid for this web service.')),
    yields('query: no action', ERRORS, lambda s: code(s, action=None), (400, 'MissingAction')),
    yields('query: an unknown version', ERRORS, lambda s: code(s, version='2000-01-01'), (400, 'NoSuchVersion')),
    yields('query: an unknown parameter', ERRORS, lambda s: raw(s, Colour='red'), (400, 'UnknownParameter', 'The parameter Colour is not recognized')),
    yields('query: an unknown parameter inside', ERRORS, lambda s: code(s, **{'Filter.1.Nme': 'x'}), (400, 'UnknownParameter')),
    yields('query: a number that is none', ERRORS, lambda s: code(s, MaxResults='many'), (400, 'InvalidParameterValue')),
    yields('query: a truth that is none', ERRORS, lambda s: code(s, DryRun='perhaps'), (400, 'InvalidParameterValue')),
    yields('query: a missing parameter', ERRORS, lambda s: raw(s, 'AttachNetworkInterface'), lambda answer: answer[:2] == (400, 'MissingParameter') and 'networkInterfaceId' in answer[2]),
    yields('query: another missing parameter', ERRORS, lambda s: raw(s, 'AttachNetworkInterface', NetworkInterfaceId='eni-00000000', InstanceId='i-00000000'), lambda answer: answer[:2] == (400, 'MissingParameter') and 'deviceIndex' in answer[2]),
    yields('query: lists in any order', QUERY, lambda s: s.cloud.raw({'Action': 'DescribeVpcs', 'Version': VERSION, 'VpcId.2': s.vpc, 'VpcId.1': s.other_vpc})[0], 200),
    yields('query: XML', QUERY, lambda s: headers_of(s)['content-type'], lambda type: type.startswith('text/xml')),
    yields('query: every answer has an id', QUERY, lambda s: headers_of(s)['x-amzn-requestid'], lambda id: len(id) == 36),
    yields('query: signs of XML in values', QUERY, lambda s: (s.ec2.create_tags(Resources=[s.eni], Tags=[{'Key': '<&">', 'Value': 'ü\'x'}]), s.look()['TagSet'])[1], [{'Key': '<&">', 'Value': 'ü\'x'}]),
    # Dry runs
    refused('dry run: create', DRY_RUN, lambda s: s.new_eni(DryRun=True), 'DryRunOperation', 'Request would have succeeded, but DryRun flag is set', 412),
    refused('dry run: describe', DRY_RUN, lambda s: dry(s, s.ec2.describe_network_interfaces), 'DryRunOperation', status=412),
    refused('dry run: delete', DRY_RUN, lambda s: dry(s, s.ec2.delete_network_interface, NetworkInterfaceId=s.eni), 'DryRunOperation', status=412),
    yields('dry run: not known to assigning', page('AssignPrivateIpAddresses'), lambda s: code(s, action='AssignPrivateIpAddresses', DryRun='true', NetworkInterfaceId='eni-00000000', SecondaryPrivateIpAddressCount='1'), (400, 'UnknownParameter')),
    yields('dry run: nothing happens', DRY_RUN, dry_effect, 0),
    refused('dry run: not permitted', DRY_RUN, lambda s: dry(only(s, 'DescribeVpcs'), s.ec2.create_network_interface, SubnetId='subnet-00000000'), 'UnauthorizedOperation', status=403),
    # Permissions
    refused('permission: an action that is not allowed', ERRORS, lambda s: only(s, 'DescribeVpcs').ec2.describe_subnets(), 'UnauthorizedOperation', 'You are not authorized to perform this operation. User: arn:aws:iam::123456789012:user/rows is not authorized to perform: ec2:DescribeSubnets', 403),
    refused('permission: a change that is not allowed', ERRORS, lambda s: s.new_eni(only(s, 'DescribeVpcs').subnet), 'UnauthorizedOperation', 'ec2:CreateNetworkInterface', 403),
    yields('permission: one that is', ERRORS, lambda s: only(s, 'DescribeVpcs').ec2.describe_vpcs(VpcIds=[s.vpc])['Vpcs'], lambda all: len(all) == 1),
    refused('permission: GetSecurityGroupsForVpc', page('GetSecurityGroupsForVpc'), lambda s: only(s, 'DescribeSecurityGroups').ec2.get_security_groups_for_vpc(VpcId=s.vpc), 'UnauthorizedOperation', status=403),
]
