// `gatehouse policy` but for `simulate`: the draft of an AI gateway, and what is in effect.

import { isId } from '../../../base/ids/id.ts'
import { visible } from '../../../base/text/visible.ts'
import { columns } from '../../terminal/format.ts'
import { complain, printResult, tell, tellDone } from '../../terminal/output.ts'
import { type ApiClient, ApiRefusal } from '../api/api-client.ts'
import { withApi } from '../api/session.ts'
import { gatewayIdFlaw, gateways } from '../ai-gateway/gateways.ts'
import { bodyIn } from '../client/changes.ts'
import type { Input } from '../input.ts'

export function list(input: Input): Promise<number> {
  return withPolicies(input, async (api, path) => {
    const state = input.committed ? 'committed' : 'draft'
    const policies = await api.all<ShownPolicy>(path, { state })
    const draft = input.committed ? null : await draftOf(api, path)
    if (draft !== null) tell(draftInWords(draft))
    return printResult(input, policies, columns([head, ...policies.map(cells)]))
  })
}

export async function add(input: Input): Promise<number> {
  if (input.file === undefined) return complain('name a file with the policies: --file PATH')
  const body = bodyIn(input.file, {})
  if ('flaw' in body) return complain(body.flaw)
  const policies: readonly unknown[] = [body.value].flat()
  return withPolicies(input, async (api, path) => {
    const added: ShownPolicy[] = []
    for (const policy of policies) {
      const { result } = await api.ask<ShownPolicy>('POST', path, { body: policy, once: true })
      tell(`Added ${visible(result.name)} (${result.id}) to the draft.`)
      added.push(result)
    }
    return tellDone(input, Array.isArray(body.value) ? added : added[0], commitNext)
  })
}

const commitNext = 'It is in effect once you run gatehouse policy commit.'

export async function remove(input: Input): Promise<number> {
  const [id = ''] = input.args
  if (!isId(id)) return complain('a policy id has 32 hexadecimal digits; gatehouse policy list shows them')
  return withPolicies(input, async (api, path) => {
    const { result } = await api.ask<ShownPolicy>('DELETE', `${path}/${id}`)
    return tellDone(input, result, `Removed ${visible(result.name)} from the draft. ${commitNext}`)
  })
}

export function commit(input: Input): Promise<number> {
  return withPolicies(input, async (api, path, gateway) => {
    const { result } = await api.ask<ShownCommit>('POST', `${path}/commit`, { once: true })
    return tellDone(input, result, commitInWords(result, gateway))
  })
}

export async function rollBack(input: Input): Promise<number> {
  const [to = ''] = input.args
  if (!isId(to)) return complain('a commit id has 32 hexadecimal digits; gatehouse policy history shows them')
  return withPolicies(input, async (api, path, gateway) => {
    const { result } = await api.ask<ShownCommit>('POST', `${path}/rollback`, { body: { to }, once: true })
    return tellDone(input, result, commitInWords(result, gateway))
  })
}

export function discard(input: Input): Promise<number> {
  return withPolicies(input, async (api, path) => {
    const { result } = await api.ask('DELETE', `${path}/draft`)
    return tellDone(input, result, 'Discarded the draft.')
  })
}

export function history(input: Input): Promise<number> {
  return withPolicies(input, async (api, path) => {
    const commits = await api.all<ShownCommit>(`${path}/commits`)
    const rows = commits.map(({ id, created_at, active, policies }) => [
      ...[id, created_at, `${policies.length}`, active ? 'in effect' : '-'],
    ])
    return printResult(input, commits, columns([['COMMIT ID', 'COMMITTED', 'POLICIES', 'STATE'], ...rows]))
  })
}

/** Connects to the policies of the gateway that the options name. */
export async function withPolicies(
  input: Input,
  use: (api: ApiClient, path: string, gateway: string) => Promise<number>,
): Promise<number> {
  const { gateway = 'default' } = input
  const flaw = gatewayIdFlaw(gateway)
  if (flaw !== null) return complain(flaw)
  return withApi(input, api => use(api, `${gateways}/${gateway}/policies`, gateway))
}

interface ShownPolicy {
  readonly id: string
  readonly name: string
  readonly actor: string
  readonly resource: '*' | Readonly<Record<string, string | readonly string[]>>
  readonly condition: string | null
  readonly action: {
    readonly type: string
    readonly except?: boolean
    readonly amount?: number
    readonly period?: string
    readonly time_zone?: string | null
  }
}

interface ShownCommit {
  readonly id: string
  readonly created_at: string
  readonly active: boolean
  readonly policies: readonly ShownPolicy[]
}

interface ShownDraft {
  readonly outdated: boolean
  readonly added: readonly string[]
  readonly changed: readonly string[]
  readonly removed: readonly string[]
}

/** Returns null if there is none. */
async function draftOf(api: ApiClient, path: string): Promise<ShownDraft | null> {
  try {
    return (await api.ask<ShownDraft>('GET', `${path}/draft`)).result
  } catch (cause) {
    if (!(cause instanceof ApiRefusal) || cause.status !== 404) throw cause
    return null
  }
}

function draftInWords({ outdated, added, changed, removed }: ShownDraft): string {
  if (outdated)
    return 'This draft began before what is in effect: run gatehouse policy discard, and make its changes again.'
  const counts = `${added.length} added, ${changed.length} changed, ${removed.length} removed`
  return `This is a draft: ${counts}. ${commitNext}`
}

function commitInWords({ id, policies }: ShownCommit, gateway: string): string {
  const count = policies.length
  const what =
    count === 0
      ? 'No policies are in effect any more: none of them refuses calls'
      : `${count} ${count === 1 ? 'policy is' : 'policies are'} in effect: calls that none allows are refused`
  return `${what}. The gateway is ${gateway}, the commit ${id}.`
}

const head = ['POLICY ID', 'NAME', 'ACTOR', 'RESOURCE', 'CONDITION', 'ACTION']

function cells({ id, name, actor, resource, condition, action }: ShownPolicy): string[] {
  return [id, name, actor, resourceInWords(resource), condition ?? '-', actionInWords(action)]
}

function resourceInWords(resource: ShownPolicy['resource']): string {
  if (resource === '*') return resource
  return Object.entries(resource)
    .map(([kind, patterns]) => `${kind} ${[patterns].flat().join(', ')}`)
    .join('; ')
}

function actionInWords({ type, except, amount, period, time_zone: zone }: ShownPolicy['action']): string {
  if (type !== 'limit') return except ? `${type} all else` : type
  return `$${amount} ${period}${zone == null || zone === 'UTC' ? '' : ` (${zone})`}`
}
