// `gatehouse alert`: the webhooks of an AI gateway that are told how much of budgets is spent.

import { isId } from '../../../base/ids/id.ts'
import { visible } from '../../../base/text/visible.ts'
import { columns } from '../../terminal/format.ts'
import { complain, printResult, refuse, tell, tellDone } from '../../terminal/output.ts'
import { gatewayIdFlaw, gateways } from '../ai-gateway/gateways.ts'
import type { ApiClient } from '../api/api-client.ts'
import { withApi } from '../api/session.ts'
import type { Input } from '../input.ts'

export function list(input: Input): Promise<number> {
  return withAlerts(input, async (api, path) => {
    const { result } = await api.ask<readonly ShownAlert[]>('GET', path)
    return printResult(input, result, columns([head, ...result.map(cells)]))
  })
}

/** Writes only the secret to stdout, so that a script can capture it. */
export async function add(input: Input): Promise<number> {
  const [url] = input.args
  const thresholds = thresholdsOf(input) ?? usualThresholds
  if (typeof thresholds === 'string') return complain(thresholds)
  return withAlerts(input, async (api, path) => {
    const body = { url, thresholds }
    const { result } = await api.ask<NewSecret>('POST', path, { body, once: true })
    tell(`Added the alert ${result.id}. Its secret is shown only once.`)
    return printResult(input, result, `${visible(result.secret)}\n`)
  })
}

export async function set(input: Input): Promise<number> {
  const thresholds = thresholdsOf(input)
  if (typeof thresholds === 'string') return complain(thresholds)
  const url = input['alert-url']
  if (url === undefined && thresholds === null)
    return complain('name what to change: --alert-url URL or --thresholds PERCENT,…')
  return withAlert(input, async (api, path, id) => {
    const { result: all } = await api.ask<readonly ShownAlert[]>('GET', path)
    const before = all.find(alert => alert.id === id)
    if (before === undefined) return refuse(`there is no alert ${id}; gatehouse alert list shows them`)
    const body = { url: url ?? before.url, thresholds: thresholds ?? before.thresholds }
    const { result } = await api.ask<ShownAlert>('PUT', `${path}/${id}`, { body })
    return tellDone(input, result, `${visible(result.url)} is told at ${inWords(result.thresholds)}.`)
  })
}

export function remove(input: Input): Promise<number> {
  return withAlert(input, async (api, path, id) => {
    const { result } = await api.ask('DELETE', `${path}/${id}`)
    return tellDone(input, result, `Removed the alert ${id}.`)
  })
}

export function test(input: Input): Promise<number> {
  return withAlert(input, async (api, path, id) => {
    const { result } = await api.ask<Tested>('POST', `${path}/${id}/test`, { once: true })
    const { delivered, failure } = result
    const outcome = delivered ? 'The webhook accepted the message.' : `The webhook was not told: ${failure}.`
    tellDone(input, result, visible(outcome))
    return delivered ? 0 : 1
  })
}

export function rotate(input: Input): Promise<number> {
  return withAlert(input, async (api, path, id) => {
    const { result } = await api.ask<NewSecret>('POST', `${path}/${id}/rotate_secret`, { once: true })
    tell('The new secret is shown only once. Messages are signed with the old one too for another day.')
    return printResult(input, result, `${visible(result.secret)}\n`)
  })
}

interface ShownAlert {
  readonly id: string
  readonly url: string
  readonly thresholds: readonly number[]
  readonly deliveries: readonly {
    readonly created_at: string
    readonly next_attempt_at: string | null
    readonly failure: string | null
  }[]
}

interface NewSecret extends ShownAlert {
  readonly secret: string
}

interface Tested {
  readonly delivered: boolean
  readonly failure: string | null
}

const head = ['ALERT ID', 'URL', 'AT', 'LATEST DELIVERY']

function cells({ id, url, thresholds, deliveries: [latest] }: ShownAlert): string[] {
  return [id, url, inWords(thresholds), latest === undefined ? '-' : outcomeOf(latest)]
}

function outcomeOf({ created_at, failure, next_attempt_at: next }: ShownAlert['deliveries'][number]): string {
  const state = next !== null ? 'under way' : failure === null ? 'delivered' : 'given up'
  return `${created_at} ${state}${failure === null ? '' : `: ${failure}`}`
}

function inWords(thresholds: readonly number[]): string {
  return thresholds.map(percent => `${percent}%`).join(', ')
}

const usualThresholds = [50, 80, 95]

/** Null if the option is missing; a text says what is wrong. */
function thresholdsOf({ thresholds }: Input): readonly number[] | string | null {
  if (thresholds === undefined) return null
  const values = thresholds.split(',').map(text => text.trim())
  const isRight = values.every(text => /^[1-9]\d{0,2}$/.test(text) && Number(text) <= 100)
  if (!isRight) return '--thresholds must be whole numbers from 1 to 100, such as 50,80,95'
  return values.map(Number)
}

function withAlert(
  input: Input,
  use: (api: ApiClient, path: string, id: string) => Promise<number>,
): Promise<number> {
  const [id = ''] = input.args
  if (!isId(id))
    return Promise.resolve(complain('an alert id has 32 hexadecimal digits; gatehouse alert list shows them'))
  return withAlerts(input, (api, path) => use(api, path, id))
}

/** Connects to the alerts of the gateway that the options name. */
async function withAlerts(
  input: Input,
  use: (api: ApiClient, path: string) => Promise<number>,
): Promise<number> {
  const { gateway = 'default' } = input
  const flaw = gatewayIdFlaw(gateway)
  if (flaw !== null) return complain(flaw)
  return withApi(input, api => use(api, `${gateways}/${gateway}/budget_alerts`))
}
