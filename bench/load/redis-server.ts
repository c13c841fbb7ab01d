// The Redis of the bench: one server in memory, started when the first contestant asks for it.
import { freePort, launch } from './launch.ts'

let url: Promise<string> | null = null

/** Returns the URL of an empty server on loopback, which ends with the bench. */
export function redisServer(): Promise<string> {
  return (url ??= start())
}

async function start(): Promise<string> {
  const port = await freePort()
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  await launch('redis-server', port, {
    file: 'redis-server',
    args,
    prints: /Ready to accept connections/,
    isHttp: false,
  })
  return `redis://127.0.0.1:${port}`
}
