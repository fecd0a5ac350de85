// One committed write, as history keeps it and watches receive it.
import type { KubernetesObject } from '../objects/kubernetes-object.ts';

export type ChangeKind = 'ADDED' | 'DELETED' | 'MODIFIED';

export interface Change {
  readonly kind: ChangeKind;
  readonly key: string;
  readonly revision: number;
  /** After the write; of a deletion, the last state under the deletion's resource version. */
  readonly object: KubernetesObject;
  /** Before the write; undefined when it was added. */
  readonly previous: KubernetesObject | undefined;
}
