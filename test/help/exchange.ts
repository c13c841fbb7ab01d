// Exchanges of requests that nobody sent, so that a step can be asked what it decides without a socket.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { SidePort } from '../../src/edge/snapshot/plane.ts'
import { type Client, Exchange } from '../../src/edge/exchange/exchange.ts'
import { DataPlane } from '../../src/edge/data-plane.ts'
import { locate } from '../../src/edge/steps/locate.ts'
import type { BodyReader } from '../../src/http1/body/body.ts'
import { hostName } from '../../src/http1/fields/host.ts'
import { parseRequestHead, RequestHead, requestBody } from '../../src/http1/heads/request-head.ts'
import { parseResponseHead, ResponseHead } from '../../src/http1/heads/response-head.ts'
import { discardBody } from '../../src/edge/client/discard-body.ts'
import {
  headText,
  interimText,
  partText,
  switchText,
  wholeText,
} from '../../src/edge/client/http1-response.ts'
import { BodyWriter } from '../../src/edge/wire/body-writer.ts'
import { LastRequest } from '../../src/edge/exchange/request-reuse.ts'
import { nodeOf } from '../../src/edge/exchange/forwarded-trust.ts'
import { nextRay } from '../../src/base/ids/ray.ts'
import { createLogger } from '../../src/log/log.ts'
import { EdgeMetrics } from '../../src/metrics/counters/edge-metrics.ts'
import { LastToken } from '../../src/tokens/verify.ts'
import { ManualClock } from './clock.ts'
import { edgeConfig, type EdgeSettings, type Member } from './edge.ts'

/** What became of the client of an exchange. */
export interface Seen {
  written: string
  /** What was asked of it, in order. */
  readonly asked: string[]
}

/** An exchange that a test runs. */
export type Staged = Exchange & { readonly seen: Seen; readonly requestBody: BodyReader }

export class Steps {
  readonly plane: DataPlane
  readonly clock = new ManualClock()

  constructor(t: TestContext, members: readonly Member[], settings: EdgeSettings, sidePort?: SidePort) {
    this.plane = new DataPlane(edgeConfig(members, settings), {
      documentation: 'http://127.0.0.1/errors',
      metrics: new EdgeMetrics(),
      accessLog: null,
      log: createLogger('error', { write: () => {} }),
      clock: this.clock,
      ...(sidePort && { sidePort }),
    })
    t.after(() => this.plane.destroy())
  }

  /** Makes an exchange of a request in full, from 192.0.2.1 unless another peer is named. */
  exchange(text: string, peer = '192.0.2.1'): Staged {
    const bytes = Buffer.from(text, 'latin1')
    const limits = { url: 65_536, headerSection: 131_072, headers: 256 }
    const head = parseRequestHead(bytes, 0, text.indexOf('\r\n\r\n') + 4, limits)
    assert.ok(head instanceof RequestHead, text)
    const seen: Seen = { written: '', asked: [] }
    const isTrusted = this.plane.snapshot.trusted.has(peer)
    const body = requestBody(head)
    const x = new Exchange(this.plane, clientOf(peer, isTrusted, seen), head, body, nextRay())
    x.host = hostName(head.host ?? '') ?? ''
    return Object.assign(x, { seen, requestBody: body })
  }

  /** Makes an exchange that has found its route, and the member that it is for. */
  located(text: string, peer?: string): Staged {
    const x = this.exchange(text, peer)
    assert.equal(locate(x), null)
    x.member = x.route!.pool.pick(x)
    return x
  }
}

/** Makes steps over a pool of these members. */
export function stepsOver(
  t: TestContext,
  members: readonly Member[],
  settings: EdgeSettings = {},
  sidePort?: SidePort,
): Steps {
  return new Steps(t, members, settings, sidePort)
}

/** Reads the head of an answer. */
export function answerHead(...lines: string[]): ResponseHead {
  const bytes = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
  const head = parseResponseHead(bytes, 0, bytes.length)
  assert.ok(head instanceof ResponseHead, lines.join())
  return head
}

function clientOf(peer: string, isTrusted: boolean, seen: Seen): Client {
  const write = (data: string | Buffer) => {
    seen.written += data.toString('latin1')
    return true
  }
  const sink = { isWritten: true, write, cork() {}, uncork() {} }
  const note = (what: string) => () => void seen.asked.push(what)
  return {
    peer,
    node: nodeOf(peer),
    lastToken: new LastToken(),
    last: new LastRequest(),
    isTrusted,
    tls: null,
    isPlaintextOnTls: false,
    pinned: null,
    sendContinue: () => void write(interimText({ status: 100, reason: 'Continue', lines: '' })),
    interim: (_, top) => write(interimText(top)),
    respond: (x, top, body) => void write(wholeText(x, top, body)),
    relay: (x, top) => new BodyWriter(sink, headText(x, top), x.responseFraming),
    append: (x, text) => void write(partText(x, text)),
    endBody: note('endBody'),
    switchProtocols: (_, top) => void write(switchText(top)),
    write,
    discardBody,
    readBody: note('readBody'),
    pauseBody: note('pauseBody'),
    finish: note('finish'),
    cutOff: note('cutOff'),
    endedWithout: note('endedWithout'),
    abandon: note('abandon'),
  }
}
