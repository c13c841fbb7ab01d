// Which access rule decided, and what it compared.

import { managedRuleIdOf } from '../../config/model/rule-id.ts'
import type { AccessDecision } from '../../access/policy.ts'
import type { RuleInput } from '../../access/rules/access-request.ts'
import { AddressTable } from '../../net/address/address-table.ts'
import { clientKey } from '../../net/address/client-key.ts'
import { HostNames } from '../../net/address/host-names.ts'
import { leads, withoutQuery } from '../../base/path/path.ts'
import { Glob } from '../../base/text/glob.ts'
import type { AccessRule } from '../../config/model/access-config.ts'
import type { Refusal } from '../../errors/catalogue/refusal.ts'
import type { Compared, DecidingRule } from '../../zones/explanation.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { secondsOf } from '../snapshot/limit-fields.ts'
import type { Reason } from './rehearsed.ts'
import { redacted, redactedPath } from './redact.ts'

/** Describes the last decision of the access rules. */
export function accessReason(
  x: Exchange,
  decisions: readonly AccessDecision[],
  refusal: Refusal | null,
): Reason {
  const decision = decisions.at(-1)
  if (decision === undefined)
    return {
      reason:
        refusal === null
          ? 'No rule matches.'
          : 'Rules look at the path, and it can be read in too many ways.',
    }
  const rule = ruleOf(decision)
  const reason = `${sentenceOf(x, decision)}.`
  return { reason, rule, compared: decision.by === 'ban' ? [bannedAddress(x)] : comparisonsOf(x, decision) }
}

function sentenceOf(x: Exchange, { by, rule, number, zone, isMatch, verdict, left }: AccessDecision): string {
  const scope = zone === null ? 'of all zones' : `of ${zone}`
  switch (by) {
    case 'ban':
      return `${clientKey(x.clientAddress)} is banned by the rules ${scope} for ${secondsOf(left)} s more`
    case 'work':
      return `The rules ${scope} take too much work`
    case 'default':
      return `No rule matches, and the default ${scope} denies`
    case 'rule': {
      const name = `rule ${number ?? managedRuleIdOf(rule!)} ${scope}`
      if (!isMatch) return `The access ${name} cannot be evaluated`
      return verdict === 'allow' ? `Allowed by access ${name}` : `Denied by access ${name}`
    }
  }
}

function ruleOf({ by, rule, number, zone }: AccessDecision): DecidingRule {
  const kind = { ban: 'ban', work: 'access_work', default: 'access_default', rule: 'access_rule' } as const
  const id = rule === null ? null : managedRuleIdOf(rule)
  return {
    kind: kind[by],
    name: null,
    id,
    number,
    zone,
    set_by: id === null ? 'file' : 'api',
    line: rule?.line ?? null,
    description: rule?.description ?? null,
  }
}

function bannedAddress(x: Exchange): Compared {
  return { what: 'address', value: x.clientAddress, with: clientKey(x.clientAddress) }
}

function comparisonsOf(x: Exchange, { rule, visit: input }: AccessDecision): readonly Compared[] {
  return rule === null || input === null ? [] : comparisonsIn(x, rule, input)
}

function comparisonsIn(x: Exchange, { condition }: AccessRule, input: RuleInput): readonly Compared[] {
  const address = x.clientAddress
  switch (condition.kind) {
    case 'ip': {
      const holds = (network: string) => AddressTable.of([network]).find(input.address!) !== 'nothing'
      return [{ what: 'address', value: address, with: condition.networks.find(holds) ?? null }]
    }
    case 'list':
      return [{ what: 'address', value: address, with: `list ${condition.name}` }]
    case 'country':
      return [{ what: `country of ${address}`, value: input.country, with: condition.countries.join(', ') }]
    case 'asn':
      return [
        { what: `network of ${address}`, value: textOf(input.network), with: condition.numbers.join(', ') },
      ]
    case 'user_agent': {
      const fits = (pattern: string) => new Glob(pattern).matches(input.userAgent)
      return [
        { what: 'User-Agent', value: redacted(input.userAgent), with: condition.patterns.find(fits) ?? null },
      ]
    }
    case 'referer':
    case 'referer_not': {
      const names = (host: string) => new HostNames([host]).has(input.refererHost)
      const match = condition.kind === 'referer' ? condition.hosts.find(names) : undefined
      return [
        {
          what: 'host of Referer',
          value: redacted(input.refererHost),
          with: match ?? condition.hosts.join(', '),
        },
      ]
    }
    case 'path':
      return (input.request.paths ?? []).map(path => ({
        what: 'path',
        value: redactedPath(withoutQuery(path)),
        with: condition.prefixes.find(prefix => leads(prefix, path)) ?? null,
      }))
    case 'expression':
      return [{ what: 'expression', value: null, with: condition.text }]
  }
}

function textOf(number: number | null): string | null {
  return number === null ? null : String(number)
}
