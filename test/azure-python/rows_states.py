"""What changes over time: operations, states, addresses. An hour passes when a row lets it."""

from azure.core.exceptions import HttpResponseError

from scene import configurations_of
from table import ADDRESSES, NIC, OPERATIONS, SET, VM, refused, yields

HOUR = 3601


def code_of(act):
    try:
        act()
    except HttpResponseError as error:
        return error.error.code


def operation_of(s, header='Azure-AsyncOperation', **more):
    """Begins a change and returns the path of its operation."""
    s.add(wait=False, **more)
    return s.cloud.last_change.headers[header].split('/', 3)[3]


def polled(s, path):
    answer = s.cloud.raw('GET', f'/{path}', version=None)
    return answer


def status(s):
    path = operation_of(s)
    before = polled(s, path).json()
    s.cloud.advance(HOUR)
    after = polled(s, path).json()
    return before['status'], 'endTime' in before, after['status'], 'endTime' in after


def result(s):
    path = operation_of(s, 'Location')
    before = polled(s, path)
    s.cloud.advance(HOUR)
    after = polled(s, path)
    return before.status_code, before.text, 'Location' in before.headers, after.status_code, after.json()['instanceId'] == s.id


def poller(s, headers):
    s.cloud.settings(headers=headers)
    poller = s.put(s.with_more(s.vm()))
    before = poller.status()
    s.cloud.advance(HOUR)
    return before, poller.result().properties.provisioning_state, poller.status()


def retry_after(s):
    s.cloud.settings(retryAfter=7)
    path = operation_of(s)
    put = s.cloud.last_change.headers.get('Retry-After')
    running = polled(s, path).headers.get('Retry-After')
    s.cloud.advance(HOUR)
    return put, running, polled(s, path).headers.get('Retry-After')


def addresses(s):
    s.add(2, wait=False)
    before = s.states()
    s.cloud.advance(HOUR)
    return before, s.states()


def taken_at_once(s):
    before = s.held(s.tiny)
    s.add(3, s.tiny, '0', wait=False)
    during = s.held(s.tiny)
    s.cloud.advance(HOUR)
    return during - before, s.held(s.tiny) - before


def full_at_once(s):
    s.add(10, s.tiny, '0', wait=False)
    return code_of(lambda: s.new_nic(s.configuration('one', s.tiny, primary=True)))


def dropped(s):
    s.add(3, s.tiny, '0', wait=False)
    s.cloud.advance(HOUR)
    vm = s.vm(s.tiny, '0')
    del configurations_of(vm)[2:]
    s.put(vm, s.tiny, '0')
    during = len(s.addresses(s.tiny, '0')), s.held(s.tiny)
    free = code_of(lambda: s.new_nic(*[s.configuration(f'c{n}', s.tiny, primary=n == 0) for n in range(8)]))
    s.cloud.advance(HOUR)
    return during, free, s.held(s.tiny), code_of(lambda: s.new_nic(*[s.configuration(f'c{n}', s.tiny, primary=n == 0) for n in range(9)]))


def machine(s):
    s.add(wait=False)
    before = s.vm().properties.provisioning_state
    s.cloud.advance(HOUR)
    return before, s.vm().properties.provisioning_state


def etags(s):
    first = s.vm().etag
    s.add(wait=False)
    during = s.vm().etag
    s.cloud.advance(HOUR)
    return len({first, during, s.vm().etag}), s.vm().etag == s.vm().etag


def interface_etags(s):
    first = s.nic_of().etag
    s.add(wait=False)
    during = s.nic_of().etag
    s.cloud.advance(HOUR)
    return len({first, during, s.nic_of().etag})


def read_during(s):
    """Who reads while a change runs and writes when it has ended is late."""
    s.add(wait=False)
    vm = s.vm()
    s.cloud.advance(HOUR)
    return s.put(vm, etag=vm.etag)


def own(s):
    s.add_own()
    before = s.own()
    s.cloud.advance(HOUR)
    after = s.own()
    return [[str(one.provisioning_state.value) for one in each.ip_configurations] for each in (before, after)], before.provisioning_state, after.provisioning_state


def created(s):
    poller = s.new_nic(s.configuration('one', primary=True))
    name = poller.polling_method()._initial_response.http_response.json()['name']
    answered = s.cloud.last_change.status_code
    before = s.nics.get('rows', name)
    s.cloud.advance(HOUR)
    after = poller.result()
    return answered, before.provisioning_state, before.mac_address, after.provisioning_state, after.virtual_machine


def deleted_interface(s):
    poller = s.new_nic(s.configuration('one', primary=True))
    name = poller.polling_method()._initial_response.http_response.json()['name']
    s.cloud.advance(HOUR)
    s.nics.begin_delete('rows', name)
    before = s.nics.get('rows', name).provisioning_state
    s.cloud.advance(HOUR)
    return before, code_of(lambda: s.nics.get('rows', name))


def deleted(s):
    poller = s.vms.begin_delete('rows', 'rows', s.id)
    before = s.vm().properties.provisioning_state
    s.cloud.advance(HOUR)
    poller.result()
    return before, code_of(s.vm), s.sets.get('rows', 'rows').name


def deleted_again(s):
    s.vms.begin_delete('rows', 'rows', s.id)
    s.cloud.advance(HOUR)
    s.vms.begin_delete('rows', 'rows', s.id)
    return s.cloud.last_change.status_code


def deleted_in_a_change(s):
    path = operation_of(s, count=4, set=s.tiny, id='0')
    s.vms.begin_delete('rows', s.tiny, '0')
    s.cloud.advance(HOUR)
    return s.held(s.tiny), polled(s, path).json()['status'] in ('Succeeded', 'Failed')


def deleted_set(s):
    s.sets.begin_delete('rows', s.growing)
    before = s.sets.get('rows', s.growing).properties.provisioning_state
    s.cloud.advance(2 * HOUR)
    return before, code_of(lambda: s.sets.get('rows', s.growing)), code_of(lambda: s.vm(s.growing, '0'))


def power(s):
    seen = []

    def look():
        seen.append(s.vm(expand='instanceView').properties.instance_view.statuses[1].code.split('/')[1])

    for act in (s.vms.begin_deallocate, s.vms.begin_start):
        act('rows', 'rows', s.id)
        look()
        s.cloud.advance(HOUR)
        look()
    return seen, len(s.addresses())


def grown(s):
    poller = s.sets.begin_update('rows', s.growing, {'sku': {'capacity': 2}})
    before = s.vm(s.growing, '1').properties.provisioning_state, s.nic_of(s.growing, '1').mac_address, s.states(s.growing, '1')
    s.cloud.advance(HOUR)
    capacity = poller.result().sku.capacity
    after = s.vm(s.growing, '1').properties.provisioning_state, s.states(s.growing, '1')
    return before, capacity, after, s.nic_of(s.growing, '1').mac_address is not None


def shrunk(s):
    s.sets.begin_update('rows', s.growing, {'sku': {'capacity': 0}})
    s.cloud.advance(HOUR)
    gone = code_of(lambda: list(s.nics.list_virtual_machine_scale_set_network_interfaces('rows', s.growing)))
    s.sets.begin_update('rows', s.growing, {'sku': {'capacity': 1}})
    s.cloud.advance(HOUR)
    return gone, [one.instance_id for one in s.vms.list('rows', s.growing)]


def outdated(s):
    s.sets.begin_update('rows', s.growing, {'tags': {'release': '2'}})
    before = s.vm(s.growing, '0').properties.latest_model_applied
    s.sets.begin_update_instances('rows', s.growing, {'instanceIds': ['0']})
    during = code_of(lambda: s.put(s.vm(s.growing, '0'), s.growing, '0'))
    s.cloud.advance(HOUR)
    return before, during, s.vm(s.growing, '0').properties.latest_model_applied


def lag(s):
    s.cloud.settings(listingLagMs=3_000_000)
    s.cloud.advance(HOUR)
    s.add(wait=False)
    s.cloud.advance(HOUR + 60)
    before = s.states(), s.vm().properties.provisioning_state
    s.cloud.advance(HOUR)
    return before, s.states()


ROWS = [
    yields('the status of an operation', OPERATIONS, status, ('InProgress', False, 'Succeeded', True), cloud='slow'),
    yields('the result of an operation', OPERATIONS, result, (202, '', True, 200, True), cloud='slow'),
    yields('an operation with a status and a result', OPERATIONS, lambda s: poller(s, 'both'), ('InProgress', 'Succeeded', 'Succeeded'), cloud='slow'),
    yields('an operation with only a status', OPERATIONS, lambda s: poller(s, 'asyncOperation'), ('InProgress', 'Succeeded', 'Succeeded'), cloud='slow'),
    yields('an operation with only a result', OPERATIONS, lambda s: poller(s, 'location'), ('InProgress', 'Succeeded', 'Succeeded'), cloud='slow'),
    yields('when to look again', OPERATIONS, retry_after, ('7', '7', None), cloud='slow'),
    yields('new addresses', NIC, addresses, (['Updating'] * 3, ['Succeeded'] * 3), cloud='slow'),
    yields('a subnet while addresses are new', ADDRESSES, taken_at_once, (3, 3), cloud='slow'),
    yields('a subnet that is full while addresses are new', ADDRESSES, full_at_once, 'SubnetIsFull', cloud='slow'),
    yields('dropped addresses', ADDRESSES, dropped, ((2, 2), 'SubnetIsFull', 2, None), cloud='slow'),
    yields('a machine that is changed', VM, machine, ('Updating', 'Succeeded'), cloud='slow'),
    yields('etags of a machine that is changed', VM, etags, (3, True), cloud='slow'),
    yields('etags of an interface that is changed', NIC, interface_etags, 3, cloud='slow'),
    refused('a change with the etag of a machine that was changing', VM, read_during, 'PreconditionFailed', 412, cloud='slow'),
    yields('an interface that is changed', NIC, own, ([['Updating', 'Updating'], ['Succeeded', 'Succeeded']], 'Updating', 'Succeeded'), cloud='slow'),
    yields('an interface that is created', NIC, created, (201, 'Updating', None, 'Succeeded', None), cloud='slow'),
    yields('an interface that is deleted', NIC, deleted_interface, ('Deleting', 'ResourceNotFound'), cloud='slow'),
    yields('a machine that is deleted, and its scale set', VM, deleted, ('Deleting', 'NotFound', 'rows'), cloud='slow'),
    yields('a machine that is deleted twice', VM, deleted_again, 204, cloud='slow'),
    yields('a machine that is deleted while it changes', VM, deleted_in_a_change, (0, True), cloud='slow'),
    yields('a scale set that is deleted', SET, deleted_set, ('Deleting', 'ResourceNotFound', 'ParentResourceNotFound'), cloud='slow'),
    yields('a machine that is deallocated and started', VM, power, (['deallocating', 'deallocated', 'starting', 'running'], 1), cloud='slow'),
    yields('a scale set that grows', SET, grown, (('Creating', None, ['Updating']), 2, ('Succeeded', ['Succeeded']), True), cloud='slow'),
    yields('a scale set that shrinks and grows again', SET, shrunk, ('NotFound', ['1']), cloud='slow'),
    yields('a machine whose scale set has a newer model, and its upgrade', SET, outdated, (False, 'OperationNotAllowed', True), cloud='slow'),
    yields('a listing that is behind', NIC, lag, ((['Updating', 'Updating'], 'Succeeded'), ['Succeeded', 'Succeeded']), cloud='slow'),
]
