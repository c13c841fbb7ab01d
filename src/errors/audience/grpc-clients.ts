// Errors for gRPC clients: a status in place of trailers and no body ("Trailers-Only"), or the trailers of a
// response that has begun.

import { errorRows } from '../catalogue/catalogue.ts'
import { problem } from '../catalogue/problem.ts'
import type { Refusal } from '../catalogue/refusal.ts'
import { type Audience, written } from './audience.ts'
import { negotiate } from './negotiate.ts'
import { composeEvent } from './people.ts'

/** The gRPC status codes of the gateway. */
const grpcStatus = {
  unknown: 2,
  deadlineExceeded: 4,
  permissionDenied: 7,
  resourceExhausted: 8,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const

export const grpcClients: Audience = {
  kind: 'grpc',
  formatOf: negotiate,
  compose(refusal, occasion, { documentation }) {
    const { detail, retry_after: retryAfter } = problem(refusal, occasion, documentation)
    const headers = [
      'Content-Type',
      'application/grpc',
      ...statusOf(refusal, detail),
      'svc-ray',
      occasion.ray,
    ]
    // A client that retries does so no sooner.
    if (retryAfter !== undefined) headers.push('grpc-retry-pushback-ms', String(retryAfter * 1000))
    return written({ status: 200, reason: 'OK', headers, body: '' })
  },
  composeEvent,
  composeTrailers: (refusal, occasion, { documentation }) =>
    statusOf(refusal, problem(refusal, occasion, documentation).detail),
}

function statusOf(refusal: Refusal, detail: string): string[] {
  const status = grpcStatusOf(errorRows[refusal.error].status)
  return ['grpc-status', String(status), 'grpc-message', encoded(detail)]
}

/** By the mapping of gRPC, or a closer one for errors of this gateway. */
function grpcStatusOf(status: number): number {
  return byStatus.get(status) ?? (status >= 502 ? grpcStatus.unavailable : grpcStatus.unknown)
}

const byStatus: ReadonlyMap<number, number> = new Map([
  [400, grpcStatus.internal],
  [401, grpcStatus.unauthenticated],
  [403, grpcStatus.permissionDenied],
  [404, grpcStatus.unimplemented],
  [405, grpcStatus.unimplemented],
  [408, grpcStatus.deadlineExceeded],
  [413, grpcStatus.resourceExhausted],
  [414, grpcStatus.resourceExhausted],
  [429, grpcStatus.resourceExhausted],
  [451, grpcStatus.permissionDenied],
  [500, grpcStatus.internal],
  [501, grpcStatus.unimplemented],
  [504, grpcStatus.deadlineExceeded],
  [522, grpcStatus.deadlineExceeded],
  [524, grpcStatus.deadlineExceeded],
])

/** Encodes for `grpc-message`: UTF-8, all but printable ASCII percent-encoded. */
function encoded(text: string): string {
  let result = ''
  for (const byte of Buffer.from(text))
    result += byte >= 0x20 && byte <= 0x7e && byte !== 0x25 ? String.fromCharCode(byte) : percent(byte)
  return result
}

function percent(byte: number): string {
  return `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
}
