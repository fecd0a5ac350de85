// A column of the tables that kubectl prints.
import type { JsonValue } from '../json-value.ts';
import type { KubernetesObject } from '../objects/kubernetes-object.ts';

export interface TableColumn {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  /** 0 is always shown, higher ones in wide tables. */
  readonly priority: number;
  /** The cell of an object; `now` in ms since the epoch, for ages. */
  readonly cell: (object: KubernetesObject, now: number) => JsonValue;
}
