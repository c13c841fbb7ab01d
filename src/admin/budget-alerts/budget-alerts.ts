// Handlers of the budget alerts of a gateway: where they are sent, from which thresholds on, and with which
// secret.

import { newId } from '../../base/ids/id.ts'
import { auditOf } from '../../store/records/audit-entry.ts'
import {
  type AlertDelivery,
  type BudgetAlert,
  type BudgetAlertSet,
  budgetAlertSetId,
} from '../../store/records/budget-alerts.ts'
import { routeOwner } from '../../store/records/model-route.ts'
import type { Gateway } from '../../store/records/records.ts'
import type { Store } from '../../store/contract/store.ts'
import type { Api, Call } from '../api/api-types.ts'
import { findGateway, noGateway } from '../gateways/gateways.ts'
import { type ApiResponse, failure, failures, success } from '../http/envelope.ts'
import { add, isoTime, put, type Revised } from '../records/record-handlers.ts'
import { readBudgetAlert } from './body.ts'
import { newSecret, overlap, secretsOf } from './secrets.ts'

const maxAlerts = 5
/** Deliveries that are shown of each alert. */
export const maxShown = 20

export async function listBudgetAlerts({ account, params, now }: Call, { store }: Api): Promise<ApiResponse> {
  const gateway = await findGateway(store, account, params.gateway_id!)
  if (gateway === null) return noGateway
  const set = await setOf(gateway, store, now)
  return success(set.alerts.map(alert => view(alert, set, now)))
}

/** Responds with the secret, which is not shown again. */
export async function createBudgetAlert(call: Call, api: Api): Promise<ApiResponse> {
  const read = readBudgetAlert(call.body)
  if (!('url' in read)) return failures(read)
  const id = newId()
  return withSecret(call, api, id, (set, stored) => {
    if (set.alerts.length >= maxAlerts) return failure('too_many_budget_alerts', maxAlerts)
    return [...set.alerts, { id, ...read, secrets: [stored], createdAt: call.now }]
  })
}

/** Replaces the URL and the thresholds; a threshold that was reported is not reported again. */
export async function updateBudgetAlert(call: Call, api: Api): Promise<ApiResponse> {
  const read = readBudgetAlert(call.body)
  if (!('url' in read)) return failures(read)
  const id = call.params.alert_id!
  const revised = await revise(call, api, set => changed(set, id, alert => ({ ...alert, ...read })))
  return 'record' in revised ? success(viewOf(id, revised.record, call.now)) : revised
}

export async function deleteBudgetAlert(call: Call, api: Api): Promise<ApiResponse> {
  const id = call.params.alert_id!
  const revised = await revise(call, api, set => {
    const alerts = set.alerts.filter(alert => alert.id !== id)
    return alerts.length === set.alerts.length ? noAlert : alerts
  })
  return 'record' in revised ? success({ id }) : revised
}

/** The secret before signs for another day, beside the new one. */
export async function rotateBudgetAlertSecret(call: Call, api: Api): Promise<ApiResponse> {
  const id = call.params.alert_id!
  const change = (set: BudgetAlertSet, stored: BudgetAlert['secrets'][number]) =>
    changed(set, id, alert => {
      const before = { ...alert.secrets[0]!, endsAt: call.now + overlap }
      return { ...alert, secrets: [stored, before] }
    })
  return withSecret(call, api, id, change, 'budget_alerts.secret')
}

/** Sends a message that is about no budget, once, and says what became of it. */
export async function testBudgetAlert(call: Call, { store, secrets, webhooks }: Api): Promise<ApiResponse> {
  const { account, params, now } = call
  const gateway = await findGateway(store, account, params.gateway_id!)
  if (gateway === null) return noGateway
  const set = await setOf(gateway, store, now)
  const alert = set.alerts.find(({ id }) => id === params.alert_id)
  if (alert === undefined) return noAlert
  const signing = secretsOf(secrets, set.account, alert, now)
  const message = {
    id: `msg_${newId()}`,
    body: JSON.stringify({
      type: 'budget.test',
      timestamp: isoTime(now),
      data: { account_id: account, gateway_id: gateway.id },
    }),
  }
  const reason =
    signing.length === 0 ? 'its secret cannot be read' : await webhooks.send(alert.url, message, signing, now)
  return success({ delivered: reason === null, failure: reason })
}

async function setOf(gateway: Gateway, { budgetAlertSets }: Store, now: number): Promise<BudgetAlertSet> {
  const current = await budgetAlertSets.get(routeOwner(gateway), budgetAlertSetId)
  return current?.record ?? newSet(gateway, now)
}

function newSet(gateway: Gateway, now: number): BudgetAlertSet {
  const account = routeOwner(gateway)
  return { account, id: budgetAlertSetId, alerts: [], deliveries: [], createdAt: now }
}

/** As audit entries have it. */
const alertsMember = 'budget_alerts'

const noAlert = failure('no_such', 'Budget alert')

type Alerts = readonly BudgetAlert[] | ApiResponse

function changed(set: BudgetAlertSet, id: string, change: (alert: BudgetAlert) => BudgetAlert): Alerts {
  if (!set.alerts.some(alert => alert.id === id)) return noAlert
  return set.alerts.map(alert => (alert.id === id ? change(alert) : alert))
}

/** Responds with an alert and its new secret. */
async function withSecret(
  call: Call,
  api: Api,
  id: string,
  change: (set: BudgetAlertSet, stored: BudgetAlert['secrets'][number]) => Alerts,
  member = alertsMember,
): Promise<ApiResponse> {
  const owner = routeOwner({ account: call.account, id: call.params.gateway_id! })
  const { secret, stored } = newSecret(api.secrets, owner, id)
  const revised = await revise(call, api, set => change(set, stored), member)
  return 'record' in revised ? success({ ...viewOf(id, revised.record, call.now), secret }) : revised
}

/** Calls `change` again whenever another write came between. */
async function revise(
  call: Call,
  { store, log }: Api,
  change: (set: BudgetAlertSet) => Alerts,
  member = alertsMember,
): Promise<Revised<BudgetAlertSet>> {
  for (;;) {
    const gateway = await findGateway(store, call.account, call.params.gateway_id!)
    if (gateway === null) return noGateway
    const current = await store.budgetAlertSets.get(routeOwner(gateway), budgetAlertSetId)
    const set = current?.record ?? newSet(gateway, call.now)
    const alerts = change(set)
    if ('body' in alerts) return alerts
    const resource = { resourceKind: 'gateway', resource: gateway.id } as const
    const audit = auditOf(call, 'update', resource, [member])
    const record = { ...set, alerts }
    const isWritten = current
      ? await put(store.budgetAlertSets, record, current.version, { audit }, log)
      : await add(store.budgetAlertSets, record, { audit }, log)
    if (isWritten) return { record, audit }
  }
}

function viewOf(id: string, set: BudgetAlertSet, now: number) {
  return view(set.alerts.find(alert => alert.id === id)!, set, now)
}

function view({ id, url, thresholds, secrets, createdAt }: BudgetAlert, set: BudgetAlertSet, now: number) {
  const endsAt = secrets.at(-1)!.endsAt
  const deliveries = set.deliveries.filter(({ alert }) => alert === id)
  return {
    id,
    url,
    thresholds,
    created_at: isoTime(createdAt),
    rotated_secret_until: endsAt === null || endsAt <= now ? null : isoTime(endsAt),
    deliveries: deliveries.slice(-maxShown).toReversed().map(viewDelivery),
  }
}

function viewDelivery({ id, threshold, createdAt, attempts, nextAt, failure }: AlertDelivery) {
  return {
    id,
    threshold,
    created_at: isoTime(createdAt),
    attempts,
    next_attempt_at: nextAt === null ? null : isoTime(nextAt),
    failure,
  }
}
