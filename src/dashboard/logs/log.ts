// A log entry in the form of the management API, and in words.

/** An entry as in lists. */
export interface Log {
  readonly id: string
  readonly created_at: string
  readonly provider: string
  readonly model: string | null
  readonly path: string
  readonly status_code: number
  readonly success: boolean
  readonly error: string | null
  readonly duration: number
  readonly time_to_first_byte: number | null
  readonly tokens_in: number | null
  readonly tokens_out: number | null
  readonly usage_estimated?: true
  readonly cost: number | null
  readonly custom_cost?: true
  readonly attempts?: readonly Attempt[]
  readonly step?: number
  readonly event_id?: string
  readonly feedback?: -1 | 0 | 1
  readonly score?: number
  readonly cached: boolean
  readonly saved_tokens_in?: number | null
  readonly saved_tokens_out?: number | null
  readonly saved_cost?: number | null
  readonly authentication: boolean
  readonly token_id: string | null
  readonly token_name: string | null
  readonly streamed: boolean
  readonly dropped?: readonly string[]
  readonly findings?: readonly Finding[]
  /** JSON. */
  readonly metadata: string | null
  readonly request_content_type: string | null
  readonly response_content_type: string | null
  readonly user_email?: string
  readonly client_id?: string
  readonly client_name?: string
}

export interface Attempt {
  readonly provider: string
  readonly model: string | null
  readonly outcome: string
  /** Ms. */
  readonly duration: number
}

/** What the guard of the gateway found, without the text of it. */
export interface Finding {
  readonly check: string
  readonly name: string
  readonly action: string
  readonly count: number
}

/** An entry with its bodies, as far as they were stored. */
export type WholeLog = Log & Readonly<Partial<Record<string, unknown>>>

/** Returns the caller: an app or a token, by its name. */
export function callerOf({ token_name, token_id, client_name, authentication }: Log): string {
  return client_name ?? token_name ?? token_id ?? (authentication ? 'a token' : 'anyone')
}

/** Writes a time in ms, as `12 ms` or `3.2 s`. */
export function span(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`
}

/** Returns the tokens of the response per second, from its first byte if it was streamed; null if unknown. */
export function tokensPerSecond({ tokens_out, duration, time_to_first_byte, streamed }: Log): number | null {
  const ms = duration - (streamed ? (time_to_first_byte ?? 0) : 0)
  return tokens_out === null || ms < 1 ? null : (tokens_out / ms) * 1_000
}
