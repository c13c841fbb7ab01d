// One health check request over HTTP/2, on an open connection of its own.

import type { Socket } from 'node:net'
import { ClientSession } from '../../../http2/client/session.ts'
import type { StreamUser } from '../../../http2/client/stream.ts'
import { guarded } from '../../../base/guarded.ts'

interface Http2Check {
  readonly scheme: 'http' | 'https'
  readonly authority: string
  readonly path: string
  responded(status: number): void
  failed(): void
  crashed(bug: unknown): void
}

/** Does not read the body. */
export function checkByHttp2(socket: Socket, check: Http2Check): void {
  const flush = () => {
    if (!socket.destroyed) socket.write(session.take())
  }
  const owner = {
    mayFlush: () => process.nextTick(guarded(flush, bug => check.crashed(bug))),
    broken: () => check.failed(),
    changed() {},
  }
  const user: StreamUser = {
    method: 'GET',
    interim() {},
    head: ({ status }) => check.responded(status),
    data() {},
    flush() {},
    end() {},
    drained() {},
    failed: () => check.failed(),
  }
  const session = new ClientSession(owner, 1, 0)
  const { scheme, authority, path: target } = check
  const lines = 'user-agent: gatehouse-check\r\naccept: */*\r\n'
  socket.on(
    'data',
    guarded(
      // An origin with that much to say never responds.
      (bytes: Buffer) => session.receive(bytes) || check.failed(),
      bug => check.crashed(bug),
    ),
  )
  session.open(user, { method: 'GET', scheme, authority, target, lines }, true)
}
