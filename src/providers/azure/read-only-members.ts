// Members of a model that its provider alone decides. Microsoft's own clients leave these members out of what
// they write, and a provider may refuse a change of them. Every other member goes back as it came, known or not.
import { isObject, type Json, type JsonObject } from '../../runtime/json.ts';

/** Members that are left out, and what is left out of others; `*`: of every item of a list, or every member of a map. */
interface ReadOnly {
  readonly members: readonly string[];
  readonly within?: Readonly<Record<string, ReadOnly>>;
}

const provisioningState = ['provisioningState'];

const ofVm: ReadOnly = {
  members: ['id', 'name', 'type', 'etag', 'systemData', 'instanceId', 'sku', 'zones', 'resources'],
  within: {
    identity: {
      members: ['principalId', 'tenantId'],
      within: {
        userAssignedIdentities: { members: [], within: { '*': { members: ['principalId', 'clientId'] } } },
      },
    },
    properties: {
      members: [
        ...provisioningState,
        'latestModelApplied',
        'modelDefinitionApplied',
        'vmId',
        'timeCreated',
        'instanceView',
        'virtualMachineResourceId',
      ],
      within: {
        osProfile: {
          members: [],
          within: { windowsConfiguration: { members: ['enableVMAgentPlatformUpdates'] } },
        },
      },
    },
  },
};

const ofConfiguration: ReadOnly = {
  members: ['type', 'etag'],
  within: { properties: { members: [...provisioningState, 'privateLinkConnectionProperties'] } },
};

const ofInterface: ReadOnly = {
  members: ['name', 'type', 'etag'],
  within: {
    properties: {
      members: [
        ...provisioningState,
        'resourceGuid',
        'macAddress',
        'primary',
        'virtualMachine',
        'hostedWorkloads',
        'tapConfigurations',
        'privateEndpoint',
        'dscpConfiguration',
        'vnetEncryptionSupported',
        'defaultOutboundConnectivityEnabled',
      ],
      within: {
        dnsSettings: { members: ['appliedDnsServers', 'internalFqdn', 'internalDomainNameSuffix'] },
        ipConfigurations: { members: [], within: { '*': ofConfiguration } },
      },
    },
  },
};

const byUpdate = {
  'VirtualMachineScaleSetVMs.Update': ofVm,
  'Interfaces.CreateOrUpdate': ofInterface,
} as const;

/** The model as an update writes it. */
export function withoutReadOnly(update: keyof typeof byUpdate, model: JsonObject): JsonObject {
  return writable(model, byUpdate[update]);
}

function writable(value: JsonObject, { members, within = {} }: ReadOnly): JsonObject {
  const dropped = new Set(members);
  const kept = Object.entries(value).filter(([name]) => !dropped.has(name));
  return Object.fromEntries(
    kept.map(([name, item]) => {
      const inner = Object.hasOwn(within, name) ? within[name] : within['*'];
      return [name, inner === undefined ? item : withinIt(item, inner)];
    }),
  );
}

function withinIt(value: Json, inner: ReadOnly): Json {
  if (isObject(value)) return writable(value, inner);
  const each = inner.within?.['*'];
  if (!Array.isArray(value) || each === undefined) return value;
  return (value as readonly Json[]).map((item) => (isObject(item) ? writable(item, each) : item));
}
