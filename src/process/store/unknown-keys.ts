// Warns of lost keys of client secrets or authenticator apps, which would just stop being valid.

import { setTimeout as sleep } from 'node:timers/promises'
import type { SecretKeys } from '../../base/secrets/secret-keys.ts'
import type { Logger } from '../../log/log.ts'
import type { OAuthClient } from '../../store/records/oauth-client.ts'
import { everybody } from '../../store/records/people.ts'
import { type Store, StoreUnreachable } from '../../store/contract/store.ts'
import { isFactorReadable } from '../../people/second-factor/second-factor.ts'

/** Ms between two tries while the store is unreachable. */
const period = 1_000

/** Warns once the store is reachable; never rejects. `end` stops it. */
export async function warnOfUnknownKeys(
  store: Store,
  keys: SecretKeys,
  log: Logger,
  end: AbortSignal,
): Promise<void> {
  try {
    const counts = await onceThere(() => findUnknown(store, keys, end), end)
    const { secrets, clients } = counts
    const details = { secrets, clients, keys: [...counts.keys], current: keys.currentId }
    if (secrets > 0) log.warn(details, unknownKeys)
    const users = await onceThere(() => countUnreadable(store, keys, end), end)
    if (users > 0) log.warn({ users, current: keys.currentId }, unreadableApps)
  } catch (cause) {
    if (!end.aborted)
      log.error({ err: cause }, 'checking the keys of client secrets and authenticator apps failed')
  }
}

const unknownKeys =
  'client secrets rejected: made with unknown keys; add these keys to secrets.old_keys, or rotate the secrets if a key is lost'

const unreadableApps =
  'codes of authenticator apps rejected: their secrets were sealed with unknown keys; add these keys to secrets.old_keys, or, if a key is lost, have the users sign in with recovery codes and turn two-step sign-in off and on, or create links for them with `gatehouse user invite`'

interface Unknown {
  secrets: number
  clients: number
  readonly keys: Set<string>
}

async function onceThere<T>(ask: () => Promise<T>, end: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await ask()
    } catch (cause) {
      if (!(cause instanceof StoreUnreachable)) throw cause
    }
    await sleep(period, null, { signal: end, ref: false })
  }
}

async function findUnknown(store: Store, keys: SecretKeys, end: AbortSignal): Promise<Unknown> {
  const counts: Unknown = { secrets: 0, clients: 0, keys: new Set() }
  for (const { id } of await store.accounts.list())
    for await (const { secrets } of clientsOf(store, id, end)) {
      const unknown = secrets.filter(({ key }) => !keys.knows(key))
      counts.secrets += unknown.length
      if (unknown.length > 0) counts.clients++
      for (const { key } of unknown) counts.keys.add(key)
    }
  return counts
}

async function* clientsOf(store: Store, account: string, end: AbortSignal): AsyncIterable<OAuthClient> {
  for await (const clients of store.oauthClients.walk(account)) {
    end.throwIfAborted()
    yield* clients
  }
}

async function countUnreadable(store: Store, keys: SecretKeys, end: AbortSignal): Promise<number> {
  let count = 0
  for await (const users of store.users.walk(everybody)) {
    end.throwIfAborted()
    count += users.filter(user => !isFactorReadable(user, keys)).length
  }
  return count
}
