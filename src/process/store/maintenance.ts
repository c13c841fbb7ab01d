// Fills an empty store of a running gateway, and logs the problems of any.

import type { Logger } from '../../log/log.ts'
import { type Store, StoreDegraded, StoreUnreachable } from '../../store/contract/store.ts'
import { keyOf } from '../../tokens/token-tags.ts'
import { FirstFill, type FirstStart } from './first-start.ts'
import { StoreWarnings } from './store-warnings.ts'

interface Care {
  /** Null to generate one. */
  readonly firstToken: string | null
  readonly filled: (first: FirstStart) => void
  /** In ms. */
  readonly period?: number
}

/** A store that is unreachable at first is filled once it is reachable, with `firstToken` or a new one. */
export function maintainStore(store: Store, log: Logger, { firstToken, filled, period = 1_000 }: Care): void {
  const details = { store: store.location }
  const fill = new FirstFill(store, firstToken)
  const signs = new StoreWarnings(store, log)
  let isPrepared = false
  let denials: readonly string[] = []
  let wasUnreachable = false
  let refusal: string | null = null
  const look = async () => {
    try {
      if (!isPrepared) await prepare()
      else if (store.isUnreachable) await store.accounts.list()
      await signs.look()
      if (refusal !== store.refusal) {
        refusal = store.refusal
        // Rights may have been revoked since they were checked.
        if (refusal?.endsWith('NOPERM')) void tellDenials()
      }
      if (wasUnreachable && !store.isUnreachable) {
        log.info(details, 'store reachable again')
        wasUnreachable = false
        // It may be another server, with other users.
        void tellDenials()
      }
    } catch (cause) {
      if (!wasUnreachable) tellOf(cause)
      wasUnreachable = !(cause instanceof StoreDegraded)
    }
    setTimeout(look, period).unref()
  }
  const tellOf = (cause: unknown) => {
    // The cause has been logged.
    if (cause instanceof StoreDegraded) return
    if (!(cause instanceof StoreUnreachable)) return log.error({ ...details, err: cause }, 'store failed')
    const { reason, state } = cause
    if (reason === 'NOPERM') void tellDenials()
    if (fill.isUnconfirmed)
      log.warn(
        { ...details, reason, next: anotherToken },
        firstToken === null ? unconfirmed : unconfirmedGiven,
      )
    else log.warn({ ...details, reason }, state)
  }
  /** Each problem is logged once, for as long as it lasts. */
  const tellDenials = async () => {
    const current = await store.rights().catch(() => null)
    if (current === null) return
    for (const denial of current) if (!denials.includes(denial)) log.error(details, denial)
    denials = current
  }
  const prepare = async () => {
    const now = Date.now()
    const first = await fill.run(now)
    if (first) filled(first)
    else {
      await keyOf(store, now)
      await warnOfNoToken()
    }
    isPrepared = true
  }
  const warnOfNoToken = async () => {
    const accounts = await store.accounts.list()
    const tokens = accounts.map(({ id }) => store.tokens.list(id, { offset: 0, limit: 1 }))
    if ((await Promise.all(tokens)).every(({ total }) => total === 0))
      log.warn({ ...details, next: anotherToken }, 'no account has an API token')
  }
  void tellDenials()
  void look()
}

const unconfirmed = 'first start not confirmed by the store yet; its token is shown once it is'

const unconfirmedGiven = 'first start not confirmed by the store yet'

const anotherToken =
  'create another token with gatehouse token create, adding --permission for each permission it needs'
