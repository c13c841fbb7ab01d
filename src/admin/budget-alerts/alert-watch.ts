// Sends webhooks once budgets reach a threshold. Each machine runs one, without a leader: the record of a
// gateway lists its deliveries, and a process claims one by writing it there before it sends.

import { newId } from '../../base/ids/id.ts'
import type { SecretKeys } from '../../base/secrets/secret-keys.ts'
import { mapInTurns } from '../../base/turns/map-in-turns.ts'
import { type Clock, systemClock } from '../../base/clock.ts'
import { rulesOfGateway } from '../../budgets/buckets.ts'
import type { Logger } from '../../log/log.ts'
import type { Counts } from '../../metrics/counters/counts.ts'
import {
  type AlertDelivery,
  type BudgetAlertSet,
  budgetAlertSetId,
} from '../../store/records/budget-alerts.ts'
import { routeOwner } from '../../store/records/model-route.ts'
import type { Gateway } from '../../store/records/records.ts'
import { type Store, StoreUnreachable, type Versioned } from '../../store/contract/store.ts'
import { afterAttempt, type Crossing, crossings, remaining } from './crossings.ts'
import { isAlerted, levelsOf } from './levels.ts'
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
/** Deliveries that one look attempts for a gateway. */
const maxAtOnce = 20

export class AlertWatch {
  readonly #options: AlertWatchOptions
  readonly #clock: Clock
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> = Promise.resolve()
  #isFailing = false
  #isClosed = false

  constructor(options: AlertWatchOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
  }

  start(): void {
    this.#timer = setTimeout(() => {
      this.#looking = this.look().then(() => {
        if (!this.#isClosed) this.start()
      })
    }, period).unref()
  }

  /** Resolves once no attempt is under way. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#looking
  }

  /** Looks at all budgets, and sends what is due. Never rejects. */
  async look(): Promise<void> {
    const { store, log } = this.#options
    try {
      for (const { id } of await store.accounts.list())
        for await (const gateways of store.gateways.walk(id)) {
          if (this.#isClosed) return
          await mapInTurns(gateways.filter(hasBudgets), gateway => this.#attend(gateway))
        }
      if (this.#isFailing) log.info('budget alerts are sent again')
      this.#isFailing = false
    } catch (failure) {
      if (this.#isFailing) return
      this.#isFailing = true
      if (failure instanceof StoreUnreachable)
        log.warn({ reason: failure.reason }, `budget alerts not sent: ${failure.state}`)
      else log.error({ err: failure }, 'looking for budgets at a threshold failed')
    }
  }

  async #attend(gateway: Gateway): Promise<void> {
    const { store } = this.#options
    const current = await store.budgetAlertSets.get(routeOwner(gateway), budgetAlertSetId)
    if (current === null || current.record.alerts.length === 0) return
    const now = this.#clock.now()
    const levels = await levelsOf(gateway, store, now)
    const { record } = current
    const { alerts } = record
    const rest = remaining(record.deliveries, alerts, new Map(levels.map(one => [one.bucket, one])), now)
    const added = crossings(rest, alerts, levels).map(one => deliveryOf(one, gateway, now))
    const all = [...rest, ...added]
    const due = all.filter(({ nextAt }) => nextAt !== null && nextAt <= now).slice(0, maxAtOnce)
    if (due.length === 0 && rest.length === record.deliveries.length) return
    const deliveries = all.map(one => (due.includes(one) ? { ...one, nextAt: now + claim } : one))
    // Another process has looked meanwhile.
    if (!(await store.budgetAlertSets.replace({ ...record, deliveries }, current.version))) return
    await Promise.all(due.map(one => this.#send(one, record, gateway)))
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

function hasBudgets(gateway: Gateway): boolean {
  return rulesOfGateway(gateway).some(isAlerted)
}

function deliveryOf(
  { alert, level, threshold }: Crossing,
  { account, id }: Gateway,
  now: number,
): AlertDelivery {
  const data = { account_id: account, gateway_id: id, threshold, ...level.data }
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
