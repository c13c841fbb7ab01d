import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  type AttemptEvent,
  decide,
  type ForwardState,
  isIdleLoss,
  type Verdict,
} from '../../../src/edge/forward/decide.ts'
import {
  type Failure,
  failureOf,
  fault,
  type OriginFault,
  ways,
} from '../../../src/errors/catalogue/origin-failure.ts'
import { refuse } from '../../../src/errors/catalogue/refusal.ts'
import type { Phase } from '../../../src/errors/catalogue/phase.ts'
import { answerHead } from '../../help/exchange.ts'

/** A GET that was sent whole on a connection that had served before, and to which nothing has come. */
const waiting: ForwardState = {
  stage: 'awaiting',
  isIdempotent: true,
  wantsUpgrade: false,
  sentBody: 'whole',
  isFresh: false,
  isReused: true,
  hasResponseBegun: false,
  hasRepeatedLookup: false,
  isInTime: true,
  mayRetry: true,
  retryOn: new Set([503]),
  aboutKey: null,
  isByHttp2: false,
  redirect: 'none',
  failoverOn: null,
  isUnsent: true,
  hasNextAttempt: false,
}

/** A call that has another model to go to. */
const onCourse = { isIdempotent: false, failoverOn: [429, 503], hasNextAttempt: true } as const

const outOfKeys = refuse('rate_limited')
const codes: Readonly<Record<string, string>> = {
  refused: 'ECONNREFUSED',
  reset: 'ECONNRESET',
  name_unanswered: 'EAI_AGAIN',
  handshake_refused: 'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE',
}

function failureFor(way: string): Failure {
  return way.startsWith('GH_') ? fault(way as OriginFault) : failureOf({ code: codes[way] ?? way })
}

function failure(way: string, phase: Phase = 'wait'): AttemptEvent {
  return { type: 'failure', phase, failure: failureFor(way) }
}

function response(status: number, ...fields: string[]): AttemptEvent {
  return { type: 'response', head: answerHead(`HTTP/1.1 ${status} `, ...fields), body: { framing: 'none' } }
}

const failedStart: AttemptEvent = {
  type: 'failed_start',
  isError: true,
  head: answerHead('HTTP/1.1 200 '),
  phase: 'receive',
  failure: fault('GH_STREAM_ERROR'),
}

type Row = readonly [name: string, state: Partial<ForwardState>, event: AttemptEvent, verdict: Verdict]

const ofNtlm = 'WWW-Authenticate: NTLM TlRMTVNTUAAC'

const rows: readonly Row[] = [
  // While there is no connection.
  ['a refused connection', { stage: 'connecting' }, failure('refused', 'connect'), 'retry_elsewhere'],
  [
    'a refused connection, of a POST whose beginning was not sent yet',
    { stage: 'connecting', isIdempotent: false },
    failure('refused', 'connect'),
    'retry_elsewhere',
  ],
  [
    'a refused connection, with no retry left',
    { stage: 'connecting', mayRetry: false },
    failure('refused', 'connect'),
    'refuse',
  ],
  [
    'a look-up without a response',
    { stage: 'connecting' },
    failure('name_unanswered', 'resolve'),
    'look_up_again',
  ],
  [
    'a second one',
    { stage: 'connecting', hasRepeatedLookup: true },
    failure('name_unanswered', 'resolve'),
    'retry_elsewhere',
  ],
  ['a full queue', { stage: 'connecting' }, failure('GH_QUEUE_FULL', 'connect'), 'retry_elsewhere'],
  ['too long in a queue', { stage: 'connecting' }, failure('GH_QUEUE_TIMEOUT', 'connect'), 'refuse'],
  ['too long a dial', { stage: 'connecting' }, failure('GH_CONNECT_TIMEOUT', 'connect'), 'retry_elsewhere'],
  ['no time left, connecting', { stage: 'connecting' }, failure('GH_TOTAL_TIMEOUT'), 'refuse'],
  ['no time left, before an attempt', { stage: 'none' }, failure('GH_CALL_TIMEOUT'), 'refuse'],
  // Before a response.
  ['an idle connection that was lost', {}, failure('GH_CLOSED'), 'retry_fresh'],
  ['one of a WebSocket', { wantsUpgrade: true }, failure('reset'), 'retry_fresh'],
  ['one of a POST', { isIdempotent: false }, failure('GH_CLOSED'), 'refuse'],
  ['one again', { isFresh: true }, failure('GH_CLOSED'), 'refuse'],
  ['a new connection that was lost', { isReused: false }, failure('GH_CLOSED'), 'retry_elsewhere'],
  ['one of a POST', { isReused: false, isIdempotent: false }, failure('GH_CLOSED'), 'refuse'],
  ['one of a WebSocket', { isReused: false, wantsUpgrade: true }, failure('GH_CLOSED'), 'refuse'],
  ['one that sent part of a body', { isReused: false, sentBody: 'so_far' }, failure('GH_CLOSED'), 'refuse'],
  ['one behind an interim response', { hasResponseBegun: true }, failure('GH_CLOSED'), 'refuse'],
  ['no response in time', {}, failure('GH_RESPONSE_TIMEOUT'), 'retry_elsewhere'],
  ['none to a POST', { isIdempotent: false }, failure('GH_RESPONSE_TIMEOUT'), 'refuse'],
  ['no time left', {}, failure('GH_TOTAL_TIMEOUT'), 'refuse'],
  ['a bad head', { hasResponseBegun: true }, failure('GH_BAD_HEAD'), 'refuse'],
  // What the origin says that it has not processed.
  ['a refused POST', { isIdempotent: false }, failure('GH_REFUSED_STREAM'), 'retry_fresh'],
  [
    'one whose body is here so far',
    { isIdempotent: false, sentBody: 'so_far' },
    failure('GH_REFUSED_STREAM'),
    'retry_fresh',
  ],
  ['one whose body is gone', { sentBody: 'gone' }, failure('GH_REFUSED_STREAM'), 'refuse'],
  ['one that is refused again', { isFresh: true }, failure('GH_REFUSED_STREAM'), 'retry_refused'],
  ['one for too long', { isFresh: true, isInTime: false }, failure('GH_REFUSED_STREAM'), 'refuse'],
  ['one beyond the budget', { isFresh: true, mayRetry: false }, failure('GH_REFUSED_STREAM'), 'refuse'],
  ['one that HTTP/1.1 is required for', {}, failure('GH_HTTP1_REQUIRED'), 'retry_fresh'],
  [
    'a refused client certificate, of a POST',
    { isReused: false, isIdempotent: false },
    failure('handshake_refused', 'handshake'),
    'retry_elsewhere',
  ],
  // Responses.
  ['a response', { hasResponseBegun: true }, response(200), 'relay'],
  ['a response to half a body', { sentBody: 'gone' }, response(413), 'relay'],
  ['a status to retry on', {}, response(503), 'retry_elsewhere'],
  ['one with no retry left', { mayRetry: false }, response(503), 'relay'],
  ['one to a POST', { isIdempotent: false }, response(503), 'relay'],
  ['one to a WebSocket', { wantsUpgrade: true }, response(503), 'relay'],
  ['one to a streamed body', { sentBody: 'so_far' }, response(503), 'relay'],
  ['another failure of the server', {}, response(500), 'relay'],
  ['a key that is set aside', { aboutKey: 'another', isIdempotent: false }, response(429), 'retry'],
  ['the last key', { aboutKey: outOfKeys }, response(429), 'refuse'],
  ['a handshake over HTTP/2', { isByHttp2: true }, response(401, ofNtlm), 'require_http1'],
  ['a handshake over HTTP/1.1', {}, response(401, ofNtlm), 'relay'],
  ['an offer of one', { isByHttp2: true }, response(401, 'WWW-Authenticate: NTLM'), 'relay'],
  ['a redirect to follow', { redirect: 'follow' }, response(302), 'redirect'],
  ['a redirect too many', { redirect: 'too_many' }, response(302), 'refuse'],
  ['a redirect for the client', {}, response(302), 'relay'],
  ['usage refused', {}, { type: 'usage_refused', head: answerHead('HTTP/1.1 400 ') }, 'retry'],
  // The course of an AI call.
  ['a provider that fails', onCourse, response(503), 'next_attempt'],
  ['a provider that is too busy', onCourse, response(429), 'next_attempt'],
  ['a provider without a valid key', { ...onCourse, aboutKey: outOfKeys }, response(401), 'next_attempt'],
  ['a provider with another key', { ...onCourse, aboutKey: 'another' }, response(429), 'retry'],
  ['a call that its provider refuses', onCourse, response(400), 'relay'],
  ['the last provider that fails', { ...onCourse, hasNextAttempt: false }, response(503), 'relay'],
  [
    'a provider that is down',
    { ...onCourse, stage: 'connecting', mayRetry: false },
    failure('refused', 'connect'),
    'next_attempt',
  ],
  ['a provider that is too slow', onCourse, failure('GH_CONTENT_TIMEOUT'), 'next_attempt'],
  [
    'a provider that breaks off before its content',
    { ...onCourse, hasResponseBegun: true },
    failure('reset', 'receive'),
    'next_attempt',
  ],
  [
    'a provider that breaks off behind it',
    { ...onCourse, stage: 'relaying', isUnsent: false },
    failure('reset', 'receive'),
    'refuse',
  ],
  ['a call whose body is gone', { ...onCourse, sentBody: 'gone' }, response(503), 'relay'],
  ['a stream that begins with an error', onCourse, failedStart, 'next_attempt'],
  ['the last one that does', { ...onCourse, hasNextAttempt: false }, failedStart, 'refuse'],
  ['a forbidden address of a provider', onCourse, { type: 'refusal', refusal: outOfKeys }, 'refuse'],
  // Endings.
  [
    'a response that breaks off',
    { stage: 'relaying', hasResponseBegun: true },
    failure('GH_CLOSED', 'receive'),
    'refuse',
  ],
  ['a forbidden address', {}, { type: 'refusal', refusal: outOfKeys }, 'refuse'],
  [
    'an unusable response',
    {},
    { type: 'unusable', phase: 'receive', failure: fault('GH_BAD_ANSWER') },
    'refuse',
  ],
]

test('each event in each state has its verdict', () => {
  for (const [name, state, event, verdict] of rows)
    assert.equal(decide({ ...waiting, ...state }, event), verdict, name)
})

test('an idle connection that is lost says nothing against its origin', () => {
  const isIdle = (state: Partial<ForwardState>, way: string) =>
    isIdleLoss({ ...waiting, ...state }, failureFor(way))
  assert.equal(isIdle({}, 'reset'), true)
  assert.equal(isIdle({ isReused: false }, 'reset'), false)
  assert.equal(isIdle({ isReused: false }, 'GH_REFUSED_STREAM'), true)
  assert.equal(isIdle({ hasResponseBegun: true }, 'reset'), false)
  assert.equal(isIdle({}, 'GH_RESPONSE_TIMEOUT'), false)
})

const anyFailure = fc
  .record({
    way: fc.constantFrom(...ways.filter(way => way.startsWith('GH_')), ...Object.keys(codes)),
    phase: fc.constantFrom<Phase>('resolve', 'connect', 'handshake', 'send', 'wait', 'receive'),
  })
  .map(({ way, phase }) => failure(way, phase))

const anyEvent = fc.oneof(
  anyFailure,
  fc.constantFrom(200, 302, 401, 429, 500, 503).map(status => response(status)),
  fc.constantFrom(...rows.map(([, , event]) => event)),
)

const anyState: fc.Arbitrary<ForwardState> = fc.record({
  stage: fc.constantFrom('none', 'connecting', 'awaiting', 'relaying'),
  isIdempotent: fc.boolean(),
  wantsUpgrade: fc.boolean(),
  sentBody: fc.constantFrom('whole', 'so_far', 'gone'),
  isFresh: fc.boolean(),
  isReused: fc.boolean(),
  hasResponseBegun: fc.boolean(),
  hasRepeatedLookup: fc.boolean(),
  isInTime: fc.boolean(),
  mayRetry: fc.boolean(),
  retryOn: fc.constantFrom(new Set<number>(), new Set([500, 503])),
  aboutKey: fc.constantFrom<ForwardState['aboutKey'][]>(null, 'another', outOfKeys),
  isByHttp2: fc.boolean(),
  redirect: fc.constantFrom('none', 'follow', 'too_many'),
  failoverOn: fc.constantFrom(null, [429, 500]),
  isUnsent: fc.boolean(),
  hasNextAttempt: fc.boolean(),
})

const isRetry = (verdict: Verdict) => verdict.startsWith('retry')
const isUnprocessed = (event: AttemptEvent) =>
  'failure' in event && (event.failure.row.isUnprocessed || event.failure.way === 'handshake_refused')

test('a failure never sends a request again that the origin may have processed, or whose body is gone', () => {
  fc.assert(
    fc.property(anyState, anyFailure, (state, event) => {
      if (state.stage === 'connecting' || !isRetry(decide(state, event))) return
      assert.notEqual(state.sentBody, 'gone')
      assert.ok(state.isIdempotent || isUnprocessed(event))
      assert.ok(!state.hasResponseBegun || isUnprocessed(event))
      assert.ok(state.sentBody === 'whole' || isUnprocessed(event))
    }),
  )
})

test('no retry that the pool has to allow is decided once it allows none', () => {
  fc.assert(
    fc.property(anyState, anyEvent, (state, event) => {
      const verdict = decide({ ...state, mayRetry: false }, event)
      assert.ok(verdict !== 'retry_elsewhere' && verdict !== 'retry_refused')
    }),
  )
})

test('whatever happens, a request gets one response, and after few attempts', () => {
  fc.assert(
    fc.property(anyState, fc.array(anyFailure, { minLength: 40, maxLength: 40 }), (first, failures) => {
      let state: ForwardState = {
        ...first,
        failoverOn: null,
        stage: 'connecting',
        isFresh: false,
        hasRepeatedLookup: false,
      }
      let retries = 3
      let attempts = 0
      let responses = 0
      for (const event of failures) {
        const verdict = decide(state, event)
        attempts++
        // What the gateway does about it, with a pool that allows three retries.
        if (verdict === 'refuse') {
          responses++
          break
        }
        if (verdict === 'look_up_again') state = { ...state, hasRepeatedLookup: true }
        else if (verdict === 'retry_fresh') state = { ...state, stage: 'awaiting', isFresh: true }
        else if (retries-- > 0)
          state = { ...state, stage: 'connecting', isFresh: verdict === 'retry_refused' }
        else state = { ...state, mayRetry: false }
      }
      assert.equal(responses, 1)
      assert.ok(attempts <= 12)
    }),
  )
})

test('nothing is retried once a response is being relayed', () => {
  fc.assert(
    fc.property(anyState, anyFailure, (state, event) => {
      assert.equal(decide({ ...state, stage: 'relaying', isUnsent: false }, event), 'refuse')
    }),
  )
})
