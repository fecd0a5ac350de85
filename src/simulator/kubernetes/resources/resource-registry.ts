// The registry of served resources. Built-in ones are always there; definitions of custom ones come and go.
import { customResourceTypes } from './custom-resource.ts';
import type { CustomResourceDefinition } from './custom-resource-definition.ts';
import type { ResourceType } from './resource-type.ts';

export class ResourceRegistry {
  readonly #builtIn: readonly ResourceType[];
  /** By the name of their definition. */
  readonly #custom = new Map<string, readonly ResourceType[]>();
  #all: readonly ResourceType[];

  constructor(builtIn: readonly ResourceType[]) {
    this.#builtIn = builtIn;
    this.#all = builtIn;
  }

  /** Serves a definition in place of its previous version; throws if it cannot be served. */
  install(definition: CustomResourceDefinition): void {
    this.#custom.set(definition.metadata.name, customResourceTypes(definition));
    this.#collect();
  }

  remove(definitionName: string): void {
    this.#custom.delete(definitionName);
    this.#collect();
  }

  /** All types in registration order. */
  all(): readonly ResourceType[] {
    return this.#all;
  }

  find(group: string, version: string, plural: string): ResourceType | undefined {
    return this.all().find(
      ({ names }) => names.group === group && names.version === version && names.plural === plural,
    );
  }

  /** A type by its resource path: `nodes`, `ciliumnodes.cilium.io`, `ciliumnodes.v2.cilium.io`. */
  findByPath(path: string): ResourceType | undefined {
    return this.all().find(({ names: { group, version, plural } }) => {
      const suffix = group === '' ? '' : `.${group}`;
      return path === `${plural}${suffix}` || path === `${plural}.${version}${suffix}`;
    });
  }

  /** Whether built-in resources live under a path's group and version: unknown resources there get another refusal. */
  isBuiltIn(group: string, version: string): boolean {
    return this.#builtIn.some(({ names }) => names.group === group && names.version === version);
  }

  #collect(): void {
    this.#all = [...this.#builtIn, ...[...this.#custom.values()].flat()];
  }
}
