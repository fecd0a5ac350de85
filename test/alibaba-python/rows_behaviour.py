"""Limits, delays and faults, as a client meets them."""

from table import ERRORS, IDEMPOTENCY, STATES, THROTTLING, refused, yields


def throttled(s):
    s.cloud.settings(throttle=True, limitScale=0.004)
    for _ in range(3):
        s.call('DescribeVpcs')


def other_window(s):
    s.cloud.settings(throttle=True, limitScale=0.002)
    s.call('DescribeVpcs')
    return s.call('DescribeInstanceTypes')['InstanceTypes'] is not None


def window_opens(s):
    s.cloud.settings(throttle=True, limitScale=0.002)
    s.call('DescribeVpcs')
    s.cloud.advance(61)
    return s.call('DescribeVpcs')['TotalCount']


def drained(s):
    s.cloud.settings(throttle=True, limitScale=1)
    s.cloud.admin('POST', 'tokens', {'action': 'DescribeVSwitches', 'count': 300})
    return s.call('DescribeVSwitches')


def lost(s, effect):
    """How many interfaces a repeated creation has made after the first answer was lost."""
    tags = [{'Key': 'lost', 'Value': s.token}]
    s.fault('CreateNetworkInterface', 'lost', effect=effect)
    try:
        s.create(ClientToken=s.token, Tag=tags)
        return 'the answer came'
    except Exception:
        pass
    first = len(s.ids(Tag=tags))
    s.create(ClientToken=s.token, Tag=tags)
    return first, len(s.ids(Tag=tags))


def fell_back(s):
    s.fault('AttachNetworkInterface', 'failed')
    s.eni
    s.cloud.advance(3700)
    s.attach()
    before = s.status()
    s.cloud.advance(3700)
    return before, s.status()


def lagging(s):
    s.eni
    s.cloud.advance(3700)
    s.cloud.settings(listingLagMs=60_000)
    s.attach()
    before = s.status()
    s.cloud.advance(61)
    return before, s.status()


def hidden(s):
    s.cloud.settings(visibilityDelayMs=60_000)
    eni = s.new_eni()
    before = s.status(eni)
    s.cloud.advance(61)
    return before, s.status(eni)


def early(s):
    s.cloud.settings(visibilityDelayMs=60_000)
    return s.attach(s.new_eni())


def without_ids(s):
    s.eni
    s.fault('DescribeNetworkInterfaces', 'garbled', form='idsMissing')
    return 'NetworkInterfaceId' in s.enis(MaxResults=1)[0]


ROWS = [
    refused('limits: more than fit in a minute', THROTTLING, throttled, 'Throttling.User', 400, 'flow control'),
    refused('limits: what others have used up', THROTTLING, drained, 'Throttling.User'),
    yields('limits: each action has its own', THROTTLING, other_window, True),
    yields('limits: after a minute', THROTTLING, window_opens, 2, cloud='slow'),
    refused('faults: a refusal', ERRORS, lambda s: (s.fault('DescribeVpcs', 'error', code='ServiceUnavailable', status=503, message='busy'), s.call('DescribeVpcs')), 'ServiceUnavailable', 503, 'busy'),
    refused('faults: throttled', THROTTLING, lambda s: (s.fault('DescribeVpcs', 'throttle'), s.call('DescribeVpcs')), 'Throttling.User'),
    yields('faults: an answer lost after its effect', IDEMPOTENCY, lambda s: lost(s, 'before'), (1, 1)),
    yields('faults: a request lost', IDEMPOTENCY, lambda s: lost(s, 'after'), (0, 1)),
    yields('faults: an attachment that falls back', STATES, fell_back, ('Attaching', 'Available'), cloud='slow'),
    yields('faults: an answer without ids', ERRORS, without_ids, False),
    yields('reads: they lag behind', STATES, lagging, ('Available', 'Attaching'), cloud='slow'),
    yields('reads: what is new is not there at first', STATES, hidden, (None, 'Creating'), cloud='slow'),
    refused('changes: what is new is not there at first', ERRORS, early, 'InvalidEniId.NotFound', 404, cloud='slow'),
]
