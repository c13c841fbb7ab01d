// Configuration of the export of AI log entries.

/** A file that is rotated. */
export interface FileDestination {
  readonly kind: 'file'
  readonly path: string // absolute
  readonly maxSize: number // bytes
  readonly maxAge: number // ms; 0: age does not count
  readonly keep: number // rotated files; 0: all
}

/** An address that receives batches. */
export interface HttpsDestination {
  readonly kind: 'https'
  readonly url: string // {batch_id} in it stands for the id of a batch
  readonly headers: readonly (readonly [name: string, value: string])[] // values are secret
  readonly secrets: readonly string[] // keys of signatures, as they are written; none: no signature
  readonly ca: string | null // PEM of the authorities that are trusted; null: those that Node trusts
  readonly timeout: number // ms for one attempt
}

export interface LogExportConfig {
  readonly destination: FileDestination | HttpsDestination
  readonly payloads: boolean // whether stored bodies are exported too
  readonly delay: number // the most ms that an entry waits for others
  readonly batchSize: number // bytes at which a batch is full, before it is compressed
  readonly maxDisk: number // bytes of what waits
}
