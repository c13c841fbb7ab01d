// A handler of responses for tests of connections that get none.

import type { ResponseHandler, TunnelHandler } from '../../src/edge/origin/response-handler.ts'

/** Ignores what comes; a bug fails the test. */
export class Ignoring implements ResponseHandler {
  readonly method = 'GET'
  readonly wantsUpgrade = false

  interim(): void {}
  head(): void {}
  data(): void {}
  flushResponse(): void {}
  end(): void {}
  originDrained(): void {}
  failed(..._: Parameters<ResponseHandler['failed']>): void {}

  acceptsUpgrade(): boolean {
    return false
  }

  switchProtocols(): TunnelHandler {
    throw new Error('no upgrade was asked for')
  }

  crashed(bug: unknown): void {
    throw bug
  }
}
