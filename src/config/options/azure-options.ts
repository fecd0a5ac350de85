// Options for Azure only: what Headwater reads there, as whom, and by which endpoints.
import { optionRows } from '../option-row.ts';
import { boolean, endpoint, httpUrl, list, oneOf, text } from '../value-kinds.ts';

/** The form of subscription and client ids. */
const uuid = /^[\da-fA-F]{8}(-[\da-fA-F]{4}){3}-[\da-fA-F]{12}$/;

export const azureOptions = optionRows(
  { origin: 'operator', group: 'azure', cloud: 'azure' },
  {
    'azure-subscription-id': {
      kind: list(
        'id,...',
        uuid,
        'subscription ids (32 hexadecimal digits in five groups) separated by commas or spaces',
      ),
      legacyVariable: 'AZURE_SUBSCRIPTION_ID',
      help: 'The only subscriptions whose nodes are served. Empty means those that the CiliumNodes name in spec.instance-id. Set it to keep Headwater out of other subscriptions.',
      default: '',
    },
    'azure-resource-group': {
      kind: list(
        'name,...',
        /^[^\s,;:<>%&\\?/#"'{}[\]|=+*!$@^~]{1,90}$/,
        'names of resource groups, at most 90 characters each, separated by commas or spaces',
      ),
      legacyVariable: 'AZURE_RESOURCE_GROUP',
      help: 'The only resource groups whose nodes are served, in upper or lower case. Empty means those that the CiliumNodes name in spec.instance-id: nodes of several groups need no option.',
      default: '',
    },
    'azure-user-assigned-identity-id': {
      kind: text(
        'client id',
        uuid,
        'the client id of a managed identity: 32 hexadecimal digits in five groups',
      ),
      legacyVariable: 'AZURE_USER_ASSIGNED_IDENTITY_ID',
      help: "Client id of the user-assigned managed identity to use. If unset, the Azure SDK's own chain finds credentials: environment variables, workload identity, the managed identity of the machine.",
    },
    'azure-use-primary-address': {
      kind: boolean,
      legacyVariable: 'AZURE_USE_PRIMARY_ADDRESS',
      help: 'Lets pods use the primary address of an interface, too: one more address for each interface.',
      default: 'false',
    },
    'azure-offered-configurations': {
      kind: oneOf(['all', 'own']),
      origin: 'headwater',
      help: 'Which secondary IP configurations of an interface are for pods. all: every one, as for cilium-operator. own: those that Headwater or cilium-operator added (their names begin with Cilium-), without those with a public address, a load balancer, an application gateway or a NAT rule. The others take their places and are listed under excluded in /status. What pods have of them stays offered until it is free. No setting removes a configuration of others. Set own where other software hands out addresses of the same interfaces.',
      default: 'all',
    },
    'azure-release-excess-ips': {
      kind: boolean,
      origin: 'headwater',
      group: 'release',
      help: 'Releases addresses beyond the watermarks. Off, because Azure has an open fault with the removal of IP configurations, for which cilium-operator does not release on Azure either: try it on a few nodes first. Only configurations that Headwater or cilium-operator added are removed (their names begin with Cilium-), and none with a public address or a load balancer.',
      default: 'false',
    },
    'azure-cloud': {
      kind: oneOf(['AzurePublicCloud', 'AzureUSGovernmentCloud', 'AzureChinaCloud']),
      origin: 'headwater',
      help: 'The Azure cloud of the nodes, which decides the public endpoints. If unset, the instance metadata service says it. Set it where there is no metadata service.',
    },
    'azure-endpoint': {
      kind: endpoint,
      origin: 'headwater',
      help: "The endpoint of Azure Resource Manager. If unset, the cloud's public endpoint. Set it for a private endpoint (a bare host name means https) or for a model (https://localhost:4567). The authority that issues tokens is then not looked up, so AZURE_AUTHORITY_HOST may name any host.",
    },
    'azure-metadata-endpoint': {
      kind: httpUrl,
      origin: 'headwater',
      help: 'Where the instance metadata service is asked for the cloud, the subscription and the resource group, as far as azure-cloud, azure-subscription-id and azure-resource-group are unset. Set it only if something else stands in for that service.',
      default: 'http://169.254.169.254',
    },
  },
);
