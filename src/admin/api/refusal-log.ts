// Counts refusals of callers by reason, for their identity or their rate, and logs a limited number of them.

import type { Logger } from '../../log/log.ts'
import type { Counts, ManagementRefusal } from '../../metrics/counters/counts.ts'
import type { Token } from '../../store/records/records.ts'
import { addressOf, type Sender } from '../http/caller-address.ts'

/** Lines per second; a flood of refusals would drown all others. */
const maxLines = 10
const second = 1_000

export class Refusals {
  readonly #counts: Counts['managementRefusals'] | null
  readonly #log: Logger
  /** Lines within the current second, which begins with the first one. */
  #inSecond = 0

  constructor(log: Logger, counts: Counts['managementRefusals'] | null = null) {
    this.#log = log
    this.#counts = counts
  }

  /** Records a refused request; `caller` is null without a valid token. */
  note(
    reason: ManagementRefusal,
    { method, path }: { readonly method: string; readonly path: string },
    sender: Sender,
    caller: Pick<Token, 'id' | 'account'> | null = null,
  ): void {
    this.#counts?.[reason].inc()
    if (this.#inSecond++ === 0) setTimeout(() => this.#endSecond(), second).unref()
    if (this.#inSecond > maxLines) return
    const who = caller && { account: caller.account, actor: caller.id }
    this.#log.warn(
      { reason, method, path, ...who, address: addressOf(sender), ray: sender.ray },
      'management request refused',
    )
  }

  #endSecond(): void {
    const untold = this.#inSecond - maxLines
    this.#inSecond = 0
    if (untold > 0) this.#log.warn({ count: untold }, 'more management requests refused')
  }
}
