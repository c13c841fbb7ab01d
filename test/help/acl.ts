// Users of a Redis server with the rights that docs/operations.md names.

import { readPage } from './docs.ts'
import type { RedisServer } from './redis.ts'

/** Reads the line of docs/operations.md, and returns the arguments of ACL SETUSER for a user of this name and password. */
export function aclLine(user: string, password: string): readonly string[] {
  const [line] = /^ACL SETUSER gatehouse .*$/m.exec(readPage('docs/operations.md').text)!
  return line
    .replace('SETUSER gatehouse', `SETUSER ${user}`)
    .replace('>PASSWORD', `>${password}`)
    .split(' ')
    .slice(2)
}

/** Lists what a server has denied since it was started: why, and the command, key or channel. */
export async function deniedOn(server: RedisServer): Promise<readonly string[]> {
  const entries = (await server.ask('ACL', 'LOG')) as string[][]
  return entries.map(entry => {
    const member = (name: string) => entry[entry.indexOf(name) + 1]
    return `${member('reason')} ${member('object')}`
  })
}
