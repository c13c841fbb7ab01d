// The models that a request names besides its own: routers among the providers take further ones that they
// may call, and so do some tools.

import { isObject } from '../../base/text/json.ts'
import type { Member, Span } from '../../base/json/members.ts'
import { folded } from '../../base/json/member-names.ts'
import { RequestScan, textOnly, type TopName } from './request-scan.ts'

/** Null for one that has no name. */
export type OtherModels = readonly (string | null)[]

/** One that cannot be known if the body is no JSON object. Its members spare most bodies the search. */
export function otherModelsIn(body: Buffer, members: readonly Member[] | null = null): OtherModels {
  if (members !== null && !members.some(({ name }) => mayName.has(folded(name)))) return none
  const scan = new RequestScan(body, textOnly)
  return scan.read() ? otherModelsOf(scan) : unknown
}

/** Lists those of all duplicates of a member, in any case: it depends on the reader which of them counts. */
export function otherModelsOf(scan: RequestScan): OtherModels {
  let others: (string | null)[] | null = null
  for (const { name, start, end } of scan.members)
    if (ofOtherModels.has(name)) (others ??= []).push(...modelsIn(scan.json, { start, end }, name))
  for (const span of scan.modelsOfTools) (others ??= []).push(...modelsIn(scan.json, span, 'models'))
  return others ?? none
}

/** Lists those that a request names as its own: with more than one, it depends on the reader which counts. */
export function modelsNamed({ json, members }: RequestScan): OtherModels {
  return members.flatMap(({ name, start, end }) =>
    name === 'model' ? modelsIn(json, { start, end }, name) : [],
  )
}

function modelsIn(json: Buffer, { start, end }: Span, name: TopName): OtherModels {
  try {
    const value: unknown = JSON.parse(json.toString('utf8', start, end))
    const models = name === 'providerOptions' ? modelsOfOptions(value) : value
    return models == null ? none : [models].flat().map(nameOf)
  } catch {
    return unknown
  }
}

function modelsOfOptions(options: unknown): unknown {
  const gateway = isObject(options) ? options.gateway : null
  return isObject(gateway) ? gateway.models : null
}

function nameOf(value: unknown): string | null {
  const model = isObject(value) ? value.model : value
  return typeof model === 'string' ? model : null
}

const ofOtherModels: ReadonlySet<TopName> = new Set([
  'models',
  'fallbacks',
  'fallback_models',
  'providerOptions',
])
const mayName: ReadonlySet<string> = new Set([...ofOtherModels, 'tools'].map(folded))
const none: OtherModels = []
const unknown: OtherModels = [null]
