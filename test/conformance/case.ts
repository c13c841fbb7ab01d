// What a case is, whatever it is about.

/** As RFC 2119 names them. */
export type Level = 'MUST' | 'SHOULD' | 'MAY'

/**
 * `otherwise`: what was sent was refused, as it has to be, but by another code or none. `failed`: it was
 * taken, or something valid was refused.
 */
export type Result = 'passed' | 'otherwise' | 'failed'

export interface Verdict {
  readonly result: Result
  readonly note: string
}

export interface Case {
  /** Of RFC 9113 where it names no other. */
  readonly section: string
  readonly title: string
  readonly level: Level
}
