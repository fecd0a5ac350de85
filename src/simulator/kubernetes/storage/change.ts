// One committed write, as the history stores it and watches receive it.
import type { KubernetesObject } from '../objects/kubernetes-object.ts';

export type ChangeKind = 'ADDED' | 'DELETED' | 'MODIFIED';

export interface Change {
  readonly kind: ChangeKind;
  readonly key: string;
  readonly revision: number;
  /** After the write; for a deletion, the last state with the deletion's resource version. */
  readonly object: KubernetesObject;
  /** Before the write; undefined if it was added. */
  readonly previous: KubernetesObject | undefined;
}
