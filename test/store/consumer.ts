// Consumes or exchanges credentials of the store of its arguments: ten times at once each whose digest is read, or once, at the time that is told with it, and prints of each time what came of it, and when that was.
import { createInterface } from 'node:readline'
import { openStore } from '../../src/store/open.ts'
import { credential } from './contract-specimens.ts'

const store = await openStore(process.argv[2]!, { commandTimeout: 10_000 })
const { credentials } = store
const kind = 'authorization_code'

const verbs = {
  consume: async (digest: string, _: string, at: number) => {
    const outcome = await credentials.consume(kind, digest, at)
    return [outcome!.isFirst, outcome!.credential.consumedAt]
  },
  exchange: async (digest: string, ended: string, at: number) => {
    const token = credential('access_token')
    const end = credential('ended_family', { digest: ended })
    const asked = { kind, digest, at, grace: 0, issued: [token], end } as const
    const { outcome, consumedAt } = await credentials.exchange(asked)
    return [outcome, consumedAt, token.digest]
  },
  refresh,
  once: refresh,
}

/** Exchanges a refresh token, and measures by the clock that processes share. */
async function refresh(digest: string, ended: string, at: number) {
  const began = sharedNow()
  const issued = [credential('access_token'), credential('refresh_token')] as const
  const last = { spent: digest, refresh: issued[1].digest, access: issued[0].digest }
  const family = credential('token_family', { digest: ended, data: last })
  const end = credential('ended_family', { digest: ended })
  const { outcome, consumedAt } = await credentials.exchange({
    ...{ kind: 'refresh_token', digest, at, grace: 30_000, end },
    issued: [...issued, family],
  })
  return [outcome, consumedAt, issued[0].digest, issued[1].digest, began, sharedNow()]
}

function sharedNow(): number {
  return performance.timeOrigin + performance.now()
}

console.log('ready')
for await (const line of createInterface(process.stdin)) {
  const [verb, digest = '', ended = '', appointed = '0'] = line.split(' ')
  // A process that waits for a timer would be woken later than others by more than all this takes.
  while (sharedNow() < Number(appointed));
  const at = Date.now()
  const tries = Array.from({ length: verb === 'once' ? 1 : 10 }, (_, i) =>
    verbs[verb as keyof typeof verbs](digest, ended, at + i),
  )
  console.log(JSON.stringify(await Promise.all(tries)))
}
await store.close()
process.exit()
