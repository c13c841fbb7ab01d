import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { type ErrorName, errorRows } from '../../../src/errors/catalogue/catalogue.ts'
import {
  failureOf,
  fault,
  type OriginFault,
  originFailure,
  ways,
} from '../../../src/errors/catalogue/origin-failure.ts'
import { inNameOf } from '../../../src/errors/catalogue/provider-wording.ts'
import { refuse } from '../../../src/errors/catalogue/refusal.ts'

const limits = { connect: 19_000, response: 60_000, content: 7_000 }
const codes = ['ENOTFOUND', 'ECONNREFUSED', 'EHOSTUNREACH', 'ETIMEDOUT', 'CERT_HAS_EXPIRED', 'ECONNRESET']
const phases = ['resolve', 'connect', 'handshake', 'wait'] as const

test('every error of a provider that fails speaks of it by its name', () => {
  const own = ways.filter(way => way.startsWith('GH_')).map(way => fault(way as OriginFault))
  const failures = [...own, ...codes.map(code => failureOf({ code }))].flatMap(failure =>
    phases.map(phase => originFailure(phase, failure)),
  )
  const errors = new Set<ErrorName>(failures)
  ok(errors.size > 9, `${errors.size}`)
  for (const error of errors) {
    // The gateway is at fault, and says so in words of its own.
    if (error === 'internal_server_error' || error === 'service_unavailable') continue
    const { wording, error: same } = inNameOf('custom-lab', refuse(error), limits)
    equal(same, error)
    match(wording!.detail, /custom-lab/, error)
    doesNotMatch(`${wording!.detail} ${wording!.guidance}`, /origin/, error)
    match(wording!.guidance, /^\*\*(Wait and retry|Do not retry)\.\*\*/)
    equal(wording!.heading, errorRows[error].title)
  }
})

test('a limit that is over is named', () => {
  const told = (error: ErrorName, way: Parameters<typeof fault>[0]) =>
    inNameOf('openai', refuse(error, {}, fault(way).cause), limits).wording!.detail
  match(
    told('origin_response_timeout', 'GH_RESPONSE_TIMEOUT'),
    /^openai accepted the connection but did not respond within 60 s\./,
  )
  match(told('connection_timeout', 'GH_CONNECT_TIMEOUT'), /openai did not respond within 19 s\./)
  match(told('origin_response_timeout', 'GH_IDLE_TIMEOUT'), /did not respond in time/)
})

test('words that are no such words stay', () => {
  for (const error of ['rate_limited', 'internal_server_error', 'not_found'] as const) {
    const refusal = refuse(error)
    equal(inNameOf('openai', refusal, limits), refusal)
  }
  const faults = [{ code: 7003, message: 'a', pointer: null }]
  deepEqual(inNameOf('openai', refuse('origin_down', { faults }), limits).wording, null)
})
