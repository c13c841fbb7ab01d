// Which commands Redis runs, as it reports them itself.

import { Redis } from 'ioredis'
import type { RedisServer } from '../../help/redis.ts'

interface Commands {
  /** Those that clients sent. */
  readonly sent: ReadonlySet<string>
  /** Those that scripts ran. */
  readonly scripted: ReadonlySet<string>
}

/** Returns the names of all commands that a server runs during an act, in upper case. */
export async function commandsDuring(server: RedisServer, act: () => Promise<unknown>): Promise<Commands> {
  const client = new Redis(server.url)
  const monitor = await client.monitor()
  const [sent, scripted] = [new Set<string>(), new Set<string>()]
  const ended = Promise.withResolvers<void>()
  monitor.on('monitor', (_: string, [name, first]: readonly [string, string?], source: string) => {
    if (first === 'the end of the act') ended.resolve()
    else (source === 'lua' ? scripted : sent).add(name.toUpperCase())
  })
  try {
    await act()
    await client.echo('the end of the act')
    await ended.promise
  } finally {
    for (const connection of [client, monitor]) connection.disconnect()
  }
  return { sent, scripted }
}
