// Sends webhooks once budgets reach a threshold. Each machine runs one, without a leader: the record of a
// gateway lists its deliveries, and a process claims one by writing it there before it sends.

import { newId } from '../../base/ids/id.ts'
import type { SecretKeys } from '../../base/secrets/secret-keys.ts'
import { mapInTurns } from '../../base/turns/map-in-turns.ts'
import { type Clock, systemClock } from '../../base/clock.ts'
import { memoizeOnce } from '../../base/memo.ts'
import type { Logger } from '../../log/log.ts'
import type { Counts } from '../../metrics/counters/counts.ts'
import {
  type AlertDelivery,
  type BudgetAlertSet,
  budgetAlertSetId,
} from '../../store/records/budget-alerts.ts'
import { routeOwner } from '../../store/records/model-route.ts'
import type { Gateway, Token } from '../../store/records/records.ts'
import { type Store, StoreUnreachable, type Versioned } from '../../store/contract/store.ts'
import { mayUseGateway } from '../../tokens/may-call.ts'
import { Attempts } from './attempts.ts'
import { afterAttempt, type Crossing, crossings, inTurn, remaining } from './crossings.ts'
import { levelsOfGateway, levelsOfTokens } from './levels.ts'
import { LimitedTokens } from './limited-tokens.ts'
import { secretsOf } from './secrets.ts'
import type { WebhookSender } from './webhook.ts'

interface AlertWatchOptions {
  readonly store: Store
  readonly secrets: SecretKeys
  readonly sender: Pick<WebhookSender, 'send'>
  readonly log: Logger
  readonly metrics: Counts['budgetAlerts']
  readonly clock?: Clock
}

/** Ms between two looks at all gateways. */
const period = 15_000
/** Ms for which a delivery is claimed: longer than an attempt takes. */
const claim = 60_000
/** Attempts under way; of one account, a gateway takes at most half of the places that are left. */
const limits = { max: 400, maxOfAccount: 40 }

/** A gateway that has alerts. */
interface Watched {
  readonly gateway: Gateway
  readonly current: Versioned<BudgetAlertSet>
}

type TokenLevels = Awaited<ReturnType<typeof levelsOfTokens>>

export class AlertWatch {
  readonly #options: AlertWatchOptions
  readonly #clock: Clock
  readonly #attempts = new Attempts(limits)
  readonly #tokens: LimitedTokens
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> = Promise.resolve()
  #isFailing = false
  #isClosed = false

  constructor(options: AlertWatchOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#tokens = new LimitedTokens(options.store)
  }

  start(): void {
    this.#timer = setTimeout(() => {
      this.#looking = this.#look().then(() => {
        if (!this.#isClosed) this.start()
      })
    }, period).unref()
  }

  /** Resolves once no attempt is under way. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#looking
    this.#tokens.close()
    await this.#attempts.settled()
  }

  /** Looks at all budgets, and waits until what is due was sent. Never rejects. */
  async look(): Promise<void> {
    await this.#look()
    await this.#attempts.settled()
  }

  async #look(): Promise<void> {
    const { store, log } = this.#options
    try {
      const withTokens = new Set<string>()
      for (const { id } of await store.accounts.list()) if (await this.#lookAt(id)) withTokens.add(id)
      this.#tokens.retain(withTokens)
      if (this.#isFailing) log.info('budget alerts are sent again')
      this.#isFailing = false
    } catch (failure) {
      this.#fail(failure)
    }
  }

  /** Logs it once, until a look succeeds. */
  #fail(failure: unknown): void {
    const { log } = this.#options
    if (this.#isFailing) return
    this.#isFailing = true
    if (failure instanceof StoreUnreachable)
      log.warn({ reason: failure.reason }, `budget alerts not sent: ${failure.state}`)
    else log.error({ err: failure }, 'looking for budgets at a threshold failed')
  }

  /** Returns whether it has alerts about tokens. */
  async #lookAt(account: string): Promise<boolean> {
    const { store } = this.#options
    const tokens = memoizeOnce(() => this.#tokensOf(account))
    const earlier: Watched[] = []
    for await (const gateways of store.gateways.walk(account)) {
      if (this.#isClosed) break
      const sets = await mapInTurns(gateways, one =>
        store.budgetAlertSets.get(routeOwner(one), budgetAlertSetId),
      )
      const watched = gateways.flatMap((gateway, i) => {
        const current = sets[i]!
        return current === null || current.record.alerts.length === 0 ? [] : [{ gateway, current }]
      })
      // In this order, those of one token are told by the first of its gateways.
      for (const one of watched) {
        await this.#attend(one, earlier, one.gateway.authentication ? await tokens() : [])
        if (one.gateway.authentication) earlier.push(one)
      }
    }
    return earlier.length > 0
  }

  /** Reads what is spent of the tokens that have budgets. */
  async #tokensOf(account: string): Promise<TokenLevels> {
    return levelsOfTokens(await this.#tokens.of(account), account, this.#options.store, this.#clock.now())
  }

  async #attend(
    { gateway, current: { record, version } }: Watched,
    earlier: readonly Watched[],
    tokens: TokenLevels,
  ): Promise<void> {
    const { store } = this.#options
    const now = this.#clock.now()
    const own = await levelsOfGateway(gateway, store, now)
    const usable = tokens.filter(([token]) => mayUseGateway(token, gateway.id))
    const tokenOf = new Map(usable.map(([token, level]) => [level, token]))
    const levels = [...own, ...tokenOf.keys()]
    const isToldElsewhere = ({ level, alert, threshold }: Crossing) => {
      const token = tokenOf.get(level)
      return token !== undefined && earlier.some(one => isToldBy(one, token, alert.url, threshold))
    }
    const { account } = gateway
    const { alerts } = record
    const rest = remaining(record.deliveries, alerts, new Map(levels.map(one => [one.bucket, one])), now)
    const added = crossings(rest, alerts, levels)
      .filter(crossing => !isToldElsewhere(crossing))
      .map(one => deliveryOf(one, gateway, now))
    const all = [...rest, ...added]
    const waiting = inTurn(all.filter(({ nextAt }) => nextAt !== null && nextAt <= now))
    const due = waiting.slice(0, this.#attempts.take(account, waiting.length))
    const isChanged = added.length > 0 || due.length > 0 || rest.length < record.deliveries.length
    const deliveries = all.map(one => (due.includes(one) ? { ...one, nextAt: now + claim } : one))
    // If it is not replaced, another process has looked meanwhile.
    if (isChanged && (await store.budgetAlertSets.replace({ ...record, deliveries }, version)))
      for (const one of due) {
        const sent = this.#send(one, record, gateway).catch((failure: unknown) => this.#fail(failure))
        this.#attempts.begin(account, sent)
      }
    else this.#attempts.giveBack(account, due.length)
  }

  async #send(delivery: AlertDelivery, set: BudgetAlertSet, { account, id }: Gateway): Promise<void> {
    const { secrets, sender, log, metrics } = this.#options
    const now = this.#clock.now()
    const alert = set.alerts.find(alert => alert.id === delivery.alert)!
    const signing = secretsOf(secrets, set.account, alert, now)
    const failure =
      signing.length === 0
        ? 'its secret cannot be read'
        : await sender.send(alert.url, delivery, signing, now)
    metrics[failure === null ? 'delivered' : 'failed'].inc()
    const facts = { account, gateway: id, alert: alert.id, delivery: delivery.id }
    if (failure === null) log.info(facts, 'budget alert delivered')
    else log.warn({ ...facts, reason: failure, attempt: delivery.attempts + 1 }, 'budget alert not delivered')
    await this.#note(set.account, afterAttempt(delivery, failure, this.#clock.now()))
  }

  async #note(owner: string, attempted: AlertDelivery): Promise<void> {
    const { budgetAlertSets } = this.#options.store
    for (;;) {
      const current: Versioned<BudgetAlertSet> | null = await budgetAlertSets.get(owner, budgetAlertSetId)
      if (current === null) return
      const { record, version } = current
      const deliveries = record.deliveries.map(one => (one.id === attempted.id ? attempted : one))
      if (await budgetAlertSets.replace({ ...record, deliveries }, version)) return
    }
  }
}

/** Whether an alert of a gateway tells the same receiver of the budgets of a token. */
function isToldBy({ gateway, current }: Watched, token: Token, url: string, threshold: number): boolean {
  if (!mayUseGateway(token, gateway.id)) return false
  return current.record.alerts.some(alert => alert.url === url && alert.thresholds.includes(threshold))
}

function deliveryOf(
  { alert, level, threshold }: Crossing,
  { account, id }: Gateway,
  now: number,
): AlertDelivery {
  const data = { account_id: account, gateway_id: id, threshold, ...level.data() }
  return {
    id: `msg_${newId()}`,
    alert: alert.id,
    bucket: level.bucket,
    threshold,
    body: JSON.stringify({
      type: 'budget.threshold_reached',
      timestamp: new Date(now).toISOString(),
      data,
    }),
    createdAt: now,
    attempts: 0,
    nextAt: now,
    failure: null,
    until: level.until,
  }
}
