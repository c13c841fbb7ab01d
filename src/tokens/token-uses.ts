// Records when API tokens were last used.

import type { Clock } from '../base/clock.ts'
import type { Logger } from '../log/log.ts'
import type { Token, TokenUse } from '../store/records/records.ts'
import type { Store } from '../store/contract/store.ts'
import { hourLength, LastUsedTimes } from '../activity/last-used.ts'

interface TokenUsesOptions {
  readonly store: { readonly tokens: Pick<Store['tokens'], 'noteUses'> }
  readonly log: Logger
  readonly clock?: Clock
}

export class TokenUses {
  readonly #uses: LastUsedTimes<TokenUse>

  constructor({ store, ...rest }: TokenUsesOptions) {
    const write = (uses: readonly TokenUse[]) => store.tokens.noteUses(uses)
    this.#uses = new LastUsedTimes({ what: 'API tokens', write, atOnce: Infinity, ...rest })
  }

  /** Records a use of a token, and returns when the next hour begins (ms since the epoch). Never throws. */
  note({ account, id }: Token): number {
    const hour = this.#uses.hour()
    if (this.#uses.wants(id)) this.#uses.note(id, { account, id, at: hour })
    return hour + hourLength
  }

  close(): Promise<void> {
    return this.#uses.close()
  }
}
