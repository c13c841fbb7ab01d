// The words of an error for callers of a provider: they name the provider. Its host appears only in the log.

import { errorRows } from './catalogue.ts'
import type { OriginFault } from './origin-failure.ts'
import type { Refusal } from './refusal.ts'

/** The limits that a sentence can name, in ms. */
interface Limits {
  readonly connect: number
  readonly response: number
  /** Until the first content of an AI call. */
  readonly content: number
}

/** Returns a refusal in words about the provider where its row speaks of an origin. */
export function inNameOf(provider: string, refusal: Refusal, limits: Limits): Refusal {
  const { error, faults, wording, cause } = refusal
  const { title, detail, guidance } = errorRows[error]
  if (faults.length > 0 || wording !== null || !server.test(detail)) return refusal
  const limit = limitOf((cause as { readonly code?: unknown } | null)?.code, limits)
  const timed = limit === 0 ? detail : detail.replace('respond in time', `respond within ${limit / 1000} s`)
  const named = { detail: naming(provider, timed), guidance: naming(provider, guidance) }
  return { ...refusal, wording: { heading: title, ...named, isOfRequest: true } }
}

function limitOf(code: unknown, { connect, response, content }: Limits): number {
  if (code === ('GH_CONTENT_TIMEOUT' satisfies OriginFault)) return content
  if (code === ('GH_RESPONSE_TIMEOUT' satisfies OriginFault)) return response
  return code === ('GH_CONNECT_TIMEOUT' satisfies OriginFault) ? connect : 0
}

function naming(provider: string, words: string): string {
  return words.replaceAll(eachServer, provider).replace('a faster origin server', 'a faster model')
}

const server = /\bthe (?:real )?origin server(?: of this site)?\b/i
const eachServer = new RegExp(server, 'gi')
