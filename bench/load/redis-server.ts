// The Redis of the bench: one server in memory, started when the first contestant asks for it.
import { freePort, launch, type Running } from './launch.ts'

let server: Promise<Running> | null = null

/** Returns the URL of the server, which listens on loopback. */
export async function redisServer(): Promise<string> {
  const { port } = await (server ??= start())
  return `redis://127.0.0.1:${port}`
}

/** Ends the server, where anybody has asked for it. */
export async function stopRedisServer(): Promise<void> {
  await (await server)?.stop()
}

async function start(): Promise<Running> {
  const port = await freePort()
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  return launch('redis-server', port, {
    file: 'redis-server',
    args,
    prints: /Ready to accept connections/,
    isHttp: false,
  })
}
