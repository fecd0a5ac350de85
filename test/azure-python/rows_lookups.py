"""What is not there, who may not see it, and what a look shows."""

from azure.mgmt.compute import ComputeManagementClient
from azure.mgmt.compute import models as compute
from azure.mgmt.network import NetworkManagementClient

from cloud import OTHER_SUBSCRIPTION, SUBSCRIPTION
from scene import GROUP, configurations_of
from table import ERRORS, LIMITS, LINKED, NIC, OPERATIONS, PREFIX, RESERVED, ROLES, SET, SUBNET, VM, refused, yields

NOBODY = '00000000-0000-0000-0000-0000000000ff'


def elsewhere(s, kind, subscription):
    return s.cloud.client(kind, subscription=subscription)


def operation(s):
    return s.cloud.raw('GET', f'/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Compute/locations/westeurope/operations/{NOBODY}')


def lists(s):
    found = list(s.nics.list_virtual_machine_scale_set_network_interfaces('rows', 'rows'))
    return len(found), all('/virtualMachineScaleSets/rows/' in one.virtual_machine.id for one in found)


def paged(s):
    s.cloud.settings(pageSize=50)
    found = [one.name + one.virtual_machine.id for one in s.nics.list_virtual_machine_scale_set_network_interfaces('rows', 'rows')]
    return len(found), len(set(found))


def respelled(s):
    path, name = s.path(), s.vm().name
    s.cloud.settings(respelled=1)
    vm = s.vm()
    return vm.name == name, vm.id != path, vm.id.lower() == path.lower()


def any_case(s):
    answer = s.cloud.raw('GET', s.path().replace('resourceGroups/rows', 'RESOURCEGROUPS/ROWS').replace('virtualMachines', 'virtualmachines'))
    return answer.json()['id'] == s.path()


def second_set(s):
    other = elsewhere(s, ComputeManagementClient, OTHER_SUBSCRIPTION)
    return [one.name for one in other.virtual_machine_scale_sets.list('other')]


def wide(s):
    id = str(s.next('wide'))
    first, second = s.nics.list_virtual_machine_scale_set_vm_network_interfaces('rows', 'wide', id)
    primary, other = first.ip_configurations
    shown = [first.primary, second.primary, primary.primary, other.primary]
    linked = [primary.load_balancer_backend_address_pools is not None, other.load_balancer_backend_address_pools is None]
    groups = {one.application_security_groups[0].id.rsplit('/', 1)[1] for one in first.ip_configurations}
    return shown, linked, primary.public_ip_address.id.endswith('/publicIPAddresses/public'), groups


def with_public_address(s, prefix, group='rows'):
    vm = s.vm()
    path = f'/subscriptions/{SUBSCRIPTION}/resourceGroups/{group}/providers/Microsoft.Network/publicIPPrefixes/{prefix}'
    own = compute.VirtualMachineScaleSetPublicIPAddressConfigurationProperties(public_ip_prefix=compute.SubResource(id=path))
    wanted = compute.VirtualMachineScaleSetPublicIPAddressConfiguration(name='out', properties=own)
    configurations_of(vm)[0].properties.public_ip_address_configuration = wanted
    return s.put(vm)


def public_address(s):
    with_public_address(s, 'egress').result()
    shown = s.nic_of().ip_configurations[0].public_ip_address.id
    look = s.network.public_ip_addresses.get_virtual_machine_scale_set_public_ip_address
    found = look('rows', 'rows', s.id, 'nic0', 'ipconfig1', 'out')
    [prefix] = s.network.public_ip_prefixes.list('rows')
    taken = [one.id for one in prefix.public_ip_addresses]
    return found.id == shown, found.ip_address.rsplit('.', 1)[0], shown in taken, prefix.ip_prefix, prefix.tags


def full_prefix(s):
    with_public_address(s, 'full', 'empty').result()
    with_public_address(type(s)(s.cloud), 'full', 'empty').result()


def flexible(s):
    name = f'flexible_{s.next("flexible")}'
    vm = s.compute.virtual_machines.get('rows', name, expand='instanceView')
    nic = s.nics.get('rows', vm.network_profile.network_interfaces[0].id.rsplit('/', 1)[1])
    power = [one.code for one in vm.instance_view.statuses]
    return vm.virtual_machine_scale_set.id.rsplit('/', 1)[1], nic.virtual_machine.id == vm.id, power


def instance_view(s):
    return [one.code for one in s.vm(expand='instanceView').instance_view.statuses]


def mac(s):
    return s.nic_of().mac_address.count('-'), s.nic_of().mac_address.isupper()


def limited(s, *names):
    s.cloud.admin('PUT', 'allowed-actions', {'actions': names})
    return s.subnet('nodes')


ROWS = [
    refused('a look in an unknown subscription', ERRORS, lambda s: list(elsewhere(s, ComputeManagementClient, NOBODY).virtual_machine_scale_sets.list('rows')), 'SubscriptionNotFound', 404),
    refused('a look in an unknown resource group', ERRORS, lambda s: s.sets.get('none', 'rows'), 'ResourceGroupNotFound', 404),
    refused('an unknown scale set', SET, lambda s: s.sets.get('rows', 'none'), 'ResourceNotFound', 404, "'Microsoft.Compute/virtualMachineScaleSets/none'"),
    refused('a machine of an unknown scale set', ERRORS, lambda s: s.vm('none', '0'), 'ParentResourceNotFound', 404),
    refused('an unknown machine of a scale set', VM, lambda s: s.vm(id='9999'), 'NotFound', 404),
    refused('the view of an unknown machine of a scale set', VM, lambda s: s.vms.get_instance_view('rows', 'rows', '9999'), 'NotFound', 404),
    refused('an unknown machine of its own', ERRORS, lambda s: s.compute.virtual_machines.get('rows', 'none'), 'ResourceNotFound', 404),
    refused('an unknown interface', NIC, lambda s: s.nics.get('rows', 'none'), 'ResourceNotFound', 404),
    refused('an unknown virtual network', SUBNET, lambda s: s.network.virtual_networks.get('network', 'none'), 'ResourceNotFound', 404),
    refused('a subnet of an unknown virtual network', SUBNET, lambda s: s.network.subnets.get('network', 'none', 'nodes'), 'ParentResourceNotFound', 404),
    refused('an unknown subnet', SUBNET, lambda s: s.subnet('none'), 'NotFound', 404),
    refused('interfaces of a scale set without machines', NIC, lambda s: list(s.nics.list_virtual_machine_scale_set_network_interfaces('rows', 'empty')), 'NotFound', 404),
    refused('interfaces of an unknown machine', NIC, lambda s: s.nic_of(id='9999'), 'NotFound', 404),
    refused('an unknown operation', OPERATIONS, operation, 'NotFound', 404),
    refused('a machine with another part expanded', VM, lambda s: s.vm(expand='resources'), 'InvalidParameter'),
    refused('a page with a token of nobody', SET, lambda s: s.cloud.raw('GET', f'{GROUP}/providers/Microsoft.Compute/virtualMachineScaleSets?$skiptoken=x.y'), 'InvalidSkipToken'),
    refused('a change by who may only read', ROLES, lambda s: s.put(s.vm(), client=s.cloud.compute_as('reader')), 'AuthorizationFailed', 403, 'virtualMachineScaleSets/virtualMachines/write'),
    refused('a look by who may look elsewhere', ROLES, lambda s: s.cloud.network_as('elsewhere').subnets.get('network', 'main', 'nodes'), 'AuthorizationFailed', 403, 'virtualNetworks/subnets/read'),
    refused('a change by who may not join the subnet', LINKED, lambda s: s.put(s.with_more(s.vm()), client=s.cloud.compute_as('joinless')), 'LinkedAuthorizationFailed', 403, 'subnets/join/action'),
    refused('a change with the image by who may not read it', LINKED, lambda s: s.put(s.vm('gallery', '0'), 'gallery', '0', client=s.cloud.compute_as('imageless')), 'LinkedAuthorizationFailed', 403, 'galleries/images/versions/read'),
    refused('a look while only others are allowed', ROLES, lambda s: limited(s, 'VirtualMachines.Get'), 'AuthorizationFailed', 403),
    yields('a look while it is allowed', ROLES, lambda s: limited(s, 'Subnets.Get').name, 'nodes'),
    yields('interfaces of a scale set', NIC, lists, (120, True)),
    yields('interfaces of a scale set, page by page', NIC, paged, (120, 120)),
    yields('a path in any case', ERRORS, any_case, True),
    yields('ids in another case', ERRORS, respelled, (True, True, True)),
    yields('scale sets of another subscription', SET, second_set, ['far']),
    yields('a subnet of another subscription', SUBNET, lambda s: elsewhere(s, NetworkManagementClient, OTHER_SUBSCRIPTION).subnets.get('other', 'far', 'far').address_prefix, '10.9.0.0/24'),
    yields('several interfaces, pools, groups and a public address', NIC, wide, ([True, False, True, False], [True, True], True, {'pods'})),
    yields('a public address out of a prefix', PREFIX, public_address, (True, '203.0.113', True, '203.0.113.0/28', {'pool': 'egress'})),
    refused('a public address out of a prefix that has none left', PREFIX, full_prefix, 'PublicIpPrefixOutOfIpAddressesForVMScaleSet', None),
    refused('a public address out of an unknown prefix', PREFIX, lambda s: with_public_address(s, 'none').result(), 'InvalidResourceReference'),
    yields('a machine of a flexible scale set and its own interface', VM, flexible, ('flexible', True, ['ProvisioningState/succeeded', 'PowerState/running'])),
    yields('how a machine is', VM, instance_view, ['ProvisioningState/succeeded', 'PowerState/running']),
    yields('a MAC address', NIC, mac, (5, True)),
    yields('a subnet that only lists its blocks', SUBNET, lambda s: (s.subnet('listed').address_prefix, s.subnet('listed').address_prefixes), (None, ['10.2.0.0/24'])),
    yields('every configuration of a subnet', SUBNET, lambda s: s.held(s.tiny), 1),
    yields('the first addresses of a subnet, which are not handed out', RESERVED, lambda s: int(s.addresses(s.tiny, '0')[0].rsplit('.', 1)[1]) in range(4, 15), True),
    yields('eleven addresses of a subnet of sixteen', RESERVED, lambda s: s.add(10, s.tiny, '0') and s.held(s.tiny), 11),
    yields('virtual networks with their subnets', SUBNET, lambda s: 'nodes' in [one.name for one in next(iter(s.network.virtual_networks.list('network'))).subnets], True),
    yields('interfaces of a resource group', NIC, lambda s: len([one for one in s.nics.list('rows') if one.name.startswith('single')]), 40),
    yields('two hundred and fifty-six configurations of an interface', LIMITS, lambda s: s.add(255) and len(s.addresses()), 256),
    refused('two hundred and fifty-seven configurations of an interface', LIMITS, lambda s: s.add(256), 'IpConfigurationsOnNicExceedsLimit'),
]

