// Calls of Claude at a cloud, where the path names the model, and the body the version of the API.

import { withoutOws } from '../../base/text/ows.ts'
import { membersOf } from '../../base/json/members.ts'
import type { Provider } from './providers.ts'

interface CloudCall {
  readonly provider: Provider
  readonly model: string
  readonly path: string
  readonly body: Buffer
  readonly dropped: readonly string[]
}

/** Keeps every other member as it is; returns a call elsewhere unchanged. Reads the fields of its request. */
export function atCloud<Call extends CloudCall>(call: Call, fields: readonly string[]): Call {
  const { provider, model, path, body, dropped } = call
  const { claude } = provider
  if (claude === null || provider.dialect !== 'anthropic') return call
  const members = membersOf(body)
  const stream = members.findLast(({ name }) => name === 'stream')
  const isStream = stream !== undefined && body.toString('latin1', stream.start, stream.end) === 'true'
  const method = claude.methods[isStream ? 1 : 0]
  const remaining = members
    .filter(({ name }) => !claude.leavesOut.includes(name))
    .flatMap(({ nameStart, end }) => [comma, body.subarray(nameStart, end)])
  const betas = claude.betas === null ? [] : betasIn(fields)
  const claudeBetas = betas.filter(beta => claude.betas!.includes(beta))
  const isGiven = claudeBetas.length === 0 || members.some(({ name }) => name === 'anthropic_beta')
  const added = { anthropic_version: claude.version, ...(!isGiven && { anthropic_beta: claudeBetas }) }
  return {
    ...call,
    path: path.replace('{model}', segment(model)).replace('{method}', method),
    body: Buffer.concat([Buffer.from(JSON.stringify(added).slice(0, -1)), ...remaining, closing]),
    dropped: claudeBetas.length === betas.length ? dropped : [...dropped, 'anthropic-beta'],
  }
}

const comma = Buffer.from(',')
const closing = Buffer.from('}')

/** The clouds' own SDKs write an @ as it is. */
function segment(model: string): string {
  return encodeURIComponent(model).replaceAll('%40', '@')
}

function betasIn(fields: readonly string[]): readonly string[] {
  return fields.flatMap((name, i) =>
    i % 2 === 0 && name.toLowerCase() === 'anthropic-beta' ? fields[i + 1]!.split(',').map(withoutOws) : [],
  )
}
