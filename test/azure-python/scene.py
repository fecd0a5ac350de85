"""What one row acts in: machines and subnets that no other row uses."""

import copy
import functools
import itertools

from azure.mgmt.network import models as network

from cloud import IF_SAME, SUBSCRIPTION

GROUP = f'/subscriptions/{SUBSCRIPTION}/resourceGroups/rows'
SUBNETS = f'/subscriptions/{SUBSCRIPTION}/resourceGroups/network/providers/Microsoft.Network/virtualNetworks/main/subnets'

#: Machines, tiny scale sets and sets to scale that rows have taken, of each cloud.
_taken = {}


class Scene:
    def __init__(self, cloud):
        self.cloud = cloud
        self.compute, self.network = cloud.compute, cloud.network
        self.vms = self.compute.virtual_machine_scale_set_vms
        self.sets = self.compute.virtual_machine_scale_sets
        self.nics = self.network.network_interfaces

    def next(self, kind):
        counters = _taken.setdefault(self.cloud.url, {})
        return next(counters.setdefault(kind, itertools.count()))

    @functools.cached_property
    def id(self):
        """The number of a machine of the scale set `rows`, with one interface in a large subnet."""
        return str(self.next('vm'))

    @functools.cached_property
    def tiny(self):
        """A scale set of one machine in a subnet of eleven addresses, with ten of them free."""
        return f'tiny{self.next("tiny")}'

    @functools.cached_property
    def growing(self):
        """A scale set of one machine."""
        return f'growing{self.next("growing")}'

    @functools.cached_property
    def nic(self):
        """The name of the interface of a machine of its own."""
        return f'single-{self.next("single")}-nic0'

    def path(self, set='rows', id=None):
        return f'{GROUP}/providers/Microsoft.Compute/virtualMachineScaleSets/{set}/virtualMachines/{id or self.id}'

    @functools.cached_property
    def nic_path(self):
        return f'{GROUP}/providers/Microsoft.Network/networkInterfaces/{self.nic}'

    def vm(self, set='rows', id=None, **more):
        return self.vms.get('rows', set, id or self.id, **more)

    def put(self, model, set='rows', id=None, etag=None, client=None, **more):
        """The poller of an update."""
        if etag is not None:
            more.update(etag=etag, match_condition=IF_SAME)
        vms = (client or self.compute).virtual_machine_scale_set_vms
        return vms.begin_update('rows', set, id or self.id, model, **more)

    def add(self, count=1, set='rows', id=None, name='Cilium-', wait=True, **more):
        """Adds configurations to the first interface of a machine."""
        poller = self.put(self.with_more(self.vm(set, id), count, name), set, id, polling=wait, **more)
        return poller.result() if wait else poller

    def with_more(self, vm, count=1, name='Cilium-'):
        configurations = configurations_of(vm)
        for number in range(count):
            more = copy.deepcopy(configurations[0])
            more.name, more.properties.primary = f'{name}{number}', False
            configurations.append(more)
        return vm

    def nic_of(self, set='rows', id=None):
        return list(self.nics.list_virtual_machine_scale_set_vm_network_interfaces('rows', set, id or self.id))[0]

    def addresses(self, set='rows', id=None):
        return [one.private_ip_address for one in self.nic_of(set, id).ip_configurations]

    def states(self, set='rows', id=None):
        return [str(one.provisioning_state.value) for one in self.nic_of(set, id).ip_configurations]

    def own(self):
        return self.nics.get('rows', self.nic)

    def put_own(self, model, name=None, etag=None, **more):
        # This client has no parameter for it.
        if etag is not None:
            more['headers'] = {'If-Match': etag}
        return self.nics.begin_create_or_update('rows', name or self.nic, model, **more)

    def add_own(self, count=1, subnet=None, **more):
        """The poller of an update of the interface of a machine of its own."""
        model = self.own()
        model.ip_configurations += [self.configuration(f'Cilium-{number}', subnet) for number in range(count)]
        return self.put_own(model, **more)

    def configuration(self, name, subnet=None, **more):
        return network.NetworkInterfaceIPConfiguration(name=name, subnet=network.Subnet(id=f'{SUBNETS}/{subnet or "nodes"}'), **more)

    def new_nic(self, *configurations, location='westeurope', name='new'):
        model = network.NetworkInterface(location=location, ip_configurations=list(configurations))
        return self.put_own(model, name=f'{name}-{self.next("new")}')

    def subnet(self, name):
        return self.network.subnets.get('network', 'main', name)

    def held(self, name):
        """How many configurations a subnet shows."""
        return len(self.subnet(name).ip_configurations or [])


def configurations_of(vm, index=0):
    profile = vm.properties.network_profile_configuration
    return profile.network_interface_configurations[index].properties.ip_configurations
