// What the gateway knows of gRPC: which requests are calls, and their timeouts.

import { field, firstValue } from '../../http1/fields/fields.ts'
import type { RequestHead } from '../../http1/heads/request-head.ts'

/** Only HTTP/2 carries gRPC. */
export function isGrpc({ version, fields, ids }: RequestHead): boolean {
  if (version !== '2') return false
  const i = ids.indexOf(field.contentType)
  return i !== -1 && callType.test(fields[2 * i + 1]!)
}

const callType = /^application\/grpc(?:$|[+;\t ])/i

/** Returns the client's timeout in ms up to the trailers; Infinity for none. */
export function callTimeout({ fields }: RequestHead): number {
  const timeout = firstValue(fields, 'grpc-timeout')
  return timeout === null ? Number.POSITIVE_INFINITY : timeoutOf(timeout)
}

/** At most 8 digits and a unit. Zero becomes the shortest timeout. */
function timeoutOf(value: string): number {
  const [, digits, unit] = /^(\d{1,8})([HMSmun])$/.exec(value) ?? []
  return digits === undefined
    ? Number.POSITIVE_INFINITY
    : Math.max(1, Number(digits) * units[unit as keyof typeof units])
}

const units = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 0.001, n: 0.000_001 } as const
