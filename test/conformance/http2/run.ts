// Runs cases of HTTP/2 against a server, each on a connection of its own, from an address of its own.

import type { Verdict } from '../case.ts'
import type { Address } from '../dial.ts'
import { connectionCases } from './cases/connection.ts'
import { frameCases } from './cases/frames.ts'
import { hpackCases } from './cases/hpack.ts'
import { messageCases } from './cases/messages.ts'
import { streamCases } from './cases/streams.ts'
import { webSocketCases } from './cases/websocket.ts'
import { Connection } from './connection.ts'
import type { Http2Case } from './expect.ts'

export const http2Cases: readonly Http2Case[] = [
  ...connectionCases,
  ...streamCases,
  ...frameCases,
  ...messageCases,
  ...webSocketCases,
  ...hpackCases,
]

/** Runs one case; null if it does not apply. */
export async function runHttp2Case(of: Http2Case, address: Address): Promise<Verdict | null> {
  const connection =
    of.settings === null ? await Connection.open(address) : await Connection.greeted(address, ...of.settings)
  try {
    if (of.settings !== null && (connection.isClosed || connection.protocol === false))
      return { result: 'failed', note: 'no connection' }
    if (of.applies?.(connection) === false) return null
    await of.act(connection)
    return await of.expectation.verdict(connection)
  } finally {
    connection.close()
  }
}
