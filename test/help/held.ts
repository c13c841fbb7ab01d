// A client of HTTP/2 that has attacked a gateway in another process, and whose next connections that one holds.

import { connect, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { ping, preface, settings } from './http2.ts'
import { many } from './http2-origin.ts'
import { readMetrics } from './prometheus.ts'
import { until } from './until.ts'

const attacker = '127.0.0.2'

/** How connections of the attacker ended: the codes of their errors, null for those that were closed in order. */
export type Ends = Promise<readonly (string | null)[]>

/** What a gateway needs for this: a penalty that lasts. */
export const lastingPenalty = 'http2: {penalty: 60s}'

/** Connections that are opened, and those of them that go on last: they wait for more than two seconds. */
const count = 700
const watched = 50

/** Has a client attack, and connect many times again; once that is held, returns how those connections are going to end that came last. */
export async function beHeld(t: TestContext, edge: string, admin: string): Promise<{ ends: Ends }> {
  const port = Number(new URL(edge).port)
  await endOf(join(t, port, Buffer.concat([preface, settings(), many(4_000, ping)])))
  const all = Array.from({ length: count }, () => endOf(join(t, port, '')))
  await until(async () => (await heldAt(admin))! > count / 2)
  return { ends: Promise.all(all.slice(-watched)) }
}

/** Returns how many connections a gateway says that it holds. */
export async function heldAt(admin: string): Promise<number | undefined> {
  const { samples } = readMetrics(await (await fetch(`${admin}/metrics`)).text())
  return samples.get('gatehouse_connections_held')
}

function join(t: TestContext, port: number, bytes: Buffer | string): Socket {
  const socket = connect({ host: '127.0.0.1', port, localAddress: attacker }).resume()
  socket.write(bytes)
  t.after(() => socket.destroy())
  return socket
}

function endOf(socket: Socket): Promise<string | null> {
  let code: string | null = null
  return new Promise(resolve => {
    socket.on('error', (error: NodeJS.ErrnoException) => {
      code = error.code ?? 'none'
    })
    socket.on('close', () => resolve(code))
  })
}
