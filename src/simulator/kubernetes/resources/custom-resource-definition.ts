// The fields of a CustomResourceDefinition that this server uses.
// https://kubernetes.io/docs/reference/kubernetes-api/extend-resources/custom-resource-definition-v1/
import type { StructuralSchema } from '../schema/structural-schema.ts';

export interface CustomResourceDefinition {
  readonly apiVersion: 'apiextensions.k8s.io/v1';
  readonly kind: 'CustomResourceDefinition';
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: {
    readonly group: string;
    readonly scope: 'Cluster' | 'Namespaced';
    readonly names: {
      readonly kind: string;
      readonly listKind?: string;
      readonly plural: string;
      readonly singular?: string;
      readonly shortNames?: readonly string[];
      readonly categories?: readonly string[];
    };
    readonly versions: readonly CustomResourceVersion[];
  };
}

export interface CustomResourceVersion {
  readonly name: string;
  readonly served: boolean;
  /** Exactly one version is the storage version. */
  readonly storage: boolean;
  readonly schema: { readonly openAPIV3Schema: StructuralSchema };
  readonly subresources?: { readonly status?: Readonly<Record<string, never>> };
  readonly additionalPrinterColumns?: readonly PrinterColumn[];
}

export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
}
