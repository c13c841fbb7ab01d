// Reports of finished commands, as JSON between processes that may be of different versions.

export interface ChangesReport {
  readonly changed: readonly string[]
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

export interface ReloadReport extends ChangesReport {
  /** The last reload since the start that changed anything, this one included; null for none. */
  readonly latest: (ChangesReport & { readonly at: string }) | null
}

export interface UpgradeReport {
  readonly before: ProcessReport
  readonly after: ProcessReport
  /** From the command until the new process serves. */
  readonly seconds: number
}

export interface ProcessReport {
  readonly pid: number
  /** Null for a version that does not report it. */
  readonly version: string | null
}
