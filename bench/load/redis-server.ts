// The Redis of the bench: one server in memory, started when the first contestant asks for it.
import { freePort } from '../../test/help/free-port.ts'
import { launch, type Running } from './launch.ts'

/** More than any bench starts contestants; database 0 is for those who share. */
const DATABASES = 1024
let databases = 1

let server: Promise<Running> | null = null

/** Returns the URL of the server, which listens on loopback. */
export async function redisServer(): Promise<string> {
  const { port } = await (server ??= start())
  return `redis://127.0.0.1:${port}`
}

/** Returns the URL of a database of the server that nobody had before. */
export async function emptyDatabase(): Promise<string> {
  return `${await redisServer()}/${databases++}`
}

/** Ends the server, where anybody has asked for it. */
export async function stopRedisServer(): Promise<void> {
  await (await server)?.stop()
}

async function start(): Promise<Running> {
  const port = await freePort()
  const memoryOnly = ['--save', '', '--appendonly', 'no']
  const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--databases', `${DATABASES}`, ...memoryOnly]
  return launch('redis-server', port, {
    file: 'redis-server',
    args,
    prints: /Ready to accept connections/,
    isHttp: false,
  })
}
