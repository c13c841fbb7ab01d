// What the management API refuses to callers for who they are or how much they ask: counted by reason, and told in the log as long as that is read.

import type { Logger } from '../../log/log.ts'
import type { Counts, ManagementRefusal } from '../../metrics/counters/counts.ts'
import type { Token } from '../../store/records/records.ts'
import { addressOf, type Sender } from '../http/caller-address.ts'

/** Lines a second; a flood of refusals would drown all others. */
const mostLines = 10
const second = 1_000

export class Refusals {
  readonly #counts: Counts['managementRefusals'] | null
  readonly #log: Logger
  /** Those of the running second, which the first one begins. */
  #inSecond = 0

  constructor(log: Logger, counts: Counts['managementRefusals'] | null = null) {
    this.#log = log
    this.#counts = counts
  }

  /** Takes a request that is refused; `caller` is null where no token was good. */
  note(
    reason: ManagementRefusal,
    { method, path }: { readonly method: string; readonly path: string },
    sender: Sender,
    caller: Pick<Token, 'id' | 'account'> | null = null,
  ): void {
    this.#counts?.[reason].inc()
    if (this.#inSecond++ === 0) setTimeout(() => this.#endSecond(), second).unref()
    if (this.#inSecond > mostLines) return
    const who = caller && { account: caller.account, actor: caller.id }
    this.#log.warn(
      { reason, method, path, ...who, address: addressOf(sender), ray: sender.ray },
      'management request refused',
    )
  }

  #endSecond(): void {
    const untold = this.#inSecond - mostLines
    this.#inSecond = 0
    if (untold > 0) this.#log.warn({ count: untold }, 'more management requests refused')
  }
}
