// Names of files in the spool. They sort in the order of export, and say how much is in each file.

export interface SpoolName {
  readonly file: string
  /** Ms since the epoch: earlier files are exported first. */
  readonly due: number
  readonly entries: number
  readonly bytes: number
}

interface SpoolPosition {
  readonly due: number
  /** The process that writes; unique among machines and restarts. */
  readonly writer: string
  readonly sequence: number
}

const pattern = /^(\d{13})-[0-9a-f]{16}-\d{9}-(\d{1,9})-(\d{1,12})\.(?:rows|ndjson\.gz)$/

/** Ms that files wait for those of other processes that belong before them. */
export const settling = 1000

/** What processes flush has the suffix `rows`, and a batch for the destination `ndjson.gz`. */
export function spoolName(
  { due, writer, sequence }: SpoolPosition,
  entries: number,
  bytes: number,
  suffix: 'rows' | 'ndjson.gz' = 'rows',
): string {
  const place = `${String(due).padStart(13, '0')}-${writer}-${String(sequence).padStart(9, '0')}`
  return `${place}-${entries}-${bytes}.${suffix}`
}

/** Returns null for other files. */
export function readSpoolName(file: string): SpoolName | null {
  const [, due, entries, bytes] = pattern.exec(file) ?? []
  return due === undefined ? null : { file, due: Number(due), entries: Number(entries), bytes: Number(bytes) }
}

/** Names a batch for the place of its first file. */
export function batchName({ file }: SpoolName, entries: number, bytes: number): string {
  return `${file.split('-', 3).join('-')}-${entries}-${bytes}.ndjson.gz`
}

/** The id by which a destination recognizes a batch that it has had before. */
export function batchId(file: string): string {
  return file.slice(0, file.indexOf('.'))
}

/** Orders files for export. */
export function inOrder(a: SpoolName, b: SpoolName): number {
  return a.file < b.file ? -1 : 1
}

/** Bytes that a file takes on most disks. */
export function bytesOnDisk({ bytes }: SpoolName): number {
  return Math.ceil(bytes / block) * block
}

const block = 4096
