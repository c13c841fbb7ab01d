// The verbs of `gatehouse token`, on the store itself: operators may have no other access.

import { Field } from '../../../admin/http/field.ts'
import { readSpendLimits } from '../../../admin/spend-limits/body.ts'
import { gatewayPattern, maxPatterns, modelPattern } from '../../../admin/tokens/body.ts'
import { viewToken } from '../../../admin/tokens/view.ts'
import { viewSpendLimits } from '../../../admin/spend-limits/view.ts'
import { isId } from '../../../base/ids/id.ts'
import type { Fault } from '../../../errors/catalogue/refusal.ts'
import { nearest } from '../../../base/text/nearest.ts'
import { visible } from '../../../base/text/visible.ts'
import { permissionGroups } from '../../../permissions/permission-groups.ts'
import type { Store, Versioned } from '../../../store/contract/store.ts'
import { tokenResource } from '../../../store/records/audit-entry.ts'
import type { SpendLimits } from '../../../store/records/budget-rule.ts'
import type { Token } from '../../../store/records/records.ts'
import { newToken } from '../../../tokens/new-token.ts'
import { TokenTags } from '../../../tokens/token-tags.ts'
import { columns } from '../../terminal/format.ts'
import { complain, refuse, tell, printResult, tellDone } from '../../terminal/output.ts'
import { agrees, type Deed, obstacleToAsking } from '../api/confirm.ts'
import type { Input } from '../input.ts'
import { inWords, rulesOf, type WireRule, withRules } from '../spending.ts'
import { auditHere, withAccount } from '../store/configured-store.ts'

/** Writes only the value to stdout, so that a script can capture it. */
export async function create(input: Input): Promise<number> {
  const { name = 'command line', permission: wanted = ['AI Gateway Run'] } = input
  const { 'only-gateway': gateways, 'only-model': models } = input
  const groups = permissionGroups.filter(({ name }) => wanted.includes(name))
  const unknown = wanted.find(name => !groups.some(group => group.name === name))
  if (unknown !== undefined) return complain(unknownPermission(unknown))
  const flaw = flawOf('only-gateway', gateways, gatewayPattern) ?? flawOf('only-model', models, modelPattern)
  if (flaw !== null) return complain(flaw)
  const spendLimits = spendLimitsOf(input)
  if (typeof spendLimits === 'string') return complain(spendLimits)
  return withAccount(input, async (store, account) => {
    const permissions = groups.map(({ id }) => id)
    const policy = { effect: 'allow', permissionGroups: permissions, accounts: [account] } as const
    const now = Date.now()
    const minted = await new TokenTags(store).mint('svct_')
    const limits = {
      ...(gateways && { gateways }),
      ...(models && { models }),
      ...(spendLimits && { spendLimits }),
    }
    const { token, value } = newToken(account, { name, policies: [policy], ...limits }, now, minted)
    const names = Object.keys(limits).map(name => (name === 'spendLimits' ? 'spend_limits' : name))
    const set = ['name', 'policies', ...names]
    const audit = auditHere(account, 'create', tokenResource(token), set, now)
    if (!(await store.tokens.insert(token, { audit }))) throw new Error('two random token ids are the same')
    tell(`Account ${account}, token ${token.id}. Its value is shown only once:`)
    return printResult(input, { ...viewToken(token, now), value }, `${value}\n`)
  })
}

function spendLimitsOf(input: Input): SpendLimits | string | null {
  const rules = rulesOf(input)
  if (rules === null || typeof rules === 'string') return rules
  return rules.length === 0 ? null : limitsBy(rules)
}

function limitsBy(rules: readonly WireRule[], enabled = true): SpendLimits | string | null {
  const faults: Fault[] = []
  const { spend_limits } = new Field({ spend_limits: { enabled, rules } }, faults).members(['spend_limits'])
  const limits = readSpendLimits(spend_limits, 'token')
  return faults[0]?.message ?? limits
}

function flawOf(option: string, patterns: readonly string[] = [], form: RegExp): string | null {
  const wrong = patterns.find(pattern => !form.test(pattern))
  if (wrong !== undefined)
    return `--${option} '${visible(wrong)}' must be a name, in which * stands for any text`
  return patterns.length > maxPatterns ? `--${option} may be given ${maxPatterns} times` : null
}

function unknownPermission(name: string): string {
  const names = permissionGroups.map(group => group.name)
  const meant = nearest(name, names)
  const hint = meant === null ? `known: ${names.join(', ')}` : `did you mean '${meant}'?`
  return `unknown permission '${name}'; ${hint}`
}

export function list(input: Input): Promise<number> {
  return withAccount(input, async ({ tokens }, account) => {
    const now = Date.now()
    const shown: ShownToken[] = []
    for await (const some of tokens.walk(account)) shown.push(...(await viewsOf(tokens, account, some, now)))
    return printResult(input, shown, columns([head, ...shown.map(cells)]))
  })
}

type ShownToken = ReturnType<typeof viewToken>

async function viewsOf(
  tokens: Store['tokens'],
  account: string,
  some: readonly Token[],
  now: number,
): Promise<readonly ShownToken[]> {
  const uses = await tokens.lastUses(
    account,
    some.map(({ id }) => id),
  )
  return some.map(token => viewToken(token, now, uses.get(token.id)))
}

const head = ['TOKEN ID', 'STATUS', 'CREATED', 'LAST USED', 'EXPIRES', 'PERMISSIONS', 'NAME']

function cells(token: ShownToken): string[] {
  const { id, status, issued_on, last_used_on, expires_on, name, person } = token
  const whose = person === undefined ? name : `${name} (of ${person.email})`
  return [id, status, day(issued_on), day(last_used_on), day(expires_on), permissionsOf(token), whose]
}

function day(moment: string | undefined): string {
  return moment?.slice(0, 10) ?? '-'
}

const maxNamed = 2

function permissionsOf({ policies }: ShownToken): string {
  const allowed = policies.filter(({ effect }) => effect === 'allow')
  const names = [
    ...new Set(allowed.flatMap(policy => policy.permission_groups.map(({ name }) => name ?? '?'))),
  ]
  const rest = names.length - maxNamed
  return rest <= 1 ? names.join(', ') : `${names.slice(0, maxNamed).join(', ')} and ${rest} more`
}

const revocation = {
  consequence: 'everything that uses a token fails once it is revoked',
  question: 'Everything that uses this token will fail. Type its id to revoke it: ',
  refrained: 'Nothing was revoked.',
} as const

export function revoke(input: Input): Promise<number> {
  return withToken(input, revocation, async ({ tokens }, { record: token }) => {
    const { account, id, name } = token
    const audit = auditHere(account, 'delete', tokenResource(token))
    if (!(await tokens.remove(account, id, { audit }))) return refuse(`the token ${id} has just been deleted`)
    return tellDone(input, { id }, `Revoked the token ${id} (${visible(name)}).`)
  })
}

const replacement = {
  consequence: 'what uses the old value of a token fails once it is rolled',
  question: 'Everything that uses the old value will fail. Type the id of the token to roll it: ',
  refrained: 'Nothing was changed.',
} as const

/** Writes only the new value to stdout. */
export function roll(input: Input): Promise<number> {
  return withToken(input, replacement, async (store, { record: token, version }) => {
    const { account, id, name, person } = token
    if (person !== undefined)
      return refuse(
        `the token ${id} belongs to ${visible(person.email)}, who alone may have its value; gatehouse token revoke ends it`,
      )
    const now = Date.now()
    const { value, digest } = await new TokenTags(store).mint('svct_')
    const audit = auditHere(account, 'roll', tokenResource(token), ['value'], now)
    const rolled = { ...token, digest, modifiedOn: now }
    if (!(await store.tokens.replace(rolled, version, { audit }))) return refuse(outdated(id))
    tell(`Rolled the token ${id} (${visible(name)}). Its new value is shown only once:`)
    return printResult(input, { ...viewToken(rolled, now), value }, `${value}\n`)
  })
}

/** Changes what the options name of its limits; a rule with the same window keeps what was spent. */
export async function set(input: Input): Promise<number> {
  const rules = rulesOf(input)
  if (typeof rules === 'string') return complain(rules)
  if (rules === null) return complain('name a limit to change, such as --spend 0.20/day, or --spend off')
  return atToken(input, async (store, { record: token, version }) => {
    const { spendLimits: before, ...rest } = token
    const wire = withRules(before ? viewSpendLimits(before) : null, rules, input)
    const spendLimits = wire === null ? null : limitsBy(wire.rules, wire.enabled)
    if (typeof spendLimits === 'string') return complain(spendLimits)
    const now = Date.now()
    const changed = { ...rest, ...(spendLimits && { spendLimits }), modifiedOn: now }
    const audit = auditHere(token.account, 'update', tokenResource(token), ['spend_limits'], now)
    if (!(await store.tokens.replace(changed, version, { audit }))) return refuse(outdated(token.id))
    const words = wire === null ? 'no limits' : inWords(wire)
    return printResult(input, viewToken(changed, now), `${visible(token.name)}: ${words}\n`)
  })
}

function outdated(id: string): string {
  return `the token ${id} has just been changed by somebody else: run the same command again`
}

function withToken(
  input: Input,
  deed: Deed,
  use: (store: Store, record: Versioned<Token>) => Promise<number>,
): Promise<number> {
  const obstacle = obstacleToAsking(input, deed)
  const consented: typeof use = async (store, token) =>
    (await agrees(input, deed, token.record.id)) ? use(store, token) : 1
  return atToken(input, consented, obstacle)
}

async function atToken(
  input: Input,
  use: (store: Store, record: Versioned<Token>) => Promise<number>,
  obstacle: string | null = null,
): Promise<number> {
  const [id = ''] = input.args
  if (!isId(id))
    return complain(
      'a token is named by its id of 32 hexadecimal digits, not by its value; gatehouse token list shows them',
    )
  if (obstacle !== null) return complain(obstacle)
  return withAccount(input, async (store, account) => {
    const record = await store.tokens.get(account, id)
    if (record === null) return refuse(`the account has no token ${id}; gatehouse token list shows them`)
    return use(store, record)
  })
}
