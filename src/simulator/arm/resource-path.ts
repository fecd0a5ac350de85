// Resource ids of Azure Resource Manager. They are paths, and case does not count in them: a record is kept under the
// lower-case path, its key, and remembers how it was spelled when it was made.

/** The key of a resource: its path in lower case. */
export function keyOf(path: string): string {
  return path.toLowerCase();
}

export function groupPath(subscription: string, group: string): string {
  return `/subscriptions/${subscription}/resourceGroups/${group}`;
}

export function scaleSetPath(group: string, name: string): string {
  return `${group}/providers/Microsoft.Compute/virtualMachineScaleSets/${name}`;
}

export function machinePath(group: string, name: string): string {
  return `${group}/providers/Microsoft.Compute/virtualMachines/${name}`;
}

export function networkPath(group: string, type: string, name: string): string {
  return `${group}/providers/Microsoft.Network/${type}/${name}`;
}

/** The resource group that a resource is in, as its path spells it: `/subscriptions/S/resourceGroups/G`. */
export function groupOf(path: string): string {
  return path.split('/').slice(0, 5).join('/');
}

/** The last part of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** The path of what a resource is a part of, such as the virtual network of a subnet. */
export function parentOf(path: string): string {
  return path.split('/').slice(0, -2).join('/');
}

/** The path of the resource that a list or an action of it belongs to. */
export function ownerOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}
