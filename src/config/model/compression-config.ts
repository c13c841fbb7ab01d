// How the responses of a zone are compressed.

/** By their names in the IANA registry (RFC 9110 section 8.4.1, RFC 7932, RFC 8878). */
export const contentCodings = ['zstd', 'br', 'gzip'] as const
export type ContentCoding = (typeof contentCodings)[number]

export interface CompressionConfig {
  readonly encodings: readonly ContentCoding[] // the most preferred first
  readonly levels: Readonly<Record<ContentCoding, number>> // 1 to 9, each on the scale of its coding
  readonly types: readonly string[] // lower-case: type/subtype, type/* or type/*+suffix
  readonly minimum: number // bytes of the body, where its length is known
}
