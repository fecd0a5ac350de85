export interface RawSourceMap {
  readonly version: number;
  readonly sources: readonly string[];
  readonly names: readonly string[];
  readonly mappings: string;
}

export function withOwnLines(map: RawSourceMap): RawSourceMap;
export function keepOwnLines(directory: string): Promise<void>;
