// Calls of Claude at a cloud, where the path names the model, and the body the version of the API.

import { membersOf } from '../parsing/json-members.ts'
import type { Provider } from './providers.ts'

interface CloudCall {
  readonly provider: Provider
  readonly model: string
  readonly path: string
  readonly body: Buffer
}

/** Keeps every other member as it is; returns a call elsewhere unchanged. */
export function atCloud<Call extends CloudCall>(call: Call): Call {
  const { provider, model, path, body } = call
  const { claude } = provider
  if (claude === null || provider.dialect !== 'anthropic') return call
  const members = membersOf(body)
  const stream = members.findLast(({ name }) => name === 'stream')
  const isStream = stream !== undefined && body.toString('latin1', stream.start, stream.end) === 'true'
  const method = claude.methods[isStream ? 1 : 0]
  const remaining = members
    .filter(({ name }) => !claude.leavesOut.includes(name))
    .flatMap(({ nameStart, end }) => [comma, body.subarray(nameStart, end)])
  const version = Buffer.from(`{"anthropic_version":${JSON.stringify(claude.version)}`)
  return {
    ...call,
    path: path.replace('{model}', segment(model)).replace('{method}', method),
    body: Buffer.concat([version, ...remaining, closing]),
  }
}

const comma = Buffer.from(',')
const closing = Buffer.from('}')

/** The clouds' own SDKs write an @ as it is. */
function segment(model: string): string {
  return encodeURIComponent(model).replaceAll('%40', '@')
}
