// All built-in resources, in discovery order.
import { configMaps } from './config-maps.ts';
import { customResourceDefinitions } from './custom-resource-definitions.ts';
import { coreEvents, events } from './events/events.ts';
import { leases } from './leases.ts';
import { namespaces } from './namespaces.ts';
import { nodes } from './nodes.ts';
import { pods } from './pods/pods.ts';
import type { ResourceType } from './resource-type.ts';

export const builtInTypes: readonly ResourceType[] = [
  configMaps,
  coreEvents,
  namespaces,
  nodes,
  pods,
  events,
  leases,
  customResourceDefinitions,
];
