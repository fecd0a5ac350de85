"""Limits, and faults on request."""

from azure.core.exceptions import HttpResponseError, IncompleteReadError, ServiceRequestError, ServiceResponseError

from table import COMPUTE_LIMITS, ERRORS, OPERATIONS, THROTTLING, VM, refused, yields

GET, PUT = 'VirtualMachineScaleSetVMs.Get', 'VirtualMachineScaleSetVMs.Update'


def throttled(s, calls, act):
    """How the last of so many calls ended, while limits hold."""
    s.cloud.settings(throttle=True)
    for _ in range(calls):
        act(s)


def waiting(s):
    try:
        throttled(s, 13, lambda s: s.put(s.vm()))
    except HttpResponseError as error:
        return error.status_code, 0 < int(error.response.headers['Retry-After']) <= 15


def other_machine(s):
    try:
        throttled(s, 13, lambda s: s.put(s.vm()))
    except HttpResponseError:
        return s.add(id=str(s.next('vm'))).properties.provisioning_state


def remaining(s):
    s.cloud.settings(throttle=True)
    s.vm()
    first = s.cloud.last.headers
    s.vm()
    second = s.cloud.last.headers
    name = 'x-ms-ratelimit-remaining-subscription-reads'
    resource = 'x-ms-ratelimit-remaining-resource'
    return int(first[name]) - int(second[name]) in (0, 1), second[resource].split(',')[0].split(';')[0], int(second[name]) < 250


def remaining_writes(s):
    s.cloud.settings(throttle=True)
    s.add(wait=False)
    headers = s.cloud.last_change.headers
    return headers['x-ms-ratelimit-remaining-subscription-writes'], 'ScaleSetVmUpdateResource;11' in headers['x-ms-ratelimit-remaining-resource']


def fault(s, action=GET, **fault):
    s.cloud.fault(action=action, count=1, fault=fault)


def met(s, act, **more):
    fault(s, **more)
    return act(s)


def broken(s, form):
    fault(s, kind='garbled', form=form)
    try:
        return s.vm().name
    except (HttpResponseError, IncompleteReadError, ServiceResponseError, ValueError) as error:
        return type(error).__name__


def lost(s, effect, **more):
    """How many addresses there are after an answer that was lost, and once everything has happened."""
    vm = s.with_more(s.vm())
    fault(s, PUT, kind='lost', effect=effect, **more)
    client = s.cloud.compute_as('owner', read_timeout=0.3) if effect == 'late' or more.get('connection') == 'hang' else None
    try:
        s.put(vm, client=client)
    except (ServiceRequestError, ServiceResponseError):
        pass
    before = len(s.addresses())
    if effect == 'late':
        s.cloud.advance(61)
        s.cloud.admin('PUT', 'time', {'pace': 1})
    return before, len(s.addresses())


def failed(s):
    fault(s, PUT, kind='failed', code='NetworkingInternalOperationError', message='An unexpected error occurred.')
    return s.add(2)


def after_failure(s):
    try:
        failed(s)
    except HttpResponseError:
        pass
    vm = s.vm(expand='instanceView')
    state = vm.properties.provisioning_state, vm.properties.instance_view.statuses[0].code, len(s.addresses())
    return state, s.add().properties.provisioning_state, len(s.addresses())


def full_late(s):
    s.cloud.settings(fullSubnet='atTheEnd')
    return s.add(11, s.tiny, '0')


def without_ids(s):
    fault(s, kind='garbled', form='idsMissing')
    return s.vm().id


def unknown_state(s):
    fault(s, kind='garbled', form='unknownEnum')
    return s.vm().properties.provisioning_state


ROWS = [
    refused('the thirteenth change of a machine', COMPUTE_LIMITS, lambda s: throttled(s, 13, lambda s: s.put(s.vm())), 'TooManyRequests', 429),
    yields('when to change a machine again', COMPUTE_LIMITS, waiting, (429, True)),
    yields('a change of another machine', COMPUTE_LIMITS, other_machine, 'Succeeded'),
    refused('more reads than a principal has', THROTTLING, lambda s: throttled(s, 400, lambda s: s.own()), 'SubscriptionRequestsThrottled', 429),
    refused('more looks at a machine than it allows', COMPUTE_LIMITS, lambda s: throttled(s, 37, lambda s: s.vm()), 'TooManyRequests', 429),
    yields('how many reads are left', THROTTLING, remaining, (True, 'Microsoft.Compute/ScaleSetVmGetResource', True)),
    yields('how many writes are left', THROTTLING, remaining_writes, ('199', True)),
    refused('a throttled request', THROTTLING, lambda s: met(s, lambda s: s.vm(), kind='throttle'), 'TooManyRequests', 429),
    refused('an error that may be repeated', ERRORS, lambda s: met(s, lambda s: s.vm(), kind='error', code='RetryableError', status=429, message='A retryable error occurred.', retryAfter=5), 'RetryableError', 429),
    refused('an error of the service', ERRORS, lambda s: met(s, lambda s: s.vm(), kind='error', code='InternalServerError', status=500), 'InternalServerError', 500),
    refused('an error of one operation', ERRORS, lambda s: met(s, lambda s: s.add(), action=PUT, kind='error', code='OperationNotAllowed', status=409), 'OperationNotAllowed', 409),
    refused('an operation that fails', OPERATIONS, failed, 'NetworkingInternalOperationError', 200),
    yields('a machine whose change failed, and its next one', VM, after_failure, (('Failed', 'ProvisioningState/failed/NetworkingInternalOperationError', 1), 'Succeeded', 2)),
    refused('a full subnet that is found out in the end', OPERATIONS, full_late, 'SubnetIsFull', 200),
    yields('an answer that is lost after its effect', ERRORS, lambda s: lost(s, 'before'), (2, 2)),
    yields('an answer that is lost without an effect', ERRORS, lambda s: lost(s, 'after'), (1, 1)),
    yields('an answer that never comes', ERRORS, lambda s: lost(s, 'before', connection='hang'), (2, 2)),
    yields('an effect that comes late', ERRORS, lambda s: lost(s, 'late', delayMs=60_000), (1, 2)),
    yields('an answer that is cut', ERRORS, lambda s: broken(s, 'truncated'), lambda name: name.endswith('Error')),
    yields('an empty answer', ERRORS, lambda s: broken(s, 'empty'), lambda name: name is None or name.endswith('Error')),
    yields('a page of a gateway', ERRORS, lambda s: broken(s, 'html502'), 'HttpResponseError'),
    yields('an answer without ids', ERRORS, without_ids, None),
    yields('an answer with an unknown state', ERRORS, unknown_state, 'Quantum'),
]
