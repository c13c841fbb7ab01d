// The clients that are compared: each opens one connection and sends what a gateway would.

import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { connect as connectTls } from 'node:tls'
import { type Dispatcher, Pool } from 'undici'
import { ClientSession } from '../../../src/http2/client/session.ts'
import type { StreamUser } from '../../../src/http2/client/stream.ts'

/** Sends a GET, and calls back when its response has come whole. */
export type Get = (path: string, done: () => void) => void

const host = 'localhost'
const lines = [
  'accept',
  '*/*',
  'user-agent',
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/128.0.0.0',
  'accept-encoding',
  'gzip, br',
  'accept-language',
  'en-GB,en;q=0.9',
  'x-forwarded-for',
  '192.0.2.7',
  'x-forwarded-proto',
  'https',
  'x-forwarded-host',
  'shop.example',
  'forwarded',
  'for=192.0.2.7;host=shop.example;proto=https',
  'via',
  '1.1 gatehouse',
  'cdn-loop',
  'gatehouse',
]

/** Connects a client by name to a port of this machine. */
export async function connect(name: string, port: number): Promise<Get> {
  if (name === 'undici') return undici(port)
  if (name === 'node') return node(port)
  if (name === 'own') return own(port)
  throw new Error(`no client ${name}`)
}

async function node(port: number): Promise<Get> {
  const session = connectHttp2(`https://${host}:${port}`, { rejectUnauthorized: false })
  await once(session, 'remoteSettings')
  session.setLocalWindowSize(4 * 1024 * 1024)
  return (path, done) => {
    const head = [':method', 'GET', ':scheme', 'https', ':authority', host, ':path', path, ...lines]
    const stream = session.request(head, { endStream: true })
    stream.on('response', headers => check(headers[':status']))
    stream.on('data', () => {})
    stream.on('error', fail)
    stream.on('close', done)
  }
}

async function undici(port: number): Promise<Get> {
  const pool = new Pool(`https://${host}:${port}`, {
    connections: 1,
    pipelining: 100,
    connect: { rejectUnauthorized: false },
    allowH2: true,
  })
  return (path, done) => {
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart() {},
      onResponseStart: (_, status) => check(status),
      onResponseData() {},
      onResponseEnd: done,
      onResponseError: (_, error) => fail(error),
    }
    pool.dispatch({ method: 'GET', path, headers: lines }, handler)
  }
}

async function own(port: number): Promise<Get> {
  const socket = connectTls({ host, port, ALPNProtocols: ['h2'], rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const flush = () => void socket.write(session.take())
  const keeper = { mayFlush: () => void setImmediate(flush), broken: fail, changed() {} }
  const session = new ClientSession(keeper, 100, performance.now())
  const readOn = (isDone: boolean) => {
    if (!isDone) setImmediate(() => readOn(session.readOn()))
  }
  socket.on('data', (bytes: Buffer) => readOn(session.receive(bytes)))
  while (session.room < 100) await once(socket, 'data')
  const text = Array.from({ length: lines.length / 2 }, (_, i) => `${lines[2 * i]}: ${lines[2 * i + 1]}\r\n`)
  return (path, done) => {
    const user: StreamUser = {
      method: 'GET',
      interim() {},
      head: ({ status }) => check(status),
      data() {},
      flush() {},
      end: done,
      drained() {},
      failed: fail,
    }
    const fields = {
      method: 'GET',
      scheme: 'https',
      authority: host,
      target: path,
      lines: text.join(''),
    } as const
    session.open(user, fields, true)
  }
}

function fail(error: unknown): never {
  throw error
}

function check(status: unknown): void {
  if (status !== 200) throw new Error(`status ${status}`)
}
