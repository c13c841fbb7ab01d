// The settings of a route's changes to requests and responses.

import type { Reading } from '../../base/text/quantity.ts'
import { fieldId, isSettable } from '../../http1/fields/fields.ts'
import { type ExpressionSettings, expression } from '../shape/expression-shape.ts'
import type { Findings } from '../file/mistake.ts'
import { refuseRepeats } from '../shape/name-checks.ts'
import type { HeaderRewrite, RewriteConfig } from '../model/rewrite-config.ts'
import { type RuleData, textOf } from './rule-data.ts'
import { rewriteWork, type WorkSum } from '../shape/rule-cost.ts'
import { accept, headerName } from '../shape/rules.ts'
import {
  dictionary,
  formed,
  mapping,
  optional,
  type Placed,
  placed,
  type Rule,
  type Value,
  wordOr,
} from '../shape/shape.ts'

// Headers that end at this hop, frame the message, or describe the path it took.
const own = [
  'connection',
  'content-length',
  'keep-alive',
  'proxy-',
  'svc-hop',
  'svc-ray',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'via',
]
const ownOfRequests = [...own, 'cdn-loop', 'expect', 'forwarded', 'host', 'proxy', 'x-forwarded-']

/** Accepts a header that is not reserved; an entry that ends in a hyphen reserves a prefix. */
function unreserved(reserved: readonly string[], kind: 'request' | 'response'): Rule<string> {
  return formed(read, headerName.form!)

  function read(text: string): Reading<string> {
    const reading = headerName(text)
    if ('flaw' in reading) return reading
    const asRead = text.toLowerCase().replaceAll('_', '-')
    const isReserved = reserved.some(name => (name.endsWith('-') ? asRead.startsWith(name) : asRead === name))
    return accept(
      isReserved || !isSettable(fieldId(text), kind) ? undefined : text,
      'is a header that the gateway sets itself',
    )
  }
}

/** Accepts a request header that the operator may set. */
export const settableHeader = unreserved(ownOfRequests, 'request')

const headerValue = placed(wordOr('remove', expression('request', 'string')))

export const rewrite = mapping({
  path: optional(placed(expression('request', 'string')), null),
  request_headers: optional(dictionary(settableHeader, headerValue), new Map<string, never>()),
  response_headers: optional(dictionary(unreserved(own, 'response'), headerValue), new Map<string, never>()),
})

/** Returns the changes of a route; null for none. */
export function resolveRewrite(
  settings: Value<typeof rewrite>,
  data: RuleData,
  findings: Findings,
  work: WorkSum,
): RewriteConfig | null {
  for (const setting of [
    settings.path,
    ...settings.request_headers.values(),
    ...settings.response_headers.values(),
  ])
    if (setting !== null) work.add(rewriteWork + (setting.value?.work ?? 0), setting)
  const path = settings.path && textOf(settings.path, data, findings)
  const requestHeaders = resolveHeaders(settings.request_headers, data, findings)
  const responseHeaders = resolveHeaders(settings.response_headers, data, findings)
  const isEmpty = path === null && requestHeaders.length + responseHeaders.length === 0
  return isEmpty ? null : { path, requestHeaders, responseHeaders }
}

type Headers = ReadonlyMap<string, Placed<ExpressionSettings | null> | null>

function resolveHeaders(headers: Headers, data: RuleData, findings: Findings): HeaderRewrite[] {
  const read = [...headers].flatMap(([name, setting]) => (setting === null ? [] : { name, setting }))
  const names = read.map(({ name, setting }) => ({ ...setting, value: name.toLowerCase() }))
  refuseRepeats(names, 'a header can be rewritten only once, whatever its case', findings)
  return read.map(({ name, setting: { value, ...place } }) => ({
    name,
    value: value && textOf({ ...place, value }, data, findings),
  }))
}
