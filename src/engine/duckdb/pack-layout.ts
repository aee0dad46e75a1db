/** How packed files are laid out. */
export interface PackLayout {
  readonly fileRows: number
  /** DuckDB makes none smaller than 2,048. */
  readonly rowGroupRows: number
  readonly codec: 'zstd' | 'snappy' | 'lz4_raw'
  /** Of Parquet's data pages. */
  readonly parquetVersion: 'V1' | 'V2'
}

/**
 * The layout that looked rows up quickest in measurements: small row groups prune well, and files
 * are chosen by their bounds before the engine sees them.
 */
export const packLayout: PackLayout = {
  fileRows: 200_000,
  rowGroupRows: 10_240,
  codec: 'zstd',
  parquetVersion: 'V2',
}

/** `000017.parquet`: by name is by place. */
export function packedName(index: number): string {
  return `${String(index).padStart(6, '0')}.parquet`
}
