// Reads a preview request: an error, the request that gets it, and a draft of a rule or page.

import type { RequestFacts } from '../../../expression/expression.ts'
import { country } from '../../../config/settings/access-settings.ts'
import type { ZoneConfig } from '../../../config/model/config.ts'
import {
  errorPageTypes,
  hasTooManyTokens,
  maxErrorPage,
  maxPageTokens,
} from '../../../config/model/custom-errors-config.ts'
import { exactHost } from '../../../config/shape/host-rules.ts'
import { headerName } from '../../../config/shape/rules.ts'
import type { PreviewAsk } from '../../../errors/custom/preview.ts'
import { errorNameOf, type Fault } from '../../../errors/catalogue/refusal.ts'
import { readErrorRule } from './rule-body.ts'
import { Field } from '../../http/field.ts'
import { fieldValueFault, ipAddress, readHeaderFields } from '../../http/header-fields.ts'
import type { Zones } from '../../facts/zone-facts.ts'

const longest = 8 * 1024

const request = ['method', 'path', 'headers', 'ip', 'country', 'asn'] as const

export function readPreview(body: unknown, zone: ZoneConfig, zones: Zones): PreviewAsk | readonly Fault[] {
  const faults: Fault[] = []
  const members = new Field(body, faults).members(['code'], ['accept', 'host', ...request, 'rule', 'page'])
  const headers = readHeaders(members.headers)
  const ask: PreviewAsk = {
    code: readCode(members.code),
    accept: members.accept.ruled(fieldValueFault) ?? headers.get('accept')?.join(', ') ?? null,
    host: members.host.by(exactHost) ?? usualHost(zone),
    zone: zone.name,
    facts: { headers, ...readFacts(members) },
    ...(members.rule.value !== undefined && { rule: readDraft(members.rule, zones) }),
    ...(members.page.value !== undefined && { page: readPage(members.page) }),
  }
  return faults.length > 0 ? faults : ask
}

function readCode(field: Field): number {
  const code = field.integer(100, 9999)
  if (code !== null && errorNameOf(String(code)) === null)
    field.refuse('must be an error code: /errors lists them')
  return code ?? 0
}

function usualHost({ hosts, name }: ZoneConfig): string {
  return hosts[0]?.replace('*', 'www') ?? name
}

function readFacts(members: Readonly<Record<(typeof request)[number], Field>>): Partial<RequestFacts> {
  const method = members.method.ruled(methodFault)
  const target = members.path.ruled(targetFault)
  const [path, ...query] = target?.split('?') ?? []
  const ip = members.ip.by(ipAddress)
  const from = members.country.by(country)
  const asn = members.asn.integer(0, 2 ** 32 - 1)
  return {
    ...(method !== null && { method }),
    ...(path !== undefined && { path, query: query.join('?') }),
    ...(ip !== null && { ip }),
    ...(from !== null && { country: from }),
    ...(asn !== null && { asn }),
  }
}

function readHeaders(field: Field): ReadonlyMap<string, readonly string[]> {
  const byName = Map.groupBy(readHeaderFields(field), ([name]) => name.toLowerCase())
  return new Map([...byName].map(([name, some]) => [name, some.map(([, value]) => value)]))
}

function readDraft(field: Field, zones: Zones) {
  const { rule, id, position } = readErrorRule(field, zones)
  for (const member of [id, position])
    if (member.value !== undefined) member.refuse('is not allowed here: the draft comes before all rules')
  return rule
}

function readPage(field: Field): NonNullable<PreviewAsk['page']> {
  const { type, html } = field.members(['type', 'html'])
  return { type: type.oneOf(errorPageTypes) ?? '500_errors', html: html.ruled(htmlFault) ?? '' }
}

/** Finds fault with anything but a token; the name of a header is one, too (RFC 9110 section 9.1). */
function methodFault(text: string): string | null {
  return text.length <= 32 && 'value' in headerName(text) ? null : 'must be an HTTP method'
}

function targetFault(text: string): string | null {
  return text.length <= longest && /^\/[!-~]*$/.test(text) && !text.includes('#')
    ? null
    : `must begin with / and contain at most ${longest} visible ASCII characters, without #`
}

function htmlFault(text: string): string | null {
  if (!text.isWellFormed()) return 'must not contain lone surrogates'
  if (hasTooManyTokens(text)) return `must have at most ${maxPageTokens} tokens`
  return text.trim() !== '' && Buffer.byteLength(text) <= maxErrorPage
    ? null
    : `must not be blank and must have at most ${maxErrorPage} bytes in UTF-8`
}
