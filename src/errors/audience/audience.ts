// The audience of an error: chosen once, when the route of a request is known.

import type { Operator } from '../../config/model/custom-errors-config.ts'
import type { Occasion } from '../catalogue/problem.ts'
import type { Refusal } from '../catalogue/refusal.ts'
import type { Format } from './negotiate.ts'
import { linesOf } from './response-head.ts'

export interface ErrorResponse {
  readonly status: number
  readonly reason: string
  /** Name, value, name, value …; with Content-Length, without Date and Connection. */
  readonly headers: readonly string[]
  /** ASCII only, so that its length is its Content-Length. */
  readonly body: string
}

/** A response whose field lines are written (`Name: value` CRLF …). */
export interface WrittenResponse {
  readonly status: number
  readonly reason: string
  readonly lines: string
  readonly body: string
}

export interface Options {
  /** Base of the `type` URIs, no trailing slash; null for the gateway's own pages. */
  readonly documentation: string | null
  /** The operator named on the page; null for none. */
  readonly operator?: Operator | null
  /** The challenge of an AI call, for WWW-Authenticate; null for the usual one of the status. */
  readonly challenge?: string | null
}

/** How errors are presented to one kind of client. */
export interface Audience {
  readonly kind: 'people' | 'ai' | 'grpc' | 'mcp'
  /** Whether the events of its streams have numbers, as those of Responses do. */
  readonly numbersEvents?: boolean
  formatOf(accept: string | null): Format
  compose(refusal: Refusal, occasion: Occasion, options: Options): WrittenResponse
  /** Composes the last event of an event stream that has begun, from the beginning of a line. */
  composeEvent(refusal: Refusal, occasion: Occasion, options: Options): string
  /** Trailers of a response that has begun: name, value, …; null if not read. */
  composeTrailers(refusal: Refusal, occasion: Occasion, options: Options): string[] | null
}

export function written({ status, reason, headers, body }: ErrorResponse): WrittenResponse {
  return { status, reason, lines: linesOf(headers), body }
}
