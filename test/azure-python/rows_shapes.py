"""What a model keeps of what a client writes."""

import json

from table import NIC, VM, yields


def raw_vm(s, set='rows', id=None):
    return s.cloud.raw('GET', s.path(set, id)).json()


def unknown(s):
    body = raw_vm(s)
    body['properties']['futureProfile'] = {'level': 7}
    body['futureField'] = [1, 2]
    s.cloud.raw('PUT', s.path(), body=body).raise_for_status()
    after = raw_vm(s)
    return after['properties']['futureProfile'], after['futureField']


def unknown_in_configuration(s):
    body = raw_vm(s)
    configurations = body['properties']['networkProfileConfiguration']['networkInterfaceConfigurations']
    configurations[0]['properties']['ipConfigurations'][0]['properties']['future'] = 'kept'
    s.cloud.raw('PUT', s.path(), body=body).raise_for_status()
    return 'kept' in json.dumps(raw_vm(s)['properties']['networkProfileConfiguration'])


def dropped(s):
    body = raw_vm(s)
    del body['properties']['diagnosticsProfile']
    s.cloud.raw('PUT', s.path(), body=body).raise_for_status()
    return 'diagnosticsProfile' in raw_vm(s)['properties']


def read_only(s):
    before = raw_vm(s)
    body = json.loads(json.dumps(before))
    body['properties'] |= {'vmId': 'other', 'provisioningState': 'Failed', 'latestModelApplied': False}
    body |= {'instanceId': '77', 'name': 'other', 'id': '/subscriptions/other', 'sku': {'name': 'other'}}
    s.cloud.raw('PUT', s.path(), body=body).raise_for_status()
    after = raw_vm(s)
    fields = [('vmId', 'provisioningState', 'latestModelApplied'), ('instanceId', 'name', 'id', 'sku')]
    return all(before['properties'][one] == after['properties'][one] for one in fields[0]) and all(before[one] == after[one] for one in fields[1])


def typed(s):
    """What the client of a type does not know is lost."""
    body = raw_vm(s)
    s.put(s.with_more(s.vm())).result()
    return sorted(set(body['properties']) - set(raw_vm(s)['properties']))


def unknown_of_interface(s):
    body = s.cloud.raw('GET', s.nic_path).json()
    body['properties']['future'] = True
    body['tags'] = {'role': 'node'}
    s.cloud.raw('PUT', s.nic_path, body=body).raise_for_status()
    after = s.cloud.raw('GET', s.nic_path).json()
    return after['properties']['future'], after['tags'], after['properties']['macAddress'] == body['properties']['macAddress']


def same_addresses(s):
    s.add(2)
    before = s.addresses()
    s.put(s.vm()).result()
    return s.addresses() == before


def same_address_of_interface(s):
    before = s.own().ip_configurations[0].private_ip_address
    s.add_own(2).result()
    return s.own().ip_configurations[0].private_ip_address == before, len(s.own().ip_configurations)


def groups(s):
    id = str(s.next('wide'))
    s.add(2, 'wide', id)
    nic = s.nic_of('wide', id)
    return len(nic.ip_configurations), {one.application_security_groups[0].id.rsplit('/', 1)[1] for one in nic.ip_configurations}


def header(s):
    s.vm()
    return s.cloud.last.headers['ETag'] == s.vm().etag


ROWS = [
    yields('unknown fields of a machine', VM, unknown, ({'level': 7}, [1, 2])),
    yields('unknown fields of a configuration', VM, unknown_in_configuration, True),
    yields('a field that a client leaves out', VM, dropped, False),
    yields('fields that only Azure writes', VM, read_only, True),
    yields('fields of a typed change', VM, typed, []),
    yields('unknown fields of an interface', NIC, unknown_of_interface, (True, {'role': 'node'}, True)),
    yields('addresses that a change keeps', VM, same_addresses, True),
    yields('the address of an interface that a change keeps', NIC, same_address_of_interface, (True, 3)),
    yields('security groups of new configurations', VM, groups, (4, {'pods'})),
    yields('the etag in a header', VM, header, True),
]
