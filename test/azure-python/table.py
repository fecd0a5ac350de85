"""The form of a row: what is done, on which cloud, and what has to come of it, with the page that says so.

The tables hold one row a line, however long the line is.
"""

import dataclasses
import typing

LEARN = 'https://learn.microsoft.com'
ERRORS = f'{LEARN}/azure/azure-resource-manager/troubleshooting/common-deployment-errors'
THROTTLING = f'{LEARN}/azure/azure-resource-manager/management/request-limits-and-throttling'
COMPUTE_LIMITS = f'{LEARN}/azure/virtual-machines/compute-throttling-limits'
OPERATIONS = f'{LEARN}/azure/azure-resource-manager/management/async-operations'
TOKENS = f'{LEARN}/entra/identity-platform/v2-oauth2-client-creds-grant-flow'
TOKEN_ERRORS = f'{LEARN}/entra/identity-platform/reference-error-codes'
METADATA = f'{LEARN}/azure/virtual-machines/instance-metadata-service'
IDENTITY = f'{LEARN}/entra/identity/managed-identities-azure-resources/how-to-use-vm-token'
ROLES = f'{LEARN}/azure/role-based-access-control/troubleshooting'
LINKED = f'{LEARN}/azure/azure-resource-manager/troubleshooting/error-register-resource-provider'
REST = f'{LEARN}/rest/api'
VM = f'{REST}/compute/virtual-machine-scale-set-vms'
SET = f'{REST}/compute/virtual-machine-scale-sets'
NIC = f'{REST}/virtualnetwork/network-interfaces'
SUBNET = f'{REST}/virtualnetwork/subnets/get'
PREFIX = f'{LEARN}/azure/virtual-network/ip-services/public-ip-address-prefix'
ADDRESSES = f'{LEARN}/azure/virtual-network/ip-services/virtual-network-network-interface-addresses'
LIMITS = f'{LEARN}/azure/azure-resource-manager/management/azure-subscription-service-limits'
RESERVED = f'{LEARN}/azure/virtual-network/virtual-networks-faq'
ETAGS = f'{LEARN}/azure/architecture/best-practices/api-design'


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    source: str
    act: typing.Callable
    #: Code, status and pattern of the message of the refusal that is expected.
    refusal: tuple | None = None
    #: What the act returns, or a predicate of it.
    result: typing.Any = None
    cloud: str = 'instant'


def refused(name, source, act, code, status=400, message='', cloud='instant'):
    return Row(name, source, act, refusal=(code, status, message), cloud=cloud)


def yields(name, source, act, result, cloud='instant'):
    return Row(name, source, act, result=result, cloud=cloud)
