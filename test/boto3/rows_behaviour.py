"""Throttling, idempotency, eventual consistency, and faults put in on purpose."""

from botocore.exceptions import ConnectionClosedError, ReadTimeoutError
from botocore.parsers import ResponseParserError

from table import CONSISTENCY, ERRORS, IDEMPOTENCY, THROTTLING, page, refused, yields

CREATE = page('CreateNetworkInterface')


def throttled(s, action, count, whole=False):
    """Lets another client take tokens."""
    s.vpc, s.subnet, s.eni
    s.cloud.admin('PUT', 'settings', {'throttle': True})
    s.cloud.admin('POST', 'tokens', {'action': action, 'count': count, 'whole': whole})
    return s


def until_throttled(s, act):
    """How many requests get through with a tenth of the tokens while none come back, whatever becomes of them."""
    s.eni
    s.cloud.stand_still()
    s.cloud.admin('PUT', 'settings', {'throttle': True, 'limitScale': 0.1})
    try:
        for done in range(1000):
            try:
                act()
            except s.ec2.exceptions.ClientError as error:
                if error.response['Error']['Code'] == 'RequestLimitExceeded':
                    return done
    finally:
        s.cloud.admin('PUT', 'time', {'pace': 1})


def token(s, first, second):
    made = [s.ec2.create_network_interface(ClientToken=f'token-{s.subnet}', **what)['NetworkInterface'] for what in (first, second)]
    return made[0]['NetworkInterfaceId'] == made[1]['NetworkInterfaceId'], s.available()


def token_of_the_gone(s):
    what = {'SubnetId': s.subnet, 'ClientToken': f'gone-{s.subnet}'}
    made = s.ec2.create_network_interface(**what)['NetworkInterface']
    s.ec2.delete_network_interface(NetworkInterfaceId=made['NetworkInterfaceId'])
    return s.ec2.create_network_interface(**what)


def invisible(s, act):
    """Something new, while it takes ten seconds to be seen."""
    s.subnet, s.instance
    s.cloud.advance(3700)
    s.cloud.admin('PUT', 'settings', {'visibilityDelayMs': 10_000})
    eni = s.new_eni()
    return act(eni)


def visible_later(s):
    def act(eni):
        s.cloud.advance(11)
        return s.look(eni)['Status']

    return invisible(s, act)


def lagging(s):
    """How many interfaces a listing shows, right after one was made and ten seconds later."""
    s.eni
    s.cloud.admin('PUT', 'settings', {'listingLagMs': 10_000})
    s.cloud.advance(20)
    s.new_eni()
    filters = [{'Name': 'subnet-id', 'Values': [s.subnet]}]
    count = lambda: len(s.ec2.describe_network_interfaces(Filters=filters)['NetworkInterfaces'])
    first = count(), s.available()
    s.cloud.advance(11)
    return first, (count(), s.available())


def fault(s, act, expected=(), **rule):
    """What an act ends with under a fault, and how many addresses it cost."""
    s.subnet
    s.cloud.fault(**rule)
    before = s.available()
    try:
        ended = act()
    except expected as error:
        ended = type(error).__name__
    s.cloud.admin('DELETE', 'faults')
    return ended, before - s.available()


def create(s, timeout=20):
    client = s.cloud.client(timeout=timeout)
    return lambda: client.create_network_interface(SubnetId=s.subnet)


def lost(s, effect, connection, delay=0):
    rule = {'action': 'CreateNetworkInterface', 'fault': {'kind': 'lost', 'effect': effect, 'connection': connection, 'delayMs': delay}}
    return fault(s, create(s, 0.5), (ConnectionClosedError, ReadTimeoutError), **rule)


def late(s):
    """What a request cost when its client gave up, and an hour later."""
    ended, cost = lost(s, 'late', 'hang', 3_600_000)
    before = s.available()
    s.cloud.advance(3700)
    return ended, cost, before - s.available()


def garbled(s, form, expected=()):
    rule = {'action': 'DescribeVpcs', 'count': 1, 'fault': {'kind': 'garbled', 'form': form}}
    misfits = list(s.cloud.misfits)
    s.cloud.fault(**rule)
    try:
        found = s.ec2.describe_vpcs(VpcIds=[s.vpc])
        found.pop('ResponseMetadata')
        return found
    except expected as error:
        return type(error).__name__
    finally:
        s.cloud.misfits[:] = misfits


def only_that_subnet(s):
    rule = {'action': 'CreateNetworkInterface', 'match': {'SubnetId': s.subnet}, 'fault': {'kind': 'throttle'}}
    s.cloud.fault(**rule)
    s.new_eni(s.far_subnet)
    return s.new_eni()


def counted(s):
    s.subnet
    s.cloud.admin('DELETE', 'calls')
    s.cloud.fault(action='DescribeVpcs', count=1, fault={'kind': 'throttle'})
    for ids in ([s.vpc], [s.vpc], ['vpc-00000000']):
        try:
            s.ec2.describe_vpcs(VpcIds=ids)
        except s.ec2.exceptions.ClientError:
            pass
    return s.cloud.admin('GET', 'calls')['DescribeVpcs']


CLIENT_ERROR = {'kind': 'error', 'code': 'InsufficientFreeAddressesInSubnet', 'status': 400, 'message': 'no'}

ROWS = [
    # Throttling
    refused('throttling: another client took the tokens', THROTTLING, lambda s: throttled(s, 'CreateNetworkInterface', 100).new_eni(), 'RequestLimitExceeded', 'Request limit exceeded', 503),
    refused('throttling: of whole listings', THROTTLING, lambda s: throttled(s, 'DescribeInstances', 50, True).ec2.describe_instances(), 'RequestLimitExceeded', status=503),
    yields('throttling: filtered listings have a bucket of their own', THROTTLING, lambda s: throttled(s, 'DescribeInstances', 50, True).ec2.describe_instances(Filters=[{'Name': 'vpc-id', 'Values': [s.vpc]}])['Reservations'], []),
    yields('throttling: each action for itself', THROTTLING, lambda s: len(throttled(s, 'CreateNetworkInterface', 100).ec2.describe_vpcs(VpcIds=[s.vpc])['Vpcs']), 1),
    refused('throttling: even a wrong request costs', THROTTLING, lambda s: throttled(s, 'DeleteNetworkInterface', 100).ec2.delete_network_interface(NetworkInterfaceId='eni-00000000'), 'RequestLimitExceeded', status=503),
    yields('throttling: detach, a tenth of 50', THROTTLING, lambda s: until_throttled(s, lambda: s.ec2.detach_network_interface(AttachmentId='eni-attach-00000000')), 5),
    yields('throttling: assign, a tenth of 100', THROTTLING, lambda s: until_throttled(s, lambda: s.assign(PrivateIpAddresses=['10.0.0.60'])), 10),
    yields('throttling: tags, a tenth of 100', THROTTLING, lambda s: until_throttled(s, lambda: s.ec2.create_tags(Resources=[s.eni], Tags=[{'Key': 'a', 'Value': 'b'}])), 10),
    yields('throttling: describe, a tenth of 100', THROTTLING, lambda s: until_throttled(s, s.look), 10),
    yields('throttling: describe all, a tenth of 50', THROTTLING, lambda s: until_throttled(s, s.ec2.describe_instances), 5),
    # Idempotency
    yields('token: one token, one interface', IDEMPOTENCY, lambda s: token(s, {'SubnetId': s.subnet}, {'SubnetId': s.subnet}), (True, 250)),
    yields('token: the order of groups does not matter', IDEMPOTENCY, lambda s: (more := s.new_group(s.vpc, 'more')) and token(s, {'SubnetId': s.subnet, 'Groups': [s.group, more]}, {'SubnetId': s.subnet, 'Groups': [more, s.group]}), (True, 250)),
    refused('token: another subnet', IDEMPOTENCY, lambda s: token(s, {'SubnetId': s.subnet}, {'SubnetId': s.far_subnet}), 'IdempotentParameterMismatch', 'inconsistent with arguments used in previous request'),
    refused('token: another count', IDEMPOTENCY, lambda s: token(s, {'SubnetId': s.subnet}, {'SubnetId': s.subnet, 'SecondaryPrivateIpAddressCount': 1}), 'IdempotentParameterMismatch'),
    refused('token: of an interface that is gone', IDEMPOTENCY, token_of_the_gone, 'IdempotentParameterMismatch'),
    yields('token: without one, two interfaces', IDEMPOTENCY, lambda s: s.new_eni() != s.new_eni(), True),
    # Eventual consistency
    refused('consistency: new, and described', CONSISTENCY, lambda s: invisible(s, s.look), 'InvalidNetworkInterfaceID.NotFound', 'does not exist', cloud='slow'),
    refused('consistency: new, and attached', CONSISTENCY, lambda s: invisible(s, lambda eni: s.attach(eni)), 'InvalidNetworkInterfaceID.NotFound', cloud='slow'),
    refused('consistency: new, and assigned to', CONSISTENCY, lambda s: invisible(s, lambda eni: s.assign(eni, SecondaryPrivateIpAddressCount=1)), 'InvalidNetworkInterfaceID.NotFound', cloud='slow'),
    refused('consistency: new, and changed', CONSISTENCY, lambda s: invisible(s, lambda eni: s.modify(eni, Description={'Value': 'x'})), 'InvalidNetworkInterfaceID.NotFound', cloud='slow'),
    refused('consistency: new, and tagged', CONSISTENCY, lambda s: invisible(s, lambda eni: s.ec2.create_tags(Resources=[eni], Tags=[{'Key': 'a', 'Value': 'b'}])), 'InvalidNetworkInterfaceID.NotFound', cloud='slow'),
    yields('consistency: seen after a while', CONSISTENCY, visible_later, 'available', cloud='slow'),
    yields('consistency: listings lag, counts too', CONSISTENCY, lagging, ((1, 250), (2, 249)), cloud='slow'),
    # Faults
    refused('fault: an error', ERRORS, lambda s: fault(s, create(s), action='CreateNetworkInterface', fault=CLIENT_ERROR), 'InsufficientFreeAddressesInSubnet', 'no'),
    refused('fault: a server error', ERRORS, lambda s: fault(s, create(s), action='*', fault={'kind': 'error'}), 'InternalError', status=500),
    refused('fault: for one subnet only', ERRORS, only_that_subnet, 'RequestLimitExceeded', status=503),
    yields('fault: the effect, and the connection drops', CREATE, lambda s: lost(s, 'before', 'drop'), ('ConnectionClosedError', 1)),
    yields('fault: the effect, and no answer ever', CREATE, lambda s: lost(s, 'before', 'hang'), ('ReadTimeoutError', 1)),
    yields('fault: no effect, and the connection drops', CREATE, lambda s: lost(s, 'after', 'drop'), ('ConnectionClosedError', 0)),
    yields('fault: no effect, and no answer ever', CREATE, lambda s: lost(s, 'after', 'hang'), ('ReadTimeoutError', 0)),
    yields('fault: the effect comes when the client has gone', CREATE, late, ('ReadTimeoutError', 0, 1), cloud='slow'),
    yields('fault: an empty answer', CREATE, lambda s: garbled(s, 'empty', ResponseParserError), 'ResponseParserError'),
    yields('fault: ids missing', CREATE, lambda s: garbled(s, 'idsMissing')['Vpcs'], lambda all: len(all) == 1 and 'VpcId' not in all[0]),
    yields('fault: states unheard of', CREATE, lambda s: garbled(s, 'unknownEnum')['Vpcs'][0]['State'], 'quantum'),
    yields('fault: cut in the middle', CREATE, lambda s: garbled(s, 'truncated', Exception), lambda name: name in ('IncompleteReadError', 'ConnectionClosedError', 'ResponseStreamingError')),
    yields('fault: a page of HTML', CREATE, lambda s: garbled(s, 'html502', Exception), lambda name: name in ('ClientError', 'ResponseParserError')),
    yields('fault: calls are counted', ERRORS, counted, {'calls': 3, 'refused': 1, 'throttled': 1, 'lost': 0}),
]
