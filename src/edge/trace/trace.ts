// Which trace a request is a part of (W3C Trace Context).

import { randomHex } from '../../base/random-hex.ts'
import { type FieldId, field } from '../../http1/fields.ts'
import type { RequestHead } from '../../http1/request-head.ts'
import { parseTraceParent, parseTraceState, traceFlag } from '../../http1/trace-context.ts'
import type { TraceConfig } from '../../config/telemetry-config.ts'
import type { Recording } from './recording.ts'

/** The place of one request in its trace. */
export class Trace {
  readonly traceId: string
  /** The span of the client; null where the trace begins here. */
  readonly parentId: string | null
  /** The span of the request at this gateway. */
  readonly spanId = randomHex(spanDigits)
  readonly flags: number
  /** The members of `tracestate`, joined; empty for none. */
  readonly state: string
  /** What is noted for the spans of the request; null where none are sent. */
  recording: Recording | null = null

  constructor(head: RequestHead, settings: TraceConfig, mayContinue: boolean) {
    const value = mayContinue ? onlyValue(head, field.traceparent) : null
    const parent = value === null ? null : parseTraceParent(value)
    this.traceId = parent?.traceId ?? randomHex(traceDigits)
    this.parentId = parent?.parentId ?? null
    this.flags = parent?.flags ?? newFlags(this.traceId, settings.sample)
    this.state = parent === null ? '' : (parseTraceState(joinedValues(head, field.tracestate)) ?? '')
  }

  get isSampled(): boolean {
    return (this.flags & traceFlag.sampled) !== 0
  }
}

/** Whether a field is about the trace of a request. */
export function isOfTrace(id: FieldId): boolean {
  return id === field.traceparent || id === field.tracestate
}

const traceDigits = 32
const spanDigits = 16

/** Returns the value of a field that came once; null where it did not come, or more than once. */
function onlyValue({ fields, ids }: RequestHead, wanted: FieldId): string | null {
  const at = ids.indexOf(wanted)
  return at === -1 || ids.indexOf(wanted, at + 1) !== -1 ? null : fields[2 * at + 1]!
}

function joinedValues({ fields, ids }: RequestHead, wanted: FieldId): string {
  let all = ''
  for (let i = 0; i < ids.length; i++)
    if (ids[i] === wanted) all = all === '' ? fields[2 * i + 1]! : `${all},${fields[2 * i + 1]}`
  return all
}

/** Draws whether a new trace is sampled from its id, as later samplers of the same share would. */
function newFlags(traceId: string, share: number): number {
  const drawn = Number.parseInt(traceId.slice(-drawnDigits), 16) / 16 ** drawnDigits
  return traceFlag.random | (drawn < share ? traceFlag.sampled : 0)
}

/** Those that are random by level 2 (section 3.2.2.5.2), as far as a number holds them. */
const drawnDigits = 13
